"""A task whose provider, journal, processes and outputs are the real ones until a chosen moment, at which one of them fails."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import NamedTuple, get_args

import msgspec

from ferrule.attempt.lineup import Candidate, Lineup
from ferrule.process.protocol import Command, Ended, Processes
from ferrule.providers.base import Endpoint, Provider
from ferrule.store.protocol import Blobs, BlobWriter, Journal
from ferrule.task.config.schema import Config
from ferrule.task.open import TaskOptions, open_task
from ferrule.types.errors import LeaseLost, StoreError
from ferrule.types.fault import Fault, FaultCode
from ferrule.types.records import Entry, Record
from ferrule.types.request import Request
from ferrule.types.result import RunResult
from ferrule.types.stream import Failed, StreamEvent
from ferrule.types.usage import NOTHING

from .opening import Step, call, ends, script, step

WORK: tuple[Step, ...] = (
    step(
        call("read_file", path="a.txt"),
        call("list_files", path="."),
        call("execute_command", command="seq 1 9000; echo one >> done"),
    ),
    step(
        call("edit", file_path="a.txt", old_string="a", new_string="b"),
        call("write_to_file", path="c.txt", content="c\n"),
        text="Now.",
    ),
    {"text": "I am done, I think."},
    step(call("update_todo_list", todos="[x] all")),
    {**ends(), "times": "always"},
)

CODES: tuple[FaultCode, ...] = get_args(FaultCode)
PROVIDER = (*(f"fault {code}" for code in CODES), "raises", "stops", "interrupt")
KINDS: dict[str, tuple[str, ...]] = {
    "append": ("disk", "lost", "interrupt"),
    "appended": ("interrupt",),
    "check": ("disk", "lost", "interrupt"),
    "event": PROVIDER,
    "process": ("error", "interrupt"),
    "output": ("disk", "interrupt"),
}
"""Where something can fail, and how."""


class Break(NamedTuple):
    """At the `number`th time that the engine comes by `place`, counted from 1."""

    place: str
    number: int
    what: str


class Breaking:
    """Counts how often the engine comes by each place."""

    def __init__(self, at: Break | None) -> None:
        self.at = at
        self.seen = dict.fromkeys(KINDS, 0)
        self.interrupt: Callable[[], None] = lambda: None
        self.struck = False

    def due(self, place: str) -> str:
        """How it fails this time, empty where it does not."""
        self.seen[place] += 1
        if self.at is None or (place, self.seen[place]) != self.at[:2]:
            return ""
        self.struck = True
        if self.at.what == "interrupt":
            self.interrupt()
            return ""
        return self.at.what

    def store(self, place: str) -> None:
        match self.due(place):
            case "disk":
                raise StoreError("the disk is full")
            case "lost":
                raise LeaseLost("somebody else has it")


class BreakingJournal:
    def __init__(self, journal: Journal, breaking: Breaking) -> None:
        self._journal, self._breaking = journal, breaking
        self._lost = False

    @property
    def session(self) -> str:
        return self._journal.session

    async def append(self, *entries: Entry, branch: str = "main") -> tuple[Record, ...]:
        self._fails("append")
        records = await self._journal.append(*entries, branch=branch)
        self._breaking.due("appended")
        return records

    async def check(self) -> None:
        self._fails("check")
        await self._journal.check()

    def _fails(self, place: str) -> None:
        """A lease that is lost stays lost."""
        if self._lost:
            raise LeaseLost("somebody else has it")
        try:
            self._breaking.store(place)
        except LeaseLost:
            self._lost = True
            raise

    def records(self, since: int = 0, branch: str | None = None) -> AsyncIterator[Record]:
        return self._journal.records(since, branch)

    def head(self, branch: str = "main") -> str:
        return self._journal.head(branch)

    async def close(self) -> None:
        await self._journal.close()


class BreakingProvider:
    def __init__(self, provider: Provider, breaking: Breaking) -> None:
        self._provider, self._breaking = provider, breaking

    @property
    def endpoint(self) -> Endpoint:
        return self._provider.endpoint

    async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        async for event in self._provider.stream(request):
            what = self._breaking.due("event")
            if what.startswith("fault "):
                code = next(code for code in CODES if what == f"fault {code}")
                yield Failed(Fault(code, "as the test says", retry_after=0.0), (), NOTHING)
                return
            if what == "raises":
                raise RuntimeError("a bug of the provider")
            if what == "stops":
                return
            yield event
            await asyncio.sleep(0)

    async def close(self) -> None:
        await self._provider.close()


class BreakingProcesses:
    def __init__(self, processes: Processes, breaking: Breaking) -> None:
        self._processes, self._breaking = processes, breaking

    async def run(self, command: Command, on_output: Callable[[bytes], None]) -> Ended:
        if self._breaking.due("process"):
            return Ended(None, None, 0.0, error="it cannot be started")
        return await self._processes.run(command, on_output)

    async def close(self) -> None:
        await self._processes.close()


class BreakingBlobs:
    def __init__(self, blobs: Blobs, breaking: Breaking) -> None:
        self._blobs, self._breaking = blobs, breaking

    def writer(self) -> BlobWriter:
        return BreakingWriter(self._blobs.writer(), self._breaking)

    def read(self, digest: str, offset: int = 0, limit: int | None = None) -> bytes:
        return self._blobs.read(digest, offset, limit)

    def size(self, digest: str) -> int:
        return self._blobs.size(digest)


class BreakingWriter:
    def __init__(self, writer: BlobWriter, breaking: Breaking) -> None:
        self._writer, self._breaking = writer, breaking

    def write(self, data: bytes) -> None:
        self._breaking.store("output")
        self._writer.write(data)

    def so_far(self, offset: int, limit: int, then: bytes = b"") -> tuple[bytes, int]:
        return self._writer.so_far(offset, limit, then)

    def finish(self) -> str:
        self._breaking.store("output")
        return self._writer.finish()

    def discard(self) -> None:
        self._writer.discard()


class Broken(NamedTuple):
    """How a run ended, and every record of its session."""

    result: RunResult
    records: tuple[Record, ...]
    breaking: Breaking


def prepared(base: Path) -> Path:
    folder = base / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("a\n")
    return folder


def play(base: Path, at: Break | None, prompt: str | None = "Do it.", resume: bool = False) -> Broken:
    """The work, or the rest of it, in a session below `base`."""
    options = TaskOptions(
        prompt=prompt,
        folder=base / "project",
        config=Config(approve="all", verify=("true",), model=script(base, *WORK)),
        environ={"PATH": os.environ["PATH"], "HOME": str(base), "FERRULE_HOME": str(base / "state")},
        user_folder=base / "user",
        resume="latest" if resume else None,
    )
    return asyncio.run(_played(options, at))


async def _played(options: TaskOptions, at: Break | None) -> Broken:
    task = await open_task(options)
    breaking = Breaking(at)
    breaking.interrupt = task.interrupt
    setup = task.setup
    setup.log.journal = BreakingJournal(setup.log.journal, breaking)
    task.setup = msgspec.structs.replace(
        setup,
        lineup=Lineup([Candidate(BreakingProvider(setup.provider, breaking))]),
        processes=BreakingProcesses(setup.processes, breaking),
        blobs=BreakingBlobs(setup.blobs, breaking),
    )
    try:
        result = await task.run()
        records = [record async for record in setup.log.journal.records()]
    finally:
        await task.close()
    return Broken(result, tuple(records), breaking)
