import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from ferrule.store.ids import SHAPE, match, new_id
from ferrule.store.index import SessionInfo
from ferrule.store.private import state_folder
from ferrule.store.sessions import DAY, Sessions
from ferrule.types.errors import LeaseHeld, StoreError, UsageError
from ferrule.types.outcome import Outcome
from ferrule.types.records import Entry, RunEnded, UserSaid

from .entries import finished, said
from .use import append, close, records


def session(sessions: Sessions, folder: str, *entries: Entry) -> str:
    journal = sessions.create(folder, "code")
    append(journal, *entries)
    close(journal)
    return journal.session


def shown(infos: tuple[SessionInfo, ...]) -> list[tuple[str, str, str, Outcome | None]]:
    return [(info.id, info.folder, info.title, info.outcome) for info in infos]


def test_sessions_are_listed_newest_first_with_what_they_were_about(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    before = time.time()
    note = UserSaid(said("not the person").message, "note")
    one = session(sessions, "/a", note, said("Fix   the\nbug "), said("and more"), RunEnded(Outcome.FINISHED, "ok"))
    two = session(sessions, "/b", said("word " * 40))
    three = session(sessions, "/a")
    assert shown(sessions.list()) == [
        (three, "/a", "", None),
        (two, "/b", ("word " * 14).strip() + "…", None),
        (one, "/a", "Fix the bug", Outcome.FINISHED),
    ]
    assert [info.id for info in sessions.list("/a")] == [three, one]
    latest = sessions.latest("/a")
    assert latest and latest.id == three
    assert sessions.latest("/nowhere") is None
    assert before - 1 < latest.created <= latest.updated < time.time() + 1


def test_session_that_goes_on_becomes_the_latest_though_nobody_updates_the_index(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    one, two = session(sessions, "/a", said("first")), session(sessions, "/a", said("second"))
    assert [info.id for info in sessions.list("/a")] == [two, one]
    journal = sessions.open(one)
    append(journal, RunEnded(Outcome.STUCK, ""))
    assert shown(sessions.list("/a"))[0] == (one, "/a", "first", Outcome.STUCK)
    append(journal, RunEnded(Outcome.FINISHED, ""))
    assert shown(sessions.list("/a"))[0] == (one, "/a", "first", Outcome.FINISHED)
    close(journal)
    assert shown(sessions.list("/a"))[0] == (one, "/a", "first", Outcome.FINISHED)


def change(index: Path, statement: str) -> None:
    with closing(sqlite3.connect(index, isolation_level=None)) as connection:
        connection.execute(statement)


def become_folder(index: Path) -> None:
    index.unlink()
    index.mkdir()


RUINS: dict[str, Callable[[Path], object]] = {
    "deleted": lambda index: index.unlink(),
    "empty": lambda index: index.write_bytes(b""),
    "garbage": lambda index: index.write_bytes(b"garbage " * 1000),
    "cut": lambda index: os.truncate(index, 5000),
    "page": lambda index: index.write_bytes(index.read_bytes()[:4096] + b"\xee" * 8192),
    "newer layout": lambda index: change(index, "PRAGMA user_version = 99"),
    "other table": lambda index: change(index, "ALTER TABLE sessions RENAME TO others"),
    "other column": lambda index: change(index, "ALTER TABLE sessions RENAME COLUMN title TO name"),
    "unknown outcome": lambda index: change(index, "UPDATE sessions SET outcome = 'great'"),
    "wrong type": lambda index: change(index, "UPDATE sessions SET title = x'ff'"),
    "not UTF-8": lambda index: change(index, "UPDATE sessions SET title = CAST(x'ff' AS TEXT)"),
    "row gone": lambda index: change(index, "DELETE FROM sessions"),
    "row too many": lambda index: change(index, "UPDATE sessions SET id = id || 'x' WHERE rowid = 1"),
    "a folder": become_folder,
}


@pytest.mark.parametrize("ruin", RUINS)
def test_index_is_made_anew_from_the_journals(tmp_path: Path, ruin: str) -> None:
    sessions = Sessions(tmp_path)
    session(sessions, "/a", said("one"), RunEnded(Outcome.FINISHED, ""))
    session(sessions, "/b", said("two"))
    right = sessions.list()
    RUINS[ruin](tmp_path / "index.db")
    assert Sessions(tmp_path).list() == right
    assert Sessions(tmp_path).list() == right


def test_index_answers_without_reading_unchanged_journals(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    id = session(sessions, "/a", said("one"))
    right = sessions.list()
    path = tmp_path / "sessions" / f"{id}.db"
    stat = path.stat()
    with path.open("r+b") as file:
        file.write(b"\0" * 4096)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert sessions.list() == right
    os.utime(path)
    (info,) = sessions.list()
    assert info.problem and "damaged" in info.problem


def test_damaged_session_is_listed_with_its_problem_beside_the_others(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    good, bad = session(sessions, "/a", said("good")), session(sessions, "/a", said("bad"))
    (tmp_path / "sessions" / f"{bad}.db").write_bytes(b"rubbish" * 999)
    infos = {info.id: info for info in sessions.list()}
    assert infos[good].problem is None
    assert "damaged" in (infos[bad].problem or "")
    assert sessions.prune(0, time.time() + 9 * DAY) == (good,)
    sessions.remove(bad)
    assert sessions.list() == ()


def test_damaged_session_stays_the_latest_of_its_folder(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    session(sessions, "/a", said("older"))
    latest = session(sessions, "/a", said("newer"))
    assert len(sessions.list()) == 2
    (tmp_path / "sessions" / f"{latest}.db").write_bytes(b"rubbish" * 999)
    for _ in range(2):
        info = sessions.latest("/a")
        assert info and (info.id, info.title, info.contract) == (latest, "newer", "code")
        assert "damaged" in (info.problem or "")
    with pytest.raises(StoreError, match="damaged"):
        sessions.open(latest)


def test_session_is_found_by_its_beginning_or_its_last_letters() -> None:
    known = ["20261130-142233-x7kq", "20261130-150000-abcd", "20261201-000000-x7kz"]
    assert match("20261201", known) == known[2]
    assert match("x7kq", known) == known[0]
    assert match(known[1], [*known, f"{known[1]}2"]) == known[1]
    with pytest.raises(UsageError, match=r"'20261130' could mean 20261130-150000-abcd, 20261130-142233-x7kq\. Write more"):
        match("20261130", known)
    with pytest.raises(UsageError, match="and 7 more"):
        match("2026", [f"2026{n:04}-000000-aaaa" for n in range(12)])
    for written in ("", "7kq", "2027", "../../etc"):
        with pytest.raises(UsageError, match="No session is called"):
            match(written, known)


def test_new_ids_are_unique_sorted_by_time_and_safe_as_file_names() -> None:
    ids = [new_id(1_796_048_553 + second) for second in range(200)]
    assert ids == sorted(set(ids))
    assert all(SHAPE.fullmatch(id) for id in ids)
    assert ids[0].startswith("20261130-142233-") and len(ids[0]) == 20


def test_open_session_is_not_removed(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    journal = sessions.create("/a", "code")
    with pytest.raises(LeaseHeld, match=str(os.getpid())):
        sessions.remove(journal.session)
    assert sessions.prune(0, time.time() + DAY) == ()
    append(journal, said("still here"))
    close(journal)
    sessions.remove(journal.session)
    assert list((tmp_path / "sessions").iterdir()) == []
    with pytest.raises(UsageError):
        sessions.reader(journal.session)


def blob(sessions: Sessions, content: bytes) -> str:
    writer = sessions.blobs.writer()
    writer.write(content)
    return writer.finish()


def test_outputs_go_with_the_last_session_that_names_them(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    shared, own, unnamed = (blob(sessions, content) for content in (b"shared", b"own", b"unnamed"))
    one = session(sessions, "/a", finished("x", f"cut; all of it: {shared}"), finished("y", own))
    two = session(sessions, "/a", finished("z", shared))
    sessions.remove(one)
    assert set(sessions.blobs.all()) == {shared, unnamed}
    damaged = tmp_path / "sessions" / "20200101-000000-aaaa.db"
    damaged.write_bytes(b"who knows what this names")
    sessions.remove(two)
    assert set(sessions.blobs.all()) == {shared, unnamed}
    three = session(sessions, "/a", finished("z", f"\x1b{shared}"))
    sessions.remove(damaged.stem)
    sessions.remove(three)
    assert set(sessions.blobs.all()) == {unnamed}


def test_pruning_removes_what_is_old_and_what_killed_writers_left(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    old, young = session(sessions, "/a", finished("x", blob(sessions, b"old"))), session(sessions, "/a")
    left = sessions.blobs.writer()
    left.write(b"x" * 100_000)
    unbegun = tmp_path / "sessions" / "20200101-000000-aaaa.db"
    unbegun.touch()
    stale = time.time() - 3 * DAY
    for path in (unbegun, *(tmp_path / "blobs").glob(".writing-*")):
        os.utime(path, (stale, stale))
    journal = sessions.open(young)
    assert sessions.prune(1) == ()
    assert not unbegun.exists()
    assert list((tmp_path / "blobs").glob(".writing-*")) == []
    assert sessions.prune(1, time.time() + 2 * DAY) == (old,)
    assert list(sessions.blobs.all()) == []
    assert [info.id for info in sessions.list()] == [young]
    close(journal)
    left.discard()


def test_damaged_output_is_not_handed_out(tmp_path: Path) -> None:
    blobs = Sessions(tmp_path).blobs
    digest = blob(Sessions(tmp_path), b"a" * 100_000)
    assert blobs.read(digest, 5, 3) == b"aaa"
    with blobs.path(digest).open("r+b") as file:
        file.seek(70_000)
        file.write(b"b")
    with pytest.raises(StoreError, match="damaged"):
        blobs.read(digest, 5, 3)
    assert blob(Sessions(tmp_path), b"a" * 100_000) == digest
    assert blobs.read(digest, 70_000, 1) == b"a"


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o277])
def test_only_the_owner_may_read_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    state = tmp_path / "state"
    with umask(mask):
        sessions = Sessions(state)
        journal = sessions.create("/a", "code")
        append(journal, said("secret"))
        digest = blob(sessions, b"secret" * 50_000)
        assert len(sessions.list()) == 1
        assert len(records(sessions.reader(journal.session))) == 2
    modes = {str(path.relative_to(state)): path.stat().st_mode & 0o777 for path in (state, *state.rglob("*"))}
    id = journal.session
    files = (
        "index.db",
        f"blobs/{digest[:2]}/{digest[2:]}",
        *(f"sessions/{id}.{end}" for end in ("db", "db-wal", "db-shm", "lock")),
    )
    folders = (".", "sessions", "blobs", f"blobs/{digest[:2]}")
    assert modes == dict.fromkeys(folders, 0o700) | dict.fromkeys(files, 0o600)
    close(journal)


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"FERRULE_HOME": "/f", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/f"),
        ({"FERRULE_HOME": "", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/ferrule"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/ferrule"),
        ({"HOME": "/h"}, "/h/.local/state/ferrule"),
    ],
)
def test_state_folder_follows_the_environment(environ: dict[str, str], folder: str) -> None:
    assert state_folder(environ) == Path(folder)
