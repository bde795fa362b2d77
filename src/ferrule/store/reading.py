"""Reading a session's records: in short transactions, each record checked against its hash."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ferrule.types.errors import StoreError
from ferrule.types.records import Record

from .chain import EMPTY, Chain, Flaw, Row, read_record
from .database import connect, failure

if TYPE_CHECKING:
    import sqlite3

FORMAT = 1
"""Version of a journal's layout."""

APPLICATION = 0x46524C31
"""Marks a SQLite file as a journal of Ferrule."""

BATCH = 128

Fetch = Callable[[str, tuple[Any, ...]], list[Any]]
"""Runs one query to its end and gives all rows. Raises StoreError."""

RAW = "IFNULL(CAST({} AS BLOB), x'')"
COLUMNS = f"seq, {RAW.format('branch')}, {RAW.format('kind')}, time, {RAW.format('payload')}, {RAW.format('hash')}"
"""The fields of a `Row`."""

ROW = f"""
    SELECT {COLUMNS} FROM records WHERE seq > ? AND (? IS NULL OR branch = ?) ORDER BY seq LIMIT ?
"""

HEADS = f"""
    SELECT seq, {RAW.format("branch")}, {RAW.format("hash")} FROM records
    WHERE seq IN (SELECT MAX(seq) FROM records WHERE seq <= ? GROUP BY branch) ORDER BY seq
"""

LAST = 2**63 - 1
FIRST = -(2**63)


def fetch(connection: "sqlite3.Connection", path: Path | None, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
    import sqlite3

    try:
        return connection.execute(query, values).fetchall()
    except sqlite3.Error as error:
        raise failure(error, path) from error


def check_header(fetch: Fetch, session: str, where: Path | str) -> None:
    """Raises StoreError unless this is the journal of `session` in a layout that this version reads."""
    [(application,)] = fetch("PRAGMA application_id", ())
    if application != APPLICATION:
        raise StoreError(f"{where} is not a journal of Ferrule, or it was never begun.")
    [(format,)] = fetch("PRAGMA user_version", ())
    if format != FORMAT:
        raise StoreError(f"{where} has journal format {format}; this Ferrule reads format {FORMAT}. Update Ferrule.")
    names = [name for (name,) in fetch("SELECT session FROM lease", ())]
    if names != [session]:
        raise StoreError(f"{where} does not hold session {session} but {names}. Was it renamed?")


def chain_at(fetch: Fetch, session: str, seq: int = LAST) -> Chain:
    """The chain as it was after record `seq`."""
    rows = fetch(HEADS, (seq,)) if seq > 0 else []
    return Chain(session, rows[-1][0] if rows else 0, ((branch, hash.decode(errors="replace")) for _, branch, hash in rows))


def rows(fetch: Fetch, since: int, branch: str | None) -> Iterator[Row]:
    while True:
        batch = fetch(ROW, (since, branch, branch, BATCH))
        yield from map(Row._make, batch)
        if len(batch) < BATCH:
            return
        since = batch[-1][0]


async def records(fetch: Fetch, session: str, since: int, branch: str | None) -> AsyncIterator[Record]:
    """Raises StoreError at the first record that does not match its hash or that this version cannot read."""
    chain = chain_at(fetch, session, since)
    chain.seq = since
    for row in rows(fetch, since, branch):
        if flaw := chain.check(row, whole=branch is None):
            raise StoreError(f"Record {flaw.seq} of session {session} was changed or damaged: {flaw.why}.")
        yield read_record(row)


def verify(fetch: Fetch, session: str) -> Flaw | None:
    """Hash everything again. A chain that was cut at its end is a valid chain: that is what receipts are for."""
    chain = Chain(session)
    return next((flaw for row in rows(fetch, FIRST, None) if (flaw := chain.check(row))), None)


class JournalReader:
    """Reads one session while it may be written elsewhere.

    Every query has a read-only connection of its own, closed after it: nothing holds the writer up, and the writer's connection
    stays the only one that writes or moves the log (SQLite before 3.51.3 can damage a log that two connections write).
    """

    def __init__(self, path: Path, session: str) -> None:
        self.path = path
        self.session = session
        check_header(self._fetch, session, path)

    def records(self, since: int = 0, branch: str | None = None) -> AsyncIterator[Record]:
        """As `Journal.records`."""
        return records(self._fetch, self.session, since, branch)

    def head(self, branch: str = "main") -> str:
        """As `Journal.head`, at this moment."""
        found = self._fetch("SELECT hash FROM records WHERE branch = ? ORDER BY seq DESC LIMIT 1", (branch,))
        return str(found[0][0]) if found else EMPTY

    def rows(self) -> Iterator[Row]:
        """What is stored, unread and unchecked."""
        return rows(self._fetch, FIRST, None)

    def payloads(self) -> Iterator[bytes]:
        """What is stored, unread."""
        return (row.payload for row in rows(self._fetch, FIRST, None))

    def verify(self) -> Flaw | None:
        """The first record that was changed or damaged. Raises StoreError where the file cannot be read at all."""
        return verify(self._fetch, self.session)

    def _fetch(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        import sqlite3

        try:
            connection = connect(self.path, "ro")
        except sqlite3.Error as error:
            raise failure(error, self.path) from error
        try:
            return fetch(connection, self.path, query, values)
        finally:
            connection.close()
