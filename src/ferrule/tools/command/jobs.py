"""The commands of one session: those that run, and what is kept of those that ran."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from ferrule.process.protocol import Command
from ferrule.tools.base import ToolContext
from ferrule.types.errors import StoreError, ToolError
from ferrule.types.records import Process, ProcessEnd

from .job import Job

CLOSED = "the session was closed"
PREFIX = "cmd_"

Recorder = Callable[[Process], Awaitable[object]]


class Running(NamedTuple):
    """A command that runs, for a front. `handle` is empty while it runs in the foreground, for the call `call_id`."""

    handle: str
    call_id: str
    command: str
    seconds: float


class Jobs:
    """`record` makes durable what happens to a command with a handle, `known` are the last such records by their handles, also
    those of earlier runs. `limit` is the person's, in seconds: what was not started for the background is ended by then.

    Foreground or background is only whether a call waits for the command. Whoever closes this ends all that runs.
    """

    def __init__(
        self, record: Recorder | None = None, known: Mapping[str, Process] | None = None, limit: float | None = None
    ) -> None:
        self._own: dict[str, Process] = {}
        self._record = record or self._remember
        self.known = self._own if known is None else known
        self.limit = limit
        self._jobs: list[Job] = []
        self._shown: dict[str, tuple[int, bytes]] = {}
        self._numbers = 0

    async def _remember(self, process: Process) -> None:
        self._own[process.handle] = process

    @property
    def background(self) -> tuple[Job, ...]:
        return tuple(job for job in self._jobs if job.background and job.ended is None)

    @property
    def running(self) -> tuple[Running, ...]:
        return tuple(Running(job.name, job.call_id, job.line, job.seconds) for job in self._jobs if job.ended is None)

    def start(self, line: str, command: Command, context: ToolContext) -> Job:
        """In the foreground."""
        job = Job(context.call_id, line, context.blobs)
        job.task = asyncio.create_task(self._watch(job, command, context))
        self._jobs.append(job)
        return job

    async def detach(self, job: Job) -> None:
        """Nobody waits for it any more; from here on it has a handle, and its end is recorded."""
        self._name(job)
        job.background = True
        job.output.keep()
        await self._record(Process(job.name, job.call_id, job.line))

    async def keep(self, job: Job) -> None:
        """Give an ended command a handle, by which the whole of its output can be read."""
        self._name(job)
        await self._record(Process(job.name, job.call_id, job.line, how_it_ended(job, told=True)))

    async def drop(self, job: Job) -> None:
        """End a command that nobody wants to know of any more, and forget it."""
        await job.end()
        job.output.discard()
        self._forget(job)

    async def stop(self, job: Job) -> None:
        """End it; its output and its end stay known."""
        job.stopped = True
        await job.end()

    def let_go(self, call_id: str, words: str = "") -> bool:
        """For a front: the command of this call goes on in the background, and the model is told what the person says.

        False where no command runs for that call.
        """
        found = [job for job in self._jobs if job.call_id == call_id and job.ended is None and not job.background]
        for job in found:
            job.let_go(words)
        return bool(found)

    def find(self, id: str) -> Job | Process:
        """By handle or by the id of the call that started it; a process that is over is its last record. Raises ToolError."""
        for job in self.background:
            if id in (job.name, job.call_id):
                return job
        found = [process for process in self.known.values() if id in (process.handle, process.call_id)]
        if not found:
            some = ", ".join([*self.known][-10:])
            raise ToolError(f"There is no command {id!r}. " + (f"Known: {some}." if some else "No command has a handle yet."))
        return found[-1]

    def shown(self, handle: str) -> tuple[int, bytes]:
        return self._shown.get(handle, (0, b""))

    def show(self, handle: str, settled: int, rest: bytes) -> None:
        """So far its output was shown."""
        self._shown[handle] = (settled, rest)

    def show_all(self, job: Job) -> None:
        """Its output was shown to where it is now."""
        with contextlib.suppress(StoreError):
            size = job.output.slice(0, 0)[1]
            settled = job.output.settled(size)
            self.show(job.name, settled, job.output.slice(settled, size)[0])

    async def close(self) -> None:
        """End all; what the background processes printed can be read when the session goes on."""
        for job in list(self._jobs):
            if job.background:
                job.closing = True
                await self.stop(job)
            else:
                await self.drop(job)

    def _name(self, job: Job) -> None:
        if not job.name:
            taken = (int(each.removeprefix(PREFIX)) for each in self.known if each.removeprefix(PREFIX).isdecimal())
            self._numbers = max(self._numbers, 0, *taken) + 1
            job.name = f"{PREFIX}{self._numbers}"

    async def _watch(self, job: Job, command: Command, context: ToolContext) -> None:
        """Whoever waits for a command in the foreground is told of bugs; of one in the background they are its end."""
        try:
            await job.run(context.processes, command, context.on_output)
        except Exception as bug:
            if not job.background:
                raise
            job.fail(f"it failed inside Ferrule: {type(bug).__name__}: {bug}")
        if job.background:
            told = job.waiting > 0 or (job.stopped and not job.closing)
            with contextlib.suppress(StoreError):
                await self._record(Process(job.name, job.call_id, job.line, how_it_ended(job, told)))
        self._forget(job)

    def _forget(self, job: Job) -> None:
        if job in self._jobs:
            self._jobs.remove(job)


def how_it_ended(job: Job, told: bool) -> ProcessEnd:
    ended = job.ended
    assert ended is not None
    error = CLOSED if job.closing else ended.error or ""
    return ProcessEnd(
        exit_code=ended.exit_code,
        signal=ended.signal,
        seconds=round(ended.seconds, 3),
        timed_out=ended.timed_out,
        left=ended.left,
        stopped=job.stopped and not job.closing,
        error=error,
        output=job.output.digest,
        told=told,
    )
