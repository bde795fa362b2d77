"""The journal of a session on SQLite. One process writes it, under a lease whose epoch every append checks."""

import os
import time
from collections.abc import AsyncIterator, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ferrule import __version__
from ferrule.types.errors import LeaseHeld, LeaseLost, StoreError
from ferrule.types.records import Entry, Record, SessionOpened

from .chain import Chain, Flaw, Row
from .database import Code, JournalMode, connect, connect_new, failure, primary_code, synchronous
from .ids import new_id
from .lease import FileLease
from .private import open_file
from .protocol import MAIN
from .reading import APPLICATION, FORMAT, chain_at, check_header, fetch, records, verify

if TYPE_CHECKING:
    import sqlite3

SCHEMA = (
    "CREATE TABLE lease (session TEXT NOT NULL, epoch INTEGER NOT NULL, pid INTEGER NOT NULL)",
    """CREATE TABLE records (
        seq INTEGER PRIMARY KEY, branch TEXT NOT NULL, kind TEXT NOT NULL, time INTEGER NOT NULL,
        payload BLOB NOT NULL, hash TEXT NOT NULL
    )""",
    f"PRAGMA application_id={APPLICATION}",
    f"PRAGMA user_version={FORMAT}",
)

APPEND = """
    INSERT INTO records (seq, branch, kind, time, payload, hash)
    SELECT ?, CAST(? AS TEXT), CAST(? AS TEXT), ?, ?, CAST(? AS TEXT) WHERE (SELECT epoch FROM lease) = ?
"""


class SqliteJournal:
    """One session, open for writing. See `protocol.Journal`.

    `mode` says how commits become durable: `wal`, `delete` (a rollback journal, where WAL is refused) or `memory` (not at all).
    `locked` is False where the file system has no locks, so that only the epoch keeps a second writer out.
    """

    def __init__(
        self,
        connection: "sqlite3.Connection",
        path: Path | None,
        mode: JournalMode,
        lease: FileLease | None,
        epoch: int,
        chain: Chain,
    ) -> None:
        self.path = path
        self.mode = mode
        self.locked = lease is not None and lease.locked
        self._connection = connection
        self._lease = lease
        self._epoch = epoch
        self._chain = chain
        self._file = path.stat() if path else None
        self._refusal: StoreError | None = None
        self._fetch = partial(fetch, connection, path)

    @property
    def session(self) -> str:
        return self._chain.session

    async def append(self, *entries: Entry, branch: str = MAIN) -> tuple[Record, ...]:
        """As `Journal.append`. Blocks for the time of one commit: a thread for it would cost more than it."""
        await self.check()
        return self._append(entries, branch)

    async def check(self) -> None:
        """As `Journal.check`: one look at the file and one at the epoch, some microseconds."""
        if self._refusal:
            raise self._refusal
        if self.path:
            self._check_file(self.path)
        # Only looked at, so that who was superseded never begins to write beside its successor.
        [(epoch,)] = self._fetch("SELECT epoch FROM lease", ())
        if epoch != self._epoch:
            raise self._superseded()

    def records(self, since: int = 0, branch: str | None = None) -> AsyncIterator[Record]:
        return records(self._fetch, self.session, since, branch)

    def head(self, branch: str = MAIN) -> str:
        return self._chain.head(branch.encode())

    def verify(self) -> Flaw | None:
        """The first record that was changed or damaged."""
        return verify(self._fetch, self.session)

    async def close(self) -> None:
        self._refusal = self._refusal or StoreError(f"Session {self.session} was closed; open it again to write.")
        self._connection.close()
        if self._lease:
            self._lease.release()

    def _append(self, entries: tuple[Entry, ...], branch: str) -> tuple[Record, ...]:
        import sqlite3

        rows = self._chain.following(entries, branch.encode())
        try:
            self._write(rows)
        except sqlite3.Error as error:
            raise self._refused(error) from error
        self._chain.advance(rows)
        return tuple(
            Record(row.seq, branch, row.time / 1_000_000, entry, row.hash.decode())
            for row, entry in zip(rows, entries, strict=True)
        )

    def _write(self, rows: tuple[Row, ...]) -> None:
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        try:
            for row in rows:
                if execute(APPEND, (*row, self._epoch)).rowcount != 1:
                    raise self._superseded()
            execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                execute("ROLLBACK")
            raise

    def _check_file(self, path: Path) -> None:
        try:
            same = self._file is not None and os.path.samestat(path.stat(), self._file)
        except OSError:
            same = False
        if not same:
            self._refusal = LeaseLost(f"{path} was removed or replaced while session {self.session} was open.")
            raise self._refusal

    def _superseded(self) -> LeaseLost:
        lost = LeaseLost(f"Session {self.session} was taken over by another process; this one can store nothing more.")
        self._refusal = lost
        return lost

    def _refused(self, error: "sqlite3.Error") -> StoreError:
        match primary_code(error):
            case Code.CONSTRAINT:
                # Somebody has written the seq that is next here.
                return self._superseded()
            case Code.DISK_FAILED:
                # After a failed sync the kernel may drop what it could not write and report the next sync as good.
                self._refusal = failure(error, self.path)
                return self._refusal
            case _:
                return failure(error, self.path)


