import asyncio
import os
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from ferrule.store.journal import open_journal
from ferrule.store.lease import seize_lease
from ferrule.store.sessions import Sessions
from ferrule.types.errors import LeaseHeld
from ferrule.types.messages import Text
from ferrule.types.records import UserSaid

from .processes import Writer, writer


def remove_lock_file(state: Path, id: str, old: Writer) -> None:
    (state / "sessions" / f"{id}.lock").unlink()


def give_up_flock(state: Path, id: str, old: Writer) -> None:
    assert old.ask("unlock") == "unlocked"


async def texts(state: Path, id: str) -> list[str]:
    entries = [record.entry async for record in Sessions(state).reader(id).records()]
    return [
        part.text for entry in entries if isinstance(entry, UserSaid) for part in entry.message.parts if isinstance(part, Text)
    ]


@pytest.mark.parametrize("bypass", [remove_lock_file, give_up_flock])
def test_stale_writer_cannot_append_after_a_takeover(tmp_path: Path, bypass: Callable[[Path, str, Writer], None]) -> None:
    with writer() as old, writer() as new:
        id = old.ask("create", tmp_path, "/project").removeprefix("opened ")
        assert old.ask("append", "before") == "stored 2"

        bypass(tmp_path, id, old)
        assert new.ask("open", tmp_path, id) == f"opened {id}"

        assert old.ask("append", "stale").startswith("LeaseLost ")
        assert new.ask("append", "after") == "stored 3"
        assert old.ask("append", "stale again").startswith("LeaseLost ")
        assert new.ask("close") == "closed"
        assert old.ask("append", "stale for ever").startswith("LeaseLost ")

    assert asyncio.run(texts(tmp_path, id)) == ["before", "after"]
    assert Sessions(tmp_path).reader(id).verify() is None


def test_second_process_is_refused_while_the_first_lives_and_told_its_pid(tmp_path: Path) -> None:
    with writer() as old, writer() as new:
        id = old.ask("create", tmp_path, "/project").removeprefix("opened ")
        refusal = new.ask("open", tmp_path, id)
        assert refusal.startswith("LeaseHeld ")
        assert str(old.process.pid) in refusal
        assert old.ask("append", "still mine") == "stored 2"

        old.kill()
        assert new.ask("open", tmp_path, id) == f"opened {id}"
        assert new.ask("append", "mine now") == "stored 3"


def begin(state: Path, old: Writer) -> str:
    id = old.ask("create", state, "/project").removeprefix("opened ")
    assert old.ask("append", "before") == "stored 2"
    return id


@pytest.mark.parametrize("locks", [True, False], ids=["locks", "no locks"])
@pytest.mark.parametrize("stopped", [False, True], ids=["running", "stopped"])
def test_living_holder_is_superseded_at_once_and_named(tmp_path: Path, locks: bool, stopped: bool) -> None:
    with writer() as old, writer() as new:
        for each in (old, new):
            assert locks or each.ask("nolocks") == "no locks"
        id = begin(tmp_path, old)
        if stopped:
            old.process.send_signal(signal.SIGSTOP)
            until(lambda: state_of(old) == "T")
        told = f"process {old.process.pid}" + (", which is stopped (kill -CONT wakes it)" if stopped else "")
        assert new.ask("open", tmp_path, id) == f"LeaseHeld Session {id} is open for writing in {told}. Close it there first."
        assert new.ask("take", tmp_path, id) == f"taken from {told}"
        assert new.ask("append", "after") == "stored 3"
        assert new.ask("gone") == "False"
        old.process.send_signal(signal.SIGCONT)
        assert old.ask("check").startswith(f"LeaseLost Session {id} was taken over")
        assert old.ask("append", "stale").startswith("LeaseLost ")
        assert old.ask("close") == "closed"
        assert new.ask("gone") == "True"
        assert new.ask("check") == "held"
    assert asyncio.run(texts(tmp_path, id)) == ["before", "after"]
    assert Sessions(tmp_path).reader(id).verify() is None


@pytest.mark.parametrize("locks", [True, False], ids=["locks", "no locks"])
def test_session_of_a_dead_process_is_free_at_once(tmp_path: Path, locks: bool) -> None:
    with writer() as old, writer() as new:
        for each in (old, new):
            assert locks or each.ask("nolocks") == "no locks"
        id = begin(tmp_path, old)
        old.kill()
        assert new.ask("take", tmp_path, id) == "taken from nobody"
        assert new.ask("close") == "closed"
        assert new.ask("open", tmp_path, id) == f"opened {id}"


