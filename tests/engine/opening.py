"""Runs whole tasks in this process: the real engine, tools, processes and journal; a script plays the model."""

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ferrule.task.config.schema import Config
from ferrule.task.open import TaskOptions, open_task
from ferrule.types.records import Record
from ferrule.types.result import RecordAdded, RunResult

Step = dict[str, Any]


class Ran(NamedTuple):
    """A run's result and every record of its session; `prompt` holds the sections of the system prompt."""

    result: RunResult
    records: tuple[Record, ...]
    prompt: tuple[str, ...]

    def entries(self, kind: type[Any]) -> list[Any]:
        return [record.entry for record in self.records if isinstance(record.entry, kind)]


def call(name: str, /, **arguments: Any) -> Step:
    return {"name": name, "arguments": arguments}


def step(*calls: Step, **more: Any) -> Step:
    return {"calls": list(calls), **more}


def ends(result: str = "Done.") -> Step:
    return step(call("attempt_completion", result=result))


def script(folder: Path, *steps: Step, **more: Any) -> str:
    file = folder / "script.json"
    file.write_text(json.dumps({"version": 1, "steps": list(steps), **more}))
    return f"scripted/{file}"


def run(
    folder: Path,
    *steps: Step,
    prompt: str = "Do it.",
    config: Config | None = None,
    environ: Mapping[str, str] | None = None,
    **more: Any,
) -> Ran:
    """One task without a session in `folder`/project, with every approval unless `config` says otherwise."""
    project = folder / "project"
    project.mkdir(exist_ok=True)
    settings = msgspec.structs.replace(config or Config(approve="all"), model=script(folder, *steps))
    options = TaskOptions(
        prompt=prompt,
        folder=project,
        config=settings,
        environ={"PATH": os.environ["PATH"], "HOME": str(folder), **(environ or {})},
        user_folder=folder / "user",
        no_session=True,
        **more,
    )
    return asyncio.run(_driven(options))


async def _driven(options: TaskOptions) -> Ran:
    task = await open_task(options)
    try:
        result = await task.run()
        records = [event.record async for event in task.events() if isinstance(event, RecordAdded)]
        return Ran(result, tuple(records), task.setup.system)
    finally:
        await task.close()
