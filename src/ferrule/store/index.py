"""What is known of all sessions at a glance. A cache beside the journals: brought up to date when it is read, never the truth.

A row is a function of one journal file, and remembers the sizes and times of that file; a turn therefore writes nothing here.
"""

import os
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from ferrule.types.errors import StoreError
from ferrule.types.messages import Text
from ferrule.types.outcome import Outcome
from ferrule.types.records import RunEnded, SessionOpened, UserSaid

from .chain import Chain, Row, read_entry, read_record
from .database import Code, connect, failure, primary_code
from .private import open_file
from .reading import COLUMNS, Fetch, check_header, fetch

if TYPE_CHECKING:
    import sqlite3

LAYOUT = 1
TITLE = 72

TABLE = """CREATE TABLE sessions (
    id TEXT PRIMARY KEY, folder TEXT NOT NULL, title TEXT NOT NULL, created REAL NOT NULL, updated REAL NOT NULL,
    contract TEXT NOT NULL, outcome TEXT, problem TEXT, stamp TEXT NOT NULL
)"""


class SessionInfo(Struct, frozen=True):
    """`created` and `updated` are Unix seconds. `problem` says why the journal cannot be read; then other fields may be empty."""

    id: str
    folder: str
    title: str
    created: float
    updated: float
    contract: str
    outcome: Outcome | None = None
    problem: str | None = None


def read_index(path: Path, sessions: Path) -> tuple[SessionInfo, ...]:
    """All sessions in a folder of journals, the last one written first.

    A damaged index or one of another layout is made anew; one that cannot be written is left alone and not used.
    """
    import sqlite3

    stamps = {file.stem: _stamp(file) for file in sessions.glob("*.db")}
    for _ in range(2):
        try:
            if not path.exists():
                os.close(open_file(path, os.O_RDWR | os.O_CREAT))
            with closing(connect(path)) as connection:
                return _brought_up_to_date(connection, sessions, stamps)
        except msgspec.ValidationError:
            path.unlink(missing_ok=True)
        except sqlite3.Error as error:
            if primary_code(error) not in {0, Code.ERROR, Code.CORRUPT, Code.NOT_A_DATABASE}:
                break
            path.unlink(missing_ok=True)
        except OSError:
            break
    with closing(connect(None)) as connection:
        return _brought_up_to_date(connection, sessions, stamps)


def summarize(path: Path) -> SessionInfo | None:
    """Read what the index holds of one journal; None where its first record was not written yet."""
    import sqlite3

    try:
        with closing(connect(path, "ro")) as connection:
            query = partial(fetch, connection, path)
            return _summary(query, path) if query("SELECT 1 FROM sqlite_master", ()) else None
    except sqlite3.Error as error:
        problem = str(failure(error, path))
    except StoreError as error:
        problem = str(error)
    changed = path.stat().st_mtime if path.exists() else 0.0
    return SessionInfo(path.stem, "", "", changed, changed, "", problem=problem)


def _summary(query: Fetch, path: Path) -> SessionInfo:
    check_header(query, path.stem, path)
    first = list(map(Row._make, query(f"SELECT {COLUMNS} FROM records ORDER BY seq LIMIT 1", ())))
    if not first or Chain(path.stem).check(first[0]):
        raise StoreError(f"{path} is damaged: its first record does not match its hash.")
    opened = read_record(first[0])
    if not isinstance(opened.entry, SessionOpened):
        raise StoreError(f"{path} does not begin with the opening of a session.")
    [(updated,)] = query("SELECT IFNULL(CAST(time AS INTEGER), 0) FROM records ORDER BY seq DESC LIMIT 1", ())
    ended = query(f"SELECT {COLUMNS} FROM records WHERE kind = 'outcome' ORDER BY seq DESC LIMIT 1", ())
    outcome = read_entry(Row._make(ended[0])) if ended else None
    return SessionInfo(
        id=path.stem,
        folder=opened.entry.folder,
        title=_title(query),
        created=opened.time,
        updated=updated / 1_000_000,
        contract=opened.entry.contract,
        outcome=outcome.outcome if isinstance(outcome, RunEnded) else None,
    )


def _title(query: Fetch) -> str:
    """The first words of the first message that a person wrote."""
    seq = 0
    while found := query(f"SELECT {COLUMNS} FROM records WHERE kind = 'user' AND seq > ? ORDER BY seq LIMIT 1", (seq,)):
        row = Row._make(found[0])
        said = read_entry(row)
        if isinstance(said, UserSaid) and said.origin == "person":
            return _shortened(" ".join(part.text for part in said.message.parts if isinstance(part, Text)))
        seq = row.seq
    return ""


def _shortened(text: str) -> str:
    words = " ".join(text[: 4 * TITLE].split())
    if len(words) <= TITLE:
        return words
    cut = words[: TITLE - 1]
    return (cut.rpartition(" ")[0] or cut) + "…"


def _remembered(info: SessionInfo, row: dict[str, Any]) -> SessionInfo:
    """A journal that can no longer be read still belongs to its folder: `-c` must not pass over it to an older session."""
    kept = {name: row[name] for name in ("folder", "title", "created", "contract")}
    return msgspec.convert(msgspec.structs.asdict(info) | kept, SessionInfo)


def _stamp(path: Path) -> str:
    """Changes whenever the journal does: a commit grows the log or moves its time."""
    parts = []
    for file in (path, path.with_name(path.name + "-wal")):
        try:
            stat = file.stat()
        except FileNotFoundError:
            continue
        # A reader leaves an empty log behind.
        if stat.st_size:
            parts.append(f"{stat.st_ino}:{stat.st_size}:{stat.st_mtime_ns}")
    return " ".join(parts)


def _brought_up_to_date(connection: "sqlite3.Connection", sessions: Path, stamps: dict[str, str]) -> tuple[SessionInfo, ...]:
    """Raises sqlite3.Error, and msgspec.ValidationError for a row that this version did not write."""
    # The last writes may be lost in a power loss. A rollback journal, because several processes write here: SQLite before 3.51.3
    # can damage a write-ahead log that two connections write at the same moment.
    connection.execute("PRAGMA synchronous=OFF")
    [(layout,)] = connection.execute("PRAGMA user_version").fetchall()
    if layout != LAYOUT:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("DROP TABLE IF EXISTS sessions")
        connection.execute(TABLE)
        connection.execute(f"PRAGMA user_version={LAYOUT}")
        connection.execute("COMMIT")
    fields = (*SessionInfo.__struct_fields__, "stamp")
    known = [dict(zip(fields, row, strict=True)) for row in connection.execute(f"SELECT {', '.join(fields)} FROM sessions")]
    fresh = {row["id"]: msgspec.convert(row, SessionInfo) for row in known if stamps.get(row["id"]) == row["stamp"]}
    changed = [info for id in stamps.keys() - fresh.keys() if (info := summarize(sessions / f"{id}.db"))]
    before = {row["id"]: row for row in known}
    changed = [_remembered(info, before[info.id]) if info.problem and info.id in before else info for info in changed]
    if changed or len(known) > len(fresh):
        values = [(*msgspec.structs.astuple(info), stamps[info.id]) for info in changed]
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("DELETE FROM sessions WHERE id = ?", [(row["id"],) for row in known if row["id"] not in fresh])
        places = ", ".join("?" * len(fields))
        connection.executemany(f"INSERT OR REPLACE INTO sessions ({', '.join(fields)}) VALUES ({places})", values)
        connection.execute("COMMIT")
    return tuple(sorted((*fresh.values(), *changed), key=lambda info: (info.updated, info.id), reverse=True))
