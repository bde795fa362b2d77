"""The receipt of one run as a file: its fields, reading it strictly, and writing it in one step, readable by its owner alone."""

import os
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ferrule.types.errors import UsageError
from ferrule.types.records import Receipt, Record

from .regular import read_regular

VERSION = 1
"""Version of the file's layout; every change of a field, also a new one, raises it."""

MOST = 64 << 20


class ReceiptFile(Struct, frozen=True):
    """A receipt and its place in the journal. In the file the fields of `receipt` stand beside the others, without its type.

    `seq`, `time` (Unix seconds) and `hash` are of the receipt's record. `session_id` is None where the journal was not kept.
    """

    schema_version: int
    session_id: str | None
    task_id: str
    folder: str
    seq: int
    time: float
    hash: str
    receipt: Receipt


def receipt_file(record: Record, session_id: str | None, task_id: str, folder: str) -> ReceiptFile:
    """Of the record that ends a run. `folder` is spelled as in `names`."""
    assert isinstance(record.entry, Receipt)
    return ReceiptFile(VERSION, session_id, task_id, folder, record.seq, record.time, record.hash, record.entry)


def flat(file: ReceiptFile) -> dict[str, Any]:
    """The fields as they stand in the file."""
    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(file))
    receipt = fields.pop("receipt")
    del receipt["type"]
    return {**fields, **receipt}


def encode(file: ReceiptFile) -> bytes:
    return msgspec.json.format(msgspec.json.encode(flat(file)), indent=2) + b"\n"


def decode(data: bytes, where: str) -> ReceiptFile:
    """Raises UsageError for what is no receipt of this version, with one field too many or too few included."""
    try:
        fields = msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{where} is no receipt: {error}.") from error
    if fields.get("schema_version") != VERSION or isinstance(fields["schema_version"], bool):
        said = fields.get("schema_version")
        raise UsageError(f"{where} is no receipt that this Ferrule reads: schema_version is {said!r}, not {VERSION}.")
    own = ReceiptFile.__struct_fields__[:-1]
    place = {name: value for name, value in fields.items() if name in own}
    rest = {name: value for name, value in fields.items() if name not in own}
    try:
        file = msgspec.convert({**place, "receipt": {**rest, "type": "receipt"}}, ReceiptFile)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where} is no receipt of version {VERSION}: {error}.") from error
    if flat(file) != fields:
        raise UsageError(f"{where} is no receipt of version {VERSION}: it has fields that no receipt has, or lacks some.")
    return file


def read_receipt(path: Path) -> ReceiptFile:
    """Raises UsageError where there is none."""
    try:
        return decode(read_regular(path, MOST), str(path))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


class ReceiptTarget:
    """Where a run's receipt goes. `path` has its links resolved."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self) -> None:
        """The run begins: the receipt of another run must not be taken for this one's. Raises UsageError."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(f"--receipt {self.path}: the file that is there cannot be replaced: {error.strerror}") from error

    def write(self, file: ReceiptFile) -> str:
        """Put the whole file there, durably, or nothing; returns why that was impossible, empty where it was done."""
        try:
            write_private(self.path, encode(file))
        except OSError as error:
            return f"The receipt could not be written to {self.path}: {error.strerror}."
        return ""


def reserve(written: Path) -> ReceiptTarget:
    """A place that a receipt can be written to, tried out now. Raises UsageError; a file that is no receipt is not replaced."""
    import tempfile

    try:
        path = written.expanduser().resolve()
        if path.exists() and (found := read_regular(path, MOST)):
            decode(found, "the file")
        descriptor, probe = tempfile.mkstemp(prefix=f".{path.name[:64]}.", suffix=".tmp", dir=path.parent)
        os.close(descriptor)
        Path(probe).unlink()
    except UsageError as error:
        raise UsageError(f"--receipt {written}: a file that is no receipt is there and is not replaced") from error
    except (OSError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else "its links lead in a circle"
        raise UsageError(f"--receipt {written}: no file can be written there: {why}") from error
    return ReceiptTarget(path)


def write_private(path: Path, data: bytes) -> None:
    """Write a file in one step with mode 0600. Raises OSError; then the old file, if any, is as it was."""
    import tempfile

    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name[:64]}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
