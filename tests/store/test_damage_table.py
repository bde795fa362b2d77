"""Each way in which the files of a session are found damaged, and what of it is still read then."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from ferrule.store.sessions import Sessions
from ferrule.types.errors import StoreError, UsageError

from .entries import said
from .processes import writer
from .use import append, close, records

STORED = 40
"""Records of a session whose writer was killed; the last ones stand in the log alone."""

PAGE = 4096


class Files(NamedTuple):
    journal: Path
    log: Path


@pytest.fixture
def killed(tmp_path: Path) -> tuple[str, Files]:
    with writer() as doomed:
        id = doomed.ask("create", tmp_path, "/project").removeprefix("opened ")
        for number in range(2, STORED // 2 + 1):
            assert doomed.ask("append", f"{number} " + "x" * 3000) == f"stored {number}"
        assert doomed.ask("close") == "closed"
        assert doomed.ask("open", tmp_path, id) == f"opened {id}"
        for number in range(STORED // 2 + 1, STORED + 1):
            assert doomed.ask("append", f"{number} " + "x" * 3000) == f"stored {number}"
        doomed.kill()
    path = tmp_path / "sessions" / f"{id}.db"
    return id, Files(path, path.with_name(path.name + "-wal"))


def cut(path: Path, length: Callable[[int], int]) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: length(len(whole))])


def overwritten(path: Path, at: Callable[[int], int], data: bytes) -> None:
    whole = bytearray(path.read_bytes())
    start = at(len(whole))
    whole[start : start + len(data)] = data
    path.write_bytes(whole)


def changed(files: Files, statement: str) -> None:
    with closing(sqlite3.connect(files.journal)) as connection:
        connection.execute(statement)
        connection.commit()


Damage = Callable[[Files], None]

CASES: dict[str, tuple[Damage, int | None, str]] = {
    "nothing": (lambda files: None, STORED, ""),
    "the log is gone": (lambda files: files.log.unlink(), STORED // 2, ""),
    "the log is empty": (lambda files: cut(files.log, lambda size: 0), STORED // 2, ""),
    "the log is cut in its header": (lambda files: cut(files.log, lambda size: 20), STORED // 2, ""),
    "the log is cut in its last frame": (lambda files: cut(files.log, lambda size: size - 100), STORED - 1, ""),
    "the log is cut at a frame of its last commit": (
        lambda files: cut(files.log, lambda size: size - PAGE - 24), STORED - 1, ""),
    "the log has noise in its last frame": (
        lambda files: overwritten(files.log, lambda size: size - 60, b"noise"), STORED - 1, ""),
    "the log has NUL bytes at its end": (
        lambda files: overwritten(files.log, lambda size: size - PAGE, bytes(PAGE)), STORED - 1, ""),
    "the log has noise behind its end": (
        lambda files: overwritten(files.log, lambda size: size, b"\xff" * 10_000), STORED, ""),
    "the log is no log": (lambda files: overwritten(files.log, lambda size: 0, b"no log" * 1000), STORED // 2, ""),
    "the database is empty": (lambda files: cut(files.journal, lambda size: 0), None, "is not a journal of Ferrule"),
    "the database is NUL bytes": (
        lambda files: overwritten(files.journal, lambda size: 0, bytes(8 * PAGE)), None, "damaged"),
    "the database is cut in its first page": (lambda files: cut(files.journal, lambda size: 300), None, ""),
    "the database is gone": (lambda files: files.journal.unlink(), None, "No session is called"),
    "a record was changed": (
        lambda files: changed(files, "UPDATE records SET payload = CAST(replace(payload, '7 x', '8 x') AS BLOB) WHERE seq = 7"),
        6, "Record 7 of session {id} was changed or damaged: its hash does not match"),
    "a record is missing": (
        lambda files: changed(files, "DELETE FROM records WHERE seq = 9"),
        8, "Record 10 of session {id} was changed or damaged: record 9 is missing before it"),
    "the first record is missing": (
        lambda files: changed(files, "DELETE FROM records WHERE seq = 1"),
        0, "Record 2 of session {id} was changed or damaged: record 1 is missing before it"),
    "a record is no JSON": (
        lambda files: changed(files, "UPDATE records SET payload = x'00ff00' WHERE seq = 12"),
        11, "Record 12 of session {id} was changed or damaged: its hash"),
    "a record is nothing": (
        lambda files: changed(files, "UPDATE records SET payload = zeroblob(length(payload)) WHERE seq = 12"),
        11, "Record 12 of session {id} was changed or damaged: its hash"),
    "a record was put in": (
        lambda files: changed(
            files, "INSERT INTO records SELECT seq + 1000, branch, kind, time, payload, hash FROM records WHERE seq = 5"),
        STORED, "Record 1005 of session {id} was changed or damaged: record 41 is missing before it"),
    "a time is a word": (
        lambda files: changed(files, "UPDATE records SET time = 'noon' WHERE seq = 30"),
        29, "Record 30 of session {id} was changed or damaged: its time is not a number"),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "readable", "why"), CASES.values(), ids=CASES)
def test_what_stands_before_the_damage_is_read_and_the_damage_is_named(
    tmp_path: Path, killed: tuple[str, Files], damage: Damage, readable: int | None, why: str
) -> None:
    id, files = killed
    files.journal.with_name(files.journal.name + "-shm").unlink(missing_ok=True)
    damage(files)
    read, problem = read_all(tmp_path, id)
    assert read == (list(range(1, readable + 1)) if readable is not None else None)
    assert why.format(id=id) in problem
    assert bool(problem) == (readable is None or bool(why))


WITHOUT_AN_END = [name for name, (_, readable, why) in CASES.items() if readable and not why]


@pytest.mark.parametrize("case", WITHOUT_AN_END)
def test_session_that_lost_the_end_of_its_log_goes_on_from_its_last_whole_record(
    tmp_path: Path, killed: tuple[str, Files], case: str
) -> None:
    damage, readable, _ = CASES[case]
    id, files = killed
    damage(files)
    sessions = Sessions(tmp_path)
    journal = sessions.open(id)
    before = [record.seq for record in records(journal)]
    [record] = append(journal, said("further"))
    assert (len(before), record.seq) == (readable, len(before) + 1)
    assert journal.verify() is None
    close(journal)


def read_all(state: Path, id: str) -> tuple[list[int] | None, str]:
    """The numbers of the records up to the damage, None where there is no reading at all, and what was said."""
    read: list[int] = []

    async def every() -> None:
        async for record in Sessions(state).reader(id).records():
            read.append(record.seq)

    try:
        asyncio.run(every())
    except (StoreError, UsageError) as error:
        begun = read or str(error).startswith("Record ")
        return (read if begun else None), str(error)
    return read, ""
