import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.store.chain import Flaw, Row, record_hash
from ferrule.store.folds import Conversation
from ferrule.store.reading import JournalReader
from ferrule.store.sessions import Sessions
from ferrule.types.errors import StoreError

from .entries import BRANCHES, ENTRIES, answered, finished, law, said, started
from .use import append, close, records

MISMATCH = "its hash does not match what is stored and the record before"
COLUMNS = ("branch", "kind", "time", "payload", "hash")


def session(state: Path, *batches: Any) -> tuple[str, Path]:
    journal = Sessions(state).create("/project", "code")
    for branch, entry in batches or (("main", said("a")), ("sub", said("b")), ("main", answered("c")), ("main", started("c"))):
        append(journal, entry, branch=branch)
    close(journal)
    return journal.session, state / "sessions" / f"{journal.session}.db"


def write(path: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement, values)


def flipped(value: Any, at: int, mask: int) -> Any:
    if isinstance(value, int):
        return value ^ (mask << (8 * (at % 6)))
    raw = bytearray(value.encode() if isinstance(value, str) else value)
    raw[at % len(raw)] ^= mask
    return bytes(raw)


@law
@given(data=st.data())
def test_any_flipped_byte_in_any_column_is_found(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        id, path = session(Path(folder))
        seq = data.draw(st.integers(1, 5))
        column = data.draw(st.sampled_from(COLUMNS))
        with closing(sqlite3.connect(path)) as connection:
            (value,) = connection.execute(f"SELECT {column} FROM records WHERE seq = ?", (seq,)).fetchone()
        damaged = flipped(value, data.draw(st.integers(0, 5000)), data.draw(st.integers(1, 255)))
        kept = "CAST(? AS TEXT)" if isinstance(value, str) else "?"
        write(path, f"UPDATE records SET {column} = {kept} WHERE seq = ?", damaged, seq)
        reader = JournalReader(path, id)
        flaw = reader.verify()
        assert flaw is not None
        assert flaw.seq == seq
        with pytest.raises(StoreError, match=f"Record {seq} of session"):
            records(reader)


@pytest.mark.parametrize(
    ("statement", "flaw"),
    [
        ("DELETE FROM records WHERE seq = 3", Flaw(4, "record 3 is missing before it")),
        ("DELETE FROM records WHERE seq = 1", Flaw(2, "record 1 is missing before it")),
        ("UPDATE records SET seq = 50 WHERE seq = 5", Flaw(50, "record 5 is missing before it")),
        ("UPDATE records SET seq = -5 WHERE seq = 5", Flaw(-5, "record 1 is missing before it")),
        ("UPDATE records SET time = 'noon' WHERE seq = 2", Flaw(2, "its time is not a number")),
        ("UPDATE records SET payload = 7 WHERE seq = 2", Flaw(2, MISMATCH)),
        ("UPDATE records SET branch = 'main' WHERE seq = 3", Flaw(3, MISMATCH)),
        (
            "INSERT INTO records SELECT 6, branch, kind, time, payload, hash FROM records WHERE seq = 5",
            Flaw(6, MISMATCH),
        ),
    ],
)
def test_missing_moved_and_added_records_are_named(tmp_path: Path, statement: str, flaw: Flaw | None) -> None:
    id, path = session(tmp_path)
    assert JournalReader(path, id).verify() is None
    write(path, statement)
    assert JournalReader(path, id).verify() == flaw


def test_record_that_was_exchanged_with_its_hash_is_found_at_the_next_of_its_branch(tmp_path: Path) -> None:
    id, path = session(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        (previous,) = connection.execute("SELECT hash FROM records WHERE seq = 1").fetchone()
        (time, payload) = connection.execute("SELECT time, payload FROM records WHERE seq = 2").fetchone()
    forged = Row(2, b"main", b"user", time, payload.replace(b'"a"', b'"b"'), b"")
    assert forged.payload != payload
    statement = "UPDATE records SET payload = ?, hash = ? WHERE seq = 2"
    write(path, statement, forged.payload, record_hash(previous, id, forged))
    assert JournalReader(path, id).verify() == Flaw(4, MISMATCH)


@law
@given(batches=st.lists(st.tuples(BRANCHES, ENTRIES), max_size=8), keep=st.integers(1, 9))
def test_any_prefix_is_a_valid_journal_that_folds(batches: list[Any], keep: int) -> None:
    with TemporaryDirectory() as folder:
        id, path = session(Path(folder), *batches)
        write(path, "DELETE FROM records WHERE seq > ?", keep)
        sessions = Sessions(Path(folder))
        assert sessions.reader(id).verify() is None
        journal = sessions.open(id)
        conversation = Conversation()
        for record in records(journal):
            conversation.add(record)
        assert len(conversation.messages) >= 0
        (added,) = append(journal, finished("c"))
        conversation.add(added)
        assert journal.verify() is None
        close(journal)


def test_journal_of_another_session_is_refused(tmp_path: Path) -> None:
    id, path = session(tmp_path)
    renamed = path.with_name("20200101-000000-aaaa.db")
    path.rename(renamed)
    with pytest.raises(StoreError, match=f"does not hold session 20200101-000000-aaaa but .*{id}"):
        Sessions(tmp_path).open("20200101-000000-aaaa")


def test_unknown_kind_is_an_error_that_names_the_version_and_does_not_spoil_the_chain(tmp_path: Path) -> None:
    id, path = session(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        (previous,) = connection.execute("SELECT hash FROM records WHERE seq = 5").fetchone()
    future = Row(6, b"main", b"teleported", 1, b'{"type":"teleported","to":"mars"}', b"")
    hash = record_hash(previous, id, future)
    write(path, "INSERT INTO records VALUES (6, 'main', 'teleported', 1, ?, ?)", future.payload, hash)
    reader = Sessions(tmp_path).reader(id)
    assert reader.verify() is None
    assert len(records(reader, branch="sub")) == 1
    with pytest.raises(
        StoreError, match=r"Record 6 has the kind 'teleported', which Ferrule \d.* does not know; a newer version"
    ):
        records(reader)


def test_newer_layout_is_an_error_that_says_so(tmp_path: Path) -> None:
    id, path = session(tmp_path)
    write(path, "PRAGMA user_version = 2")
    for open in (Sessions(tmp_path).open, Sessions(tmp_path).reader):
        with pytest.raises(StoreError, match="journal format 2; this Ferrule reads format 1"):
            open(id)


def test_no_two_lists_of_fields_have_one_spelling() -> None:
    rows = [
        Row(1, b"ab", b"c", 1, b"", b""),
        Row(1, b"a", b"bc", 1, b"", b""),
        Row(11, b"ab", b"c", 1, b"", b""),
        Row(1, b"ab", b"c", 11, b"", b""),
        Row(1, b"ab", b"", 1, b"c", b""),
        Row(1, b"ab1", b"c", 1, b"", b""),
        Row(1, b"ab", b"c1", 1, b"", b""),
        Row(1, b"ab", b"c", 1, b"1", b""),
        Row(1, b"1ab", b"c", 1, b"", b""),
    ]
    hashes = {record_hash("0" * 64, session, row) for row in rows for session in ("s", "s1")}
    assert len(hashes) == 2 * len(rows)


@pytest.mark.parametrize("seconds", [float("inf"), float("-inf"), float("nan")])
def test_value_that_could_not_be_read_back_is_refused_before_it_is_stored(tmp_path: Path, seconds: float) -> None:
    journal = Sessions(tmp_path).create("/project", "code")
    entry = answered("a")
    with pytest.raises(StoreError, match="'assistant' cannot be stored"):
        append(journal, type(entry)(entry.message, entry.usage, seconds))
    with pytest.raises(StoreError, match="'user' cannot be stored"):
        append(journal, said("half an emoji \ud83d"))
    assert len(records(journal)) == 1
    close(journal)
