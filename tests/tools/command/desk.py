"""Command tools with real processes and blobs, several calls in one session."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from ferrule.attempt.masked import MaskedBlobs
from ferrule.context.secrets import Mask
from ferrule.process.protocol import Processes
from ferrule.process.supervisor import Supervisor
from ferrule.store.blobs import FileBlobs
from ferrule.tools.base import Place, ToolContext
from ferrule.tools.command.execute_command import execute_command
from ferrule.tools.command.jobs import Jobs
from ferrule.tools.command.read_command_output import read_command_output
from ferrule.tools.command.stop_command import stop_command
from ferrule.tools.schema import parse
from ferrule.types.errors import ToolError
from ferrule.types.tools import ToolOutput, error

DEADLINE = 15.0


class Desk:
    """`heard` is what a front hears while commands run."""

    def __init__(self, root: Path, jobs: Jobs, processes: Processes, secrets: tuple[tuple[str, str], ...] = ()) -> None:
        self.root = root
        self.jobs = jobs
        self.heard: list[str] = []
        self.tools = {tool.name: tool for tool in (execute_command(jobs), read_command_output(jobs), stop_command(jobs))}
        self._processes = processes
        self._blobs = MaskedBlobs(FileBlobs(root.parent / "blobs"), Mask(secrets))
        self._calls = 0

    async def call(self, name: str, **arguments: object) -> ToolOutput:
        self._calls += 1
        environment = (("PATH", "/usr/bin:/bin"),)
        context = ToolContext(
            Place(self.root),
            self._processes,
            self._blobs,
            environment,
            call_id=f"call_{self._calls}",
            on_output=self.heard.append,
        )
        params = parse(self.tools[name], json.dumps(arguments))
        if isinstance(params, str):
            return error(params)
        try:
            return await self.tools[name].run(params, context)
        except ToolError as problem:
            return error(str(problem))

    async def run(self, command: str, **arguments: object) -> str:
        return text(await self.call("execute_command", command=command, **arguments))

    async def read(self, id: str | None = None, **arguments: object) -> str:
        return text(await self.call("read_command_output", **({} if id is None else {"id": id}), **arguments))

    async def stop(self, id: str) -> str:
        return text(await self.call("stop_command", id=id))


def text(output: ToolOutput) -> str:
    return "\n".join(part.text for part in output.parts)  # type: ignore[union-attr]  # no tool here returns images


def session(
    root: Path, work: Callable[[Desk], Awaitable[None]], jobs: Jobs | None = None, secrets: Iterable[tuple[str, str]] = ()
) -> None:
    """Do some work in a session, which is closed at its end."""

    async def whole() -> None:
        processes = Supervisor()
        commands = jobs or Jobs()
        try:
            await asyncio.wait_for(work(Desk(root, commands, processes, tuple(secrets))), DEADLINE)
        finally:
            await commands.close()
            await processes.close()

    asyncio.run(whole())


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110 files and processes tell nobody that they changed
            await asyncio.sleep(0.01)
