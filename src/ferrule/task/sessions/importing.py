"""An exported session taken into the store again, as far as its hash chain holds, whatever happened to the file meanwhile.

The chain decides what is a record: lines that are torn, doubled or filled with NUL bytes do no harm as long as a record that
follows from those before stands somewhere after them. What was left out is said; the file itself stays as it is.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from ferrule.store.chain import Chain, Row, read_entry
from ferrule.store.ids import SHAPE
from ferrule.store.private import state_folder
from ferrule.store.sessions import Sessions
from ferrule.types.errors import UsageError
from ferrule.types.records import SessionOpened

from .stored import ExportedRecord

BEGIN = b'{"session":'
LARGEST = 2**63


class Trouble(Struct, frozen=True):
    """What is wrong with a line of the file, counted from 1."""

    line: int
    why: str


class Imported(Struct, frozen=True):
    """`left_out` counts lines that hold a record, or did before they were damaged, and of which nothing was taken in."""

    session: str
    records: int
    left_out: int
    troubles: tuple[Trouble, ...]


async def import_export(environ: Mapping[str, str], path: Path) -> Imported:
    """Make the session that a file written by `sessions export --format jsonl` holds, under the id that it had.

    Raises UsageError for a file that holds no beginning of a session and for a session that is there already, StoreError.
    """
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    found = gather(lines)
    if not found.rows:
        why = f": line {found.troubles[0].line}: {found.troubles[0].why}" if found.troubles else ": it is empty"
        raise UsageError(f"{path} holds no beginning of a session (ferrule sessions export ID --format jsonl writes one){why}")
    first, *_ = [read_entry(row) for row in found.rows]
    if not isinstance(first, SessionOpened):
        raise UsageError(f"{path} does not begin with the opening of a session")
    await Sessions(state_folder(environ)).restore(found.session, found.rows)
    return Imported(found.session, len(found.rows), found.left_out, tuple(found.troubles))


def gather(lines: Iterable[bytes]) -> "Gathered":
    """The records that follow from each other, in the order of the file."""
    found = Gathered()
    for number, line in enumerate(lines, 1):
        found.take(number, line)
    found.end()
    return found


class Gathered:
    """What was read so far."""

    def __init__(self) -> None:
        self.session = ""
        self.rows: list[Row] = []
        self.troubles: list[Trouble] = []
        self.left_out = 0
        self._chain: Chain | None = None
        self._stored: set[bytes] = set()
        self._torn = 0
        self._astray: list[tuple[int, str]] = []

    def take(self, number: int, line: bytes) -> None:
        whole = line.replace(b"\0", b"")
        if nul := len(line) - len(whole):
            self.troubles.append(Trouble(number, f"{nul} NUL bytes in it were ignored"))
        if not whole.strip():
            return
        record, why = recovered(whole)
        if why:
            self.troubles.append(Trouble(number, why))
        if record is None:
            self._torn += 1
        else:
            self._place(number, record)

    def _place(self, number: int, record: ExportedRecord) -> None:
        if self._chain is None:
            if not SHAPE.fullmatch(record.session):
                self.troubles.append(Trouble(number, f"{record.session!r} is no id of a session"))
                return
            self.session, self._chain = record.session, Chain(record.session)
        row = row_of(record)
        if row.hash in self._stored:
            self.troubles.append(Trouble(number, f"it repeats record {row.seq}, and was ignored"))
        elif record.session != self.session:
            self._astray.append((number, f"it belongs to session {record.session}"))
        elif not -LARGEST <= row.time < LARGEST:
            self._astray.append((number, f"record {row.seq} has an impossible time"))
        elif flaw := self._chain.check(row):
            self._astray.append((number, f"record {row.seq} does not follow from those before: {flaw.why}"))
        else:
            self.rows.append(row)
            self._stored.add(row.hash)
            # What was torn before it was written again, or no record at all: none is missing.
            self._torn = 0

    def end(self) -> None:
        self.left_out = self._torn + len(self._astray)
        if self._astray:
            number, why = self._astray[0]
            more = (
                f"; it and {len(self._astray) - 1} more from here on were left out" if self._astray[1:] else "; it was left out"
            )
            self.troubles.append(Trouble(number, why + more))
        self.troubles.sort(key=lambda trouble: trouble.line)


def recovered(line: bytes) -> tuple[ExportedRecord | None, str]:
    """The record in a line, and what is wrong with the line. One that was written after a torn one stands behind it."""
    record, why = _decoded(line)
    if record is not None:
        return record, ""
    start = line.rfind(BEGIN, 1)
    behind = _decoded(line[start:])[0] if start > 0 else None
    if behind is not None:
        return behind, "it begins with a torn record, which was ignored"
    cut = "" if line.endswith(b"\n") else " and it is cut"
    return None, f"it is no record{cut}: {why}"


def _decoded(line: bytes) -> tuple[ExportedRecord | None, str]:
    try:
        return msgspec.json.decode(line, type=ExportedRecord), ""
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return None, str(error)


def row_of(record: ExportedRecord) -> Row:
    texts = (record.branch, record.kind, record.payload, record.hash)
    branch, kind, payload, hash = (text.encode() for text in texts)
    return Row(record.seq, branch, kind, record.time, payload, hash)
