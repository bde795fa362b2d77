import asyncio

import msgspec
import pytest

from ferrule.run.compaction import NotCompacted
from ferrule.task.config.schema import Config
from ferrule.task.open import TaskOptions, open_task
from ferrule.types.errors import UsageError
from tests.engine.opening import script


def test_a_task_is_not_compacted_while_it_is_driven(tmp_path):
    async def work():
        model = script(tmp_path, {"text": "hm", "fault": {"kind": "stall", "seconds": 60, "at": "start"}})
        (tmp_path / "project").mkdir()
        config = msgspec.structs.replace(Config(approve="all"), model=model)
        environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        task = await open_task(TaskOptions("Go.", tmp_path / "project", config, environ, tmp_path / "user", no_session=True))
        try:
            assert isinstance(await task.compact(), NotCompacted)
            with pytest.raises(UsageError, match="at most 4000"):
                await task.compact("x" * 4_001)
            running = asyncio.create_task(task.run())
            while task.driving is None:  # noqa: ASYNC110  # it is set once, by the first step of the run
                await asyncio.sleep(0)
            with pytest.raises(UsageError, match="running"):
                await task.compact()
            task.interrupt()
            await running
            assert isinstance(await task.compact(), NotCompacted)
        finally:
            await task.close()

    asyncio.run(work())
