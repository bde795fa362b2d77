import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from ferrule.store.sessions import Sessions
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