def test_without_locks_a_process_with_the_number_of_the_dead_one_holds_nothing(tmp_path: Path) -> None:
    with writer() as old, writer() as new:
        assert (old.ask("nolocks"), new.ask("nolocks")) == ("no locks", "no locks")
        id = begin(tmp_path, old)
        lock = tmp_path / "sessions" / f"{id}.lock"
        pid, machine, born, _ = lock.read_text().split("\n")
        for written in (f"{pid}\n{machine}\n{int(born) - 1}\n", f"{pid}\nanother machine\n{born}\n"):
            lock.write_text(written)
            assert new.ask("open", tmp_path, id) == f"opened {id}"
            assert new.ask("close") == "closed"
        lock.write_text(f"{pid}\n{machine}\n{born}\n")
        assert new.ask("open", tmp_path, id).startswith("LeaseHeld ")


def test_holder_whose_taker_died_before_it_raised_the_epoch_writes_on(tmp_path: Path) -> None:
    with writer() as old, writer() as new:
        id = begin(tmp_path, old)
        lock = tmp_path / "sessions" / f"{id}.lock"
        seize_lease(lock).release()
        assert old.ask("append", "mine still") == "stored 3"
        assert new.ask("open", tmp_path, id) == f"opened {id}"
        assert old.ask("append", "stale").startswith("LeaseLost ")
        assert new.ask("append", "after") == "stored 4"
    assert asyncio.run(texts(tmp_path, id)) == ["before", "mine still", "after"]


def test_holder_that_stands_still_while_it_writes_is_not_taken_over_and_goes_on(tmp_path: Path) -> None:
    with writer() as old, writer() as new:
        id = begin(tmp_path, old)
        with closing(sqlite3.connect(tmp_path / "sessions" / f"{id}.db", isolation_level=None)) as writing:
            writing.execute("BEGIN IMMEDIATE")
            assert "is in use by another process and did not become free" in new.ask("take", tmp_path, id)
            writing.execute("ROLLBACK")
        assert old.ask("append", "mine still") == "stored 3"
        assert new.ask("take", tmp_path, id) == "taken from nobody"
        assert old.ask("append", "stale").startswith("LeaseLost ")


def test_lease_that_was_taken_over_before_the_journal_was_opened_opens_nothing(tmp_path: Path) -> None:
    with writer() as winner:
        id = begin(tmp_path, winner)
        lock = tmp_path / "sessions" / f"{id}.lock"
        slow = seize_lease(lock)
        assert winner.ask("take", tmp_path, id) == f"taken from process {os.getpid()}"
        with pytest.raises(LeaseHeld, match="at this moment"):
            open_journal(lock.with_suffix(".db"), slow)
        assert winner.ask("append", "still the last") == "stored 3"


def test_of_takers_at_once_one_writes_and_each_other_knows_that_it_does_not(tmp_path: Path) -> None:
    with writer() as old, ExitStack() as more:
        id = begin(tmp_path, old)
        takers = [more.enter_context(writer()) for _ in range(4)]
        for round in range(6):
            for taker in takers:
                taker.send("take", tmp_path, id)
            said = [taker.stdout.readline() for taker in takers]
            assert all(line.startswith(("taken from ", "LeaseHeld ")) for line in said), said
            took = [taker for taker, line in zip(takers, said, strict=True) if line.startswith("taken from ")]
            stored = [taker.ask("append", f"round {round}") for taker in took]
            assert sorted(line.split()[0] for line in stored) == ["LeaseLost"] * (len(took) - 1) + ["stored"], stored
            winner = took[[line.split()[0] for line in stored].index("stored")]
            lock = tmp_path / "sessions" / f"{id}.lock"
            assert lock.read_text() == f"{winner.process.pid}\n"
            for taker in took:
                taker.ask("close")
    assert asyncio.run(texts(tmp_path, id)) == ["before", *(f"round {round}" for round in range(6))]
    assert Sessions(tmp_path).reader(id).verify() is None


def state_of(held: Writer) -> str:
    return Path(f"/proc/{held.process.pid}/stat").read_text().rpartition(")")[2].split()[0]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)
