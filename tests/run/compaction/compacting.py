"""A conversation in a real journal, compacted by a scripted model that answers requests for a summary."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from ferrule.attempt.ledger import Ledger
from ferrule.attempt.lineup import Candidate, Lineup
from ferrule.attempt.setup import Setup
from ferrule.context.shrink import Shrinking
from ferrule.providers.base import Endpoint, Profile
from ferrule.providers.scripted.provider import ScriptedProvider
from ferrule.run.compaction import Compacted, NotCompacted, compact
from ferrule.run.summary import Bounds
from ferrule.task.config.schema import Config
from ferrule.task.open import TaskOptions, open_task
from ferrule.types.messages import Assistant, Message, Text, ToolCall, ToolResult, User
from ferrule.types.records import AssistantSaid, CallFinished, Entry, TodosSet, UserSaid
from ferrule.types.request import Request
from ferrule.types.result import Limits
from ferrule.types.stream import StreamEvent
from ferrule.types.tools import Todo
from ferrule.types.usage import NOTHING

HEADINGS = ("Progress", "Decisions", "Open TODOs", "Constraints/Rules", "Pending user asks", "Exact identifiers")
FAST = Bounds(pause=0.001, longest_pause=0.002)


def handover(text: str = "The parser was repaired.") -> str:
    return "\n\n".join([f"## {HEADINGS[0]}\n{text}", *(f"## {heading}\nnone" for heading in HEADINGS[1:])])


def summary(text: str = "The parser was repaired.", **more: Any) -> dict[str, Any]:
    return {"text": handover(text), **more}


def person(text: str) -> Entry:
    return UserSaid(User((Text(text),)), "person")


def turn(id: str, result: str = "word " * 150, text: str = "I look.", **arguments: str) -> tuple[Entry, Entry]:
    call = ToolCall(id, "read_file", json.dumps(arguments or {"path": "notes"}))
    said = Assistant((Text(text), call), "calls", "scripted/s")
    return AssistantSaid(said, NOTHING, 0.0), CallFinished(ToolResult(id, "read_file", "ok", (Text(result),)), 0.0)


def turns(count: int, first: int = 1, **more: Any) -> list[Entry]:
    return [entry for number in range(first, first + count) for entry in turn(f"c{number}", **more)]


def todos(*texts: str) -> Entry:
    return TodosSet(tuple(Todo(text, "pending") for text in texts))


class Recorder:
    """Stands between the engine and the scripted model and keeps every request."""

    def __init__(self, inner: ScriptedProvider, endpoint: Endpoint) -> None:
        self._inner = inner
        self.endpoint = endpoint
        self.requests: list[Request] = []
        self.asked = asyncio.Event()

    async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        self.requests.append(request)
        self.asked.set()
        async for event in self._inner.stream(request):
            yield event

    async def close(self) -> None:
        await self._inner.close()


class Case(NamedTuple):
    setup: Setup
    ledger: Ledger
    requests: list[Request]
    asked: asyncio.Event

    async def compact(self, **more: Any) -> Compacted | NotCompacted:
        why = more.pop("why", "overflow")
        return await compact(self.setup, self.ledger, why, bounds=more.pop("bounds", FAST), **more)

    @property
    def sent(self) -> tuple[Message, ...]:
        """What a request would send now."""
        return Shrinking().of(self.setup.log.conversation)


Working = Callable[[Case], Awaitable[Any]]


def drive(
    folder: Path,
    working: Working,
    said: list[Entry],
    steps: list[dict[str, Any]],
    window: int | None = 32_000,
    limits: Limits | None = None,
    environ: dict[str, str] | None = None,
    **script: Any,
) -> Any:
    """Tell the journal what was said, then do `working` with it. The model plays `steps`."""

    async def all_of_it() -> Any:
        file = folder / "summaries.json"
        file.write_text(json.dumps({"version": 1, "steps": steps, **script}))
        project = folder / "project"
        project.mkdir(exist_ok=True)
        config = msgspec.structs.replace(Config(approve="all"), model=f"scripted/{file}")
        given = {"PATH": "/usr/bin:/bin", "HOME": str(folder), **(environ or {})}
        task = await open_task(TaskOptions("Do it.", project, config, given, folder / "user", no_session=True))
        try:
            endpoint = msgspec.structs.replace(task.setup.provider.endpoint, profile=Profile(window=window))
            provider = Recorder(ScriptedProvider(endpoint), endpoint)
            setup = replace(task.setup, lineup=Lineup([Candidate(provider)]))
            await setup.log.add(*said)
            return await working(Case(setup, Ledger(limits or Limits()), provider.requests, provider.asked))
        finally:
            await task.close()

    return asyncio.run(all_of_it())
