"""The index of a project's words: SQLite with full text search, in one private file outside of the project."""

import sqlite3
from array import array
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path

from msgspec import Struct

from .pieces import Piece
from .terms import asked, defined, terms

VERSION = 1
WEIGHTS = (4.0, 3.0, 1.0)
"""Of a word in the path, in a name that is defined, anywhere."""
SCHEMA = f"""
CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, modified INTEGER, size INTEGER, hash BLOB);
CREATE TABLE pieces (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, first INTEGER, last INTEGER, hash BLOB);
CREATE INDEX of_file ON pieces (file);
CREATE INDEX of_hash ON pieces (hash);
CREATE VIRTUAL TABLE words USING fts5 (path, names, body, tokenize = "porter unicode61 remove_diacritics 2 tokenchars '._'");
CREATE TABLE vectors (hash BLOB, model TEXT, vector BLOB, PRIMARY KEY (hash, model)) WITHOUT ROWID;
PRAGMA user_version = {VERSION};
"""


class State(Struct, frozen=True):
    """What a file was like when it was read: nanoseconds, bytes, a digest of the content."""

    modified: int
    size: int
    hash: bytes


class Hit(Struct, frozen=True):
    """A piece of a file; `path` as in `types.names`, relative to the project."""

    piece: int
    path: str
    first: int
    last: int


class Store:
    """Usable from one thread at a time. What cannot be read is made anew: everything in it can be read again."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            self._db = self._open()
        except sqlite3.DatabaseError:
            self._remove()
            self._db = self._open()

    def _open(self) -> sqlite3.Connection:
        self._file.touch(0o600)
        db = sqlite3.connect(self._file, timeout=10, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            with closing(db.execute("PRAGMA user_version")) as found:
                (version,) = found.fetchone()
            if version == 0:
                db.executescript(f"BEGIN IMMEDIATE;{SCHEMA}COMMIT;")
            elif version != VERSION:
                raise sqlite3.DatabaseError("of another version")
        except sqlite3.DatabaseError:
            db.close()
            raise
        return db

    def _remove(self) -> None:
        for end in ("", "-wal", "-shm"):
            with suppress(OSError):
                self._file.with_name(self._file.name + end).unlink()

    def close(self) -> None:
        self._db.close()

    def begin(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self._db.execute("COMMIT")

    def rollback(self) -> None:
        self._db.execute("ROLLBACK")

    def states(self) -> dict[str, State]:
        rows = self._db.execute("SELECT path, modified, size, hash FROM files")
        return {path: State(modified, size, hash) for path, modified, size, hash in rows}

    def seen(self, path: str, state: State) -> None:
        """The content is what it was."""
        self._db.execute("UPDATE files SET modified = ?, size = ? WHERE path = ?", (state.modified, state.size, path))

    def put(self, path: str, state: State, cut: Iterable[tuple[Piece, bytes]]) -> None:
        """A file with its pieces and their digests, in the place of what was there of it."""
        self.remove([path])
        row = self._db.execute("INSERT INTO files VALUES (NULL, ?, ?, ?, ?)", (path, state.modified, state.size, state.hash))
        named = " ".join(terms(path))
        for piece, hash in cut:
            made = self._db.execute(
                "INSERT INTO pieces VALUES (NULL, ?, ?, ?, ?)", (row.lastrowid, piece.first, piece.last, hash)
            )
            words = (made.lastrowid, named, " ".join(defined(piece.text)), " ".join(terms(piece.text)))
            self._db.execute("INSERT INTO words (rowid, path, names, body) VALUES (?, ?, ?, ?)", words)

    def remove(self, paths: Iterable[str]) -> None:
        for path in paths:
            of = "(SELECT id FROM files WHERE path = ?)"
            self._db.execute(f"DELETE FROM words WHERE rowid IN (SELECT id FROM pieces WHERE file IN {of})", (path,))
            self._db.execute(f"DELETE FROM pieces WHERE file IN {of}", (path,))
            self._db.execute("DELETE FROM files WHERE path = ?", (path,))

    def search(self, question: str, below: str, limit: int) -> list[Hit]:
        """By words, the best first; `below` is a folder with its slash, empty for everything."""
        words = " OR ".join(f'"{word}"' for word in asked(question))
        if not words:
            return []
        rows = self._db.execute(
            "SELECT pieces.id, files.path, first, last FROM words JOIN pieces ON pieces.id = words.rowid "
            "JOIN files ON files.id = pieces.file WHERE words MATCH ? AND substr(files.path, 1, ?) = ? "
            f"ORDER BY bm25(words, {', '.join(map(str, WEIGHTS))}), files.path, first LIMIT ?",
            (words, len(below), below, limit),
        )
        return [Hit(*row) for row in rows]

    def without_vector(self, model: str, limit: int) -> list[tuple[bytes, Hit]]:
        rows = self._db.execute(
            "SELECT pieces.hash, pieces.id, files.path, first, last FROM pieces JOIN files ON files.id = pieces.file "
            "WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.hash = pieces.hash AND model = ?) "
            "GROUP BY pieces.hash LIMIT ?",
            (model, limit),
        )
        return [(hash, Hit(*row)) for hash, *row in rows]

    def put_vectors(self, model: str, vectors: Iterable[tuple[bytes, Sequence[float]]]) -> None:
        rows = [(hash, model, array("f", vector).tobytes()) for hash, vector in vectors]
        self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def vectors(self, model: str, below: str) -> Iterable[tuple[Hit, "array[float]"]]:
        rows = self._db.execute(
            "SELECT pieces.id, files.path, first, last, vector FROM pieces JOIN files ON files.id = pieces.file "
            "JOIN vectors ON vectors.hash = pieces.hash AND model = ? WHERE substr(files.path, 1, ?) = ?",
            (model, len(below), below),
        )
        for *row, vector in rows:
            yield Hit(*row), array("f", vector)

    def tidy(self) -> None:
        """Vectors of what is no longer there."""
        self._db.execute("DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM pieces)")
