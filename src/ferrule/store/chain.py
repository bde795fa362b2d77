"""How entries become records: their stored bytes, and the hash chain of every branch."""

import time
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from typing import NamedTuple

import msgspec

from ferrule import __version__
from ferrule.types.errors import StoreError
from ferrule.types.records import Entry, Record

EMPTY = "0" * 64
"""The head of a chain without records."""


class Row(NamedTuple):
    """A record as it is stored. Everything but numbers is bytes, so that damage can be read and named.

    `time` is Unix microseconds; `payload` is the JSON of the entry, exactly the bytes that were hashed; `hash` is hex.
    """

    seq: int
    branch: bytes
    kind: bytes
    time: int
    payload: bytes
    hash: bytes


class Flaw(NamedTuple):
    """The first record that does not fit, and why."""

    seq: int
    why: str


def record_hash(previous: str, session: str, row: Row) -> str:
    """sha256 over previous hash, session, branch, seq, kind, time and payload.

    Each field is spelled as its decimal length, a colon and its bytes; numbers as decimal digits. No two different lists of
    fields have the same spelling.
    """
    digest = sha256()
    fields = (previous.encode(), session.encode(), row.branch, b"%d" % row.seq, row.kind, b"%d" % row.time, row.payload)
    for field in fields:
        digest.update(b"%d:" % len(field))
        digest.update(field)
    return digest.hexdigest()


class Chain:
    """Where a journal, or a stretch of it, ends: its last seq and the head of each branch."""

    def __init__(self, session: str, seq: int = 0, heads: Iterable[tuple[bytes, str]] = ()) -> None:
        self.session = session
        self.seq = seq
        self._heads = dict(heads)

    def head(self, branch: bytes) -> str:
        return self._heads.get(branch, EMPTY)

    def following(self, entries: Iterable[Entry], branch: bytes) -> tuple[Row, ...]:
        """The rows that would store `entries` now. The chain moves on only by `advance`."""
        rows: list[Row] = []
        previous = self.head(branch)
        now = time.time_ns() // 1000
        for seq, entry in enumerate(entries, self.seq + 1):
            row = Row(seq, branch, *_spelled(entry, now), b"")
            previous = record_hash(previous, self.session, row)
            rows.append(row._replace(hash=previous.encode()))
        return tuple(rows)

    def advance(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.seq = row.seq
            self._heads[row.branch] = row.hash.decode()

    def check(self, row: Row, whole: bool = True) -> Flaw | None:
        """Whether `row` comes next, and if so, advance. `whole`: rows of all branches come by, so that `seq` has no gaps."""
        expected = self.seq + 1
        if row.seq != expected and (whole or row.seq < expected):
            return Flaw(row.seq, f"record {expected} is missing before it")
        if not isinstance(row.time, int):
            return Flaw(row.seq, "its time is not a number")
        if record_hash(self.head(row.branch), self.session, row).encode() != row.hash:
            return Flaw(row.seq, "its hash does not match what is stored and the record before")
        self.advance((row,))
        return None


def _spelled(entry: Entry, now: int) -> tuple[bytes, int, bytes]:
    """Kind, time and payload. Refuses what could not be read back as it is (an infinite number, a list for a tuple)."""
    kind = str(type(entry).__struct_config__.tag)
    try:
        payload = _encoder().encode(entry)
        same = _decoder().decode(payload) == entry
    except (msgspec.MsgspecError, ValueError, OverflowError, TypeError) as error:
        raise StoreError(f"A record of kind {kind!r} cannot be stored: {error}.") from error
    if not same:
        raise StoreError(f"A record of kind {kind!r} cannot be stored: it holds a value that would read back as another one.")
    return kind.encode(), now, payload


def read_record(row: Row) -> Record:
    """The record of a row that was checked. Raises as `read_entry`."""
    return Record(row.seq, row.branch.decode(), row.time / 1_000_000, read_entry(row), row.hash.decode())


def read_entry(row: Row) -> Entry:
    """Raises StoreError for what cannot be decoded.

    A kind that this version does not know is an error that names the version, not a gap: a state folded without it would be
    false.
    """
    kind = row.kind.decode(errors="replace")
    try:
        entry = _decoder().decode(row.payload)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        if kind not in _kinds():
            newer = f"which Ferrule {__version__} does not know; a newer version wrote it. Update Ferrule."
            raise StoreError(f"Record {row.seq} has the kind {kind!r}, {newer}") from error
        raise StoreError(f"Record {row.seq} of kind {kind!r} cannot be read by Ferrule {__version__}: {error}.") from error
    if type(entry).__struct_config__.tag != kind:
        raise StoreError(f"Record {row.seq} is stored as {kind!r} and says that it is {type(entry).__struct_config__.tag!r}.")
    return entry


@cache
def _encoder() -> msgspec.json.Encoder:
    return msgspec.json.Encoder()


@cache
def _decoder() -> "msgspec.json.Decoder[Entry]":
    return msgspec.json.Decoder(Entry)


@cache
def _kinds() -> frozenset[str]:
    return frozenset(str(kind.__struct_config__.tag) for kind in Entry.__args__)
