"""SQLite connections as the store uses them, and what SQLite's errors mean for a person."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ferrule.types.errors import StoreError

if TYPE_CHECKING:
    import sqlite3

JournalMode = Literal["wal", "delete", "memory"]
BUSY_SECONDS = 2.0


class Code:
    """SQLite's primary result codes that mean something of their own here."""

    ERROR = 1
    NO_PERMISSION = 3
    BUSY = 5
    LOCKED = 6
    READ_ONLY = 8
    DISK_FAILED = 10
    CORRUPT = 11
    FULL = 13
    CANNOT_OPEN = 14
    PROTOCOL = 15
    CONSTRAINT = 19
    NOT_A_DATABASE = 26


def connect(path: Path | None, mode: Literal["ro", "rw"] = "rw") -> "sqlite3.Connection":
    """A connection without implicit transactions to a file that exists; None is a database in memory.

    Raises sqlite3.Error. The file is opened at the first statement.
    """
    import sqlite3

    name = ":memory:" if path is None else f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(name, uri=path is not None, timeout=BUSY_SECONDS, isolation_level=None)
    connection.execute("PRAGMA cell_size_check=ON")
    return connection


def connect_new(path: Path | None) -> tuple["sqlite3.Connection", JournalMode]:
    """A connection to an empty file whose commits survive a power loss, and by which means. Raises sqlite3.Error.

    A write-ahead log needs shared memory, which SQLite first touches after it has marked the file: whether it works shows only
    then, and the file starts again from nothing where it does not.
    """
    import sqlite3

    connection = connect(path)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        connection.close()
        if path is None or primary_code(error) not in {Code.CANNOT_OPEN, Code.DISK_FAILED, Code.READ_ONLY, Code.PROTOCOL}:
            raise
        os.truncate(path, 0)
        path.with_name(path.name + "-wal").unlink(missing_ok=True)
        connection = connect(path)
    return connection, synchronous(connection)


def synchronous(connection: "sqlite3.Connection") -> JournalMode:
    """Make each commit wait for the disk, and tell how the file's transactions are kept."""
    connection.execute("PRAGMA synchronous=FULL")
    if sys.platform == "darwin":
        # There fsync alone leaves the data in the drive's cache.
        connection.execute("PRAGMA fullfsync=ON")
        connection.execute("PRAGMA checkpoint_fullfsync=ON")
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    return "wal" if mode == "wal" else "memory" if mode == "memory" else "delete"


def primary_code(error: "sqlite3.Error") -> int:
    """SQLite's primary result code; 0 where Python itself raised the error."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def failure(error: "sqlite3.Error", path: Path | None) -> StoreError:
    """What happened, as a sentence for the person."""
    where = str(path) if path else "The journal in memory"
    match primary_code(error):
        case Code.CORRUPT | Code.NOT_A_DATABASE:
            return StoreError(
                f"{where} is damaged ({error}). Nothing was deleted; restore it from a backup or save what is left."
            )
        case Code.BUSY | Code.LOCKED:
            return StoreError(f"{where} is in use by another process and did not become free within {BUSY_SECONDS:g} s.")
        case Code.FULL:
            return StoreError(f"The disk is full; nothing more can be stored in {where}.")
        case Code.READ_ONLY | Code.NO_PERMISSION:
            return StoreError(f"{where} cannot be written: the file or its folder is read-only.")
        case Code.CANNOT_OPEN:
            return StoreError(f"{where} cannot be opened: {_reason(path)}.")
        case Code.DISK_FAILED:
            return StoreError(f"The disk failed while {where} was read or written ({error}).")
        case _:
            return StoreError(f"{where} cannot be used: {error}.")


def _reason(path: Path | None) -> str:
    if path is None or not path.exists():
        return "there is no such file"
    if not os.access(path, os.R_OK):
        return "it may not be read"
    return "its folder may not be written" if not os.access(path.parent, os.W_OK) else "SQLite refuses it"
