"""Whether a receipt, the journal and the files still agree, field by field (design section 8)."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ferrule.task.sessions.stored import Stored, of_export, of_store
from ferrule.types.errors import StoreError
from ferrule.types.names import spell, unspell
from ferrule.types.tools import FileChange

from .file import VERSION, ReceiptFile, flat
from .refold import BY_AN_ACT, Refolded, refold
from .regular import digest

State = Literal["ok", "differs", "not verifiable"]

RECORDED = frozenset({"outcome", "limits", "environment", "sandbox"})
"""What the journal says only in the receipt's own record; everything else is computed again, and so is the outcome of an act."""

EXIT_CODES: dict[State, int] = {"ok": 0, "differs": 1, "not verifiable": 8}
"""8 as for the outcome `unverified`."""


class Difference(Struct, frozen=True):
    """`at` is a path such as `gates[0].exit_code`; `said` by the receipt; `found` in the journal, None where it has nothing."""

    at: str
    said: Any
    found: Any


class Checked(Struct, frozen=True):
    """One field of the receipt, or the chain. `recomputed` is False for what only the receipt's own record tells."""

    name: str
    state: State
    differences: tuple[Difference, ...] = ()
    why: str = ""
    recomputed: bool = True


class CheckedFile(Struct, frozen=True):
    """One file that the run changed, as it is now. `said` and `found` are sha256, None where there was or is no file."""

    path: str
    state: State
    said: str | None
    found: str | None
    why: str = ""


class Verification(Struct, frozen=True):
    """`journal` says what was compared with, None where there is none. `state` is the worst of all parts."""

    schema_version: int
    state: State
    exit_code: int
    journal: str | None
    chain: Checked
    fields: tuple[Checked, ...]
    files: tuple[CheckedFile, ...]


def verify_receipt(file: ReceiptFile, environ: Mapping[str, str], export: Path | None) -> Verification:
    """Against an export, or the session in the person's store. Raises UsageError for an export that is none."""
    session = file.task_id.partition("/")[0] if file.session_id is None else file.session_id
    try:
        stored = of_export(export) if export is not None else of_store(environ, session)
        if stored is None:
            kept = "the run kept no journal" if file.session_id is None else f"there is no session {session} here"
            return _without(file, f"{kept}, and no export of it was named")
        refolded = refold(stored, file.seq, file.hash)
    except StoreError as error:
        return _compared(file, f"session {session}", Checked("chain", "differs", why=str(error)), (), None)
    chain = _chain(refolded)
    return _compared(file, stored.where, chain, _fields(file, stored, refolded), refolded)


def _without(file: ReceiptFile, why: str) -> Verification:
    fields = _unverifiable(file, "")
    files = _files(file.folder, file.receipt.changes)
    state: State = "not verifiable"
    chain = Checked("chain", state, why=why)
    return Verification(VERSION, state, EXIT_CODES[state], None, chain, fields, files)


def _compared(
    file: ReceiptFile, where: str, chain: Checked, fields: tuple[Checked, ...], refolded: Refolded | None
) -> Verification:
    fields = fields or _unverifiable(file, "the journal cannot be relied on")
    again = refolded.again if refolded is not None else None
    folder = refolded.folder if refolded is not None and again is not None else file.folder
    files = _files(folder, file.receipt.changes if again is None else again.receipt.changes)
    states = [chain.state, *(field.state for field in fields), *(each.state for each in files)]
    state = max(states, key=("ok", "not verifiable", "differs").index)
    return Verification(VERSION, state, EXIT_CODES[state], where, chain, fields, files)


def _chain(refolded: Refolded) -> Checked:
    if refolded.flaw is not None:
        seq, why = refolded.flaw
        return Checked("chain", "differs", why=f"record {seq} was changed, removed or damaged: {why}")
    if refolded.unreadable:
        return Checked("chain", "not verifiable", why=refolded.unreadable)
    if refolded.again is None:
        return Checked("chain", "differs", why=f"it has {refolded.last} records, and the receipt's is not among them")
    return Checked("chain", "ok", why=f"{refolded.last} records hashed again")


def _fields(file: ReceiptFile, stored: Stored, refolded: Refolded) -> tuple[Checked, ...]:
    again = refolded.again
    if again is None:
        return ()
    record = again.record
    task_id = f"{stored.session}/{record.branch}"
    found = ReceiptFile(VERSION, stored.session, task_id, refolded.folder, record.seq, record.time, record.hash, again.receipt)
    said, true = flat(file), flat(found)
    recorded = RECORDED - ({"outcome"} if again.receipt.outcome in BY_AN_ACT else set())
    fields = []
    for name in said:
        differences = tuple(_differences(name, said[name], true[name]))
        doubt = again.doubt if name == "outcome" else ""
        state: State = "differs" if differences or doubt else "ok"
        fields.append(Checked(name, state, differences, doubt, name not in recorded))
    return tuple(fields)


def _differences(at: str, said: Any, true: Any) -> Iterator[Difference]:
    """Down to the smallest parts that differ."""
    match said, true:
        case dict(), dict():
            for name in dict.fromkeys([*said, *true]):
                yield from _differences(f"{at}.{name}", said.get(name), true.get(name))
        case [*ours], [*theirs]:
            for place in range(max(len(ours), len(theirs))):
                one = ours[place] if place < len(ours) else None
                other = theirs[place] if place < len(theirs) else None
                yield from _differences(f"{at}[{place}]", one, other)
        case _ if type(said) is not type(true) or said != true:
            yield Difference(at, said, true)


def _unverifiable(file: ReceiptFile, why: str) -> tuple[Checked, ...]:
    return tuple(Checked(name, "not verifiable", why=why, recomputed=name not in RECORDED) for name in flat(file))


def _files(folder: str, changes: tuple[FileChange, ...]) -> tuple[CheckedFile, ...]:
    root = unspell(folder)
    return tuple(_file(root, change) for change in changes)


def _file(root: bytes, change: FileChange) -> CheckedFile:
    path = root + b"/" + name if not (name := unspell(change.path)).startswith(b"/") else name
    if not name.startswith(b"/") and not Path(os.fsdecode(root)).is_dir():
        return CheckedFile(change.path, "not verifiable", change.after, None, f"the folder {spell(root)} is not here")
    try:
        found = digest(path)
    except (OSError, ValueError) as error:
        why = str(error.strerror) if isinstance(error, OSError) else "this is no file name"
        return CheckedFile(change.path, "not verifiable", change.after, None, why)
    return CheckedFile(change.path, "ok" if found == change.after else "differs", change.after, found)


def as_json(verification: Verification) -> bytes:
    return msgspec.json.encode(verification) + b"\n"
