"""A session's records as they are stored, from the personal store or from an exported file, not yet checked."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from ferrule.store.chain import Chain, Flaw, Row
from ferrule.store.private import state_folder
from ferrule.store.sessions import Sessions
from ferrule.types.errors import UsageError


class ExportedRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of an export. `time` is Unix microseconds; `payload` is the text that was hashed; `hash` is hex.

    `hash` is sha256 over the hash before it in the same branch (64 zeros at first), `session`, `branch`, `seq`, `kind`, `time`
    and `payload`, each spelled as its length in bytes, a colon and its UTF-8 bytes, numbers in decimal digits.
    """

    session: str
    seq: int
    branch: str
    time: int
    kind: str
    payload: str
    hash: str


class Stored(NamedTuple):
    """`rows` yields a flaw where something is not even a row, and ends there. `where` is for the person."""

    session: str
    rows: Iterator[Row | Flaw]
    where: str


def checked(stored: Stored) -> Iterator[Row | Flaw]:
    """The rows as long as each fits the chain, then the flaw, if there is one."""
    chain = Chain(stored.session)
    for row in stored.rows:
        flaw = row if isinstance(row, Flaw) else chain.check(row)
        if flaw is not None:
            yield flaw
            return
        yield row


def of_store(environ: Mapping[str, str], id: str) -> Stored | None:
    """The session with exactly this id, None where the store has none. Raises StoreError for a file that cannot be read."""
    sessions = Sessions(state_folder(environ))
    try:
        if not id or sessions.find(id) != id:
            return None
    except UsageError:
        return None
    return Stored(id, sessions.reader(id).rows(), f"session {id}")


def of_export(path: Path) -> Stored:
    """Raises UsageError for what is no export at all."""
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    first = _line(lines[0], 1) if lines else Flaw(1, "it is empty")
    if isinstance(first, Flaw):
        raise UsageError(f"{path} is no export of a session (ferrule sessions export ID --format jsonl): {first.why}")
    return Stored(first.session, _rows(lines, first.session), str(path))


def _rows(lines: list[bytes], session: str) -> Iterator[Row | Flaw]:
    for number, line in enumerate(lines, 1):
        read = _line(line, number)
        if isinstance(read, Flaw):
            yield read
            return
        if read.session != session:
            yield Flaw(read.seq, f"line {number} belongs to session {read.session}")
            return
        yield Row(read.seq, read.branch.encode(), read.kind.encode(), read.time, read.payload.encode(), read.hash.encode())


def _line(line: bytes, number: int) -> ExportedRecord | Flaw:
    try:
        read = msgspec.json.decode(line, type=ExportedRecord)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        cut = "" if line.endswith(b"\n") else " and it is cut"
        return Flaw(number, f"line {number} is no record{cut}: {error}")
    return read if line.endswith(b"\n") else Flaw(number, f"line {number} is cut")