def create_journal(path: Path, opened: SessionOpened, lease: FileLease) -> SqliteJournal:
    """Make the file at `path` and write the first record. Raises FileExistsError, StoreError."""
    return restore_journal(path, Chain(path.stem).following((opened,), MAIN.encode()), lease)


def restore_journal(path: Path, rows: Iterable[Row], lease: FileLease) -> SqliteJournal:
    """Make the file at `path` with records that follow from each other. Raises FileExistsError, StoreError."""
    os.close(open_file(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
    try:
        return _filled(path, rows, path.stem, lease)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def open_journal(path: Path, lease: FileLease) -> SqliteJournal:
    """Open an existing journal for writing and raise its epoch, so that whoever wrote it before cannot any more.

    Raises LeaseHeld where `lease` was taken over meanwhile: of several that take a session over at once, the one whose lock file
    is there in the end raises the epoch last.
    """
    import sqlite3

    connection = None
    try:
        connection = connect(path)
        check_header(partial(fetch, connection, path), path.stem, path)
        mode = synchronous(connection)
        connection.execute("BEGIN IMMEDIATE")
        if not lease.named:
            raise LeaseHeld(f"Session {path.stem} was taken over by another process at this moment.")
        connection.execute("UPDATE lease SET epoch = epoch + 1, pid = ?", (os.getpid(),))
        [(epoch,)] = connection.execute("SELECT epoch FROM lease").fetchall()
        connection.execute("COMMIT")
        chain = chain_at(partial(fetch, connection, path), path.stem)
        return SqliteJournal(connection, path, mode, lease, epoch, chain)
    except BaseException as error:
        if connection:
            connection.close()
        if isinstance(error, sqlite3.Error):
            raise failure(error, path) from error
        raise


def memory_journal(folder: str, contract: str) -> SqliteJournal:
    """A journal that is gone when it is closed (`--no-session`)."""
    session = new_id(time.time())
    opened = SessionOpened(FORMAT, __version__, folder, contract)
    return _filled(None, Chain(session).following((opened,), MAIN.encode()), session, None)


def _filled(path: Path | None, rows: Iterable[Row], session: str, lease: FileLease | None) -> SqliteJournal:
    """A journal of these rows, all of them or none."""
    import sqlite3

    connection = None
    try:
        connection, mode = connect_new(path)
        chain = Chain(session)
        connection.execute("BEGIN IMMEDIATE")
        for statement in SCHEMA:
            connection.execute(statement)
        connection.execute("INSERT INTO lease VALUES (?, 1, ?)", (session, os.getpid()))
        connection.executemany(APPEND, ((*row, 1) for row in rows))
        connection.execute("COMMIT")
        chain.advance(rows)
        return SqliteJournal(connection, path, mode, lease, 1, chain)
    except BaseException as error:
        if connection:
            connection.close()
        if isinstance(error, sqlite3.Error):
            raise failure(error, path) from error
        raise
