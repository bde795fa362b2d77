"""What is kept in order behind the attempts of a stored session."""

import asyncio
import os
import time
from pathlib import Path

from ferrule.task.config.schema import Config
from ferrule.task.open import TaskOptions, open_task
from ferrule.types.outcome import Outcome
from tests.engine.opening import ends, script


def test_what_killed_writers_left_is_removed_after_a_day_and_not_before(tmp_path: Path) -> None:
    blobs = tmp_path / "state" / "blobs"
    blobs.mkdir(parents=True)
    old, young, blob = blobs / ".writing-old", blobs / ".writing-young", blobs / "ab" / ("c" * 62)
    blob.parent.mkdir()
    for file in (old, young, blob):
        file.write_bytes(b"output")
    for file in (old, blob):
        os.utime(file, (time.time() - 90_000,) * 2)
    (tmp_path / "project").mkdir()
    options = TaskOptions(
        prompt="Do it.",
        folder=tmp_path / "project",
        config=Config(approve="all", model=script(tmp_path, ends())),
        environ={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "FERRULE_HOME": str(tmp_path / "state")},
        user_folder=tmp_path / "user",
    )

    async def go() -> Outcome:
        task = await open_task(options)
        try:
            return (await task.run()).outcome
        finally:
            await task.close()

    assert asyncio.run(go()) is Outcome.FINISHED
    assert [file.exists() for file in (old, young, blob)] == [False, True, True]
