"""A session as lines of JSON from which its hash chain can be checked anywhere."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from ferrule.store.chain import Flaw
from ferrule.store.private import state_folder
from ferrule.store.sessions import Sessions
from ferrule.types.errors import StoreError, UsageError

from .stored import ExportedRecord, Stored, checked


class Exported(NamedTuple):
    """`problem` says why `data` ends before the journal does, empty where it is whole."""

    session: str
    data: bytes
    records: int
    problem: str


def export_records(environ: Mapping[str, str], written: str) -> Exported:
    """A session by its id or a prefix, one record a line, up to the first that is damaged. Raises UsageError, StoreError."""
    sessions = Sessions(state_folder(environ))
    id = sessions.find(written)
    lines: list[bytes] = []
    problem = ""
    try:
        for row in checked(Stored(id, sessions.reader(id).rows(), id)):
            if isinstance(row, Flaw):
                problem = f"record {row.seq} of session {id} was changed or damaged: {row.why}"
                break
            texts = (field.decode() for field in (row.branch, row.kind, row.payload, row.hash))
            branch, kind, payload, hash = texts
            lines.append(msgspec.json.encode(ExportedRecord(id, row.seq, branch, row.time, kind, payload, hash)) + b"\n")
    except (StoreError, UnicodeDecodeError) as error:
        if not lines:
            raise StoreError(f"Session {id} cannot be read: {error}") from error
        problem = str(error)
    return Exported(id, b"".join(lines), len(lines), problem)


def write_export(path: str, data: bytes) -> None:
    """Raises UsageError where it cannot be written."""
    from pathlib import Path

    from ferrule.task.receipts.file import write_private

    target = Path(path).expanduser()
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
        else:
            write_private(target.resolve(), data)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
