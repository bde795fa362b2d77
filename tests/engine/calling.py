"""Carries out the calls of one answer with tools made for the test: the real journal, folds, policy and processes."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from ferrule.attempt.hooks import NO_HOOKS, Hooks
from ferrule.attempt.lineup import Lineup
from ferrule.attempt.log import Log
from ferrule.attempt.setup import Setup
from ferrule.attempt.tool_calls import Settled, settle
from ferrule.context.secrets import Mask
from ferrule.policy.decide import Approve, Policy
from ferrule.process.supervisor import Supervisor
from ferrule.store.blobs import FileBlobs
from ferrule.store.folds import Conversation
from ferrule.store.journal import memory_journal
from ferrule.tools.base import Place, Tool, ToolContext, no_actions
from ferrule.types.messages import Assistant, Results, ToolCall, ToolResult
from ferrule.types.records import AssistantSaid, CallFinished, Entry
from ferrule.types.result import RecordAdded, TaskEvent
from ferrule.types.tools import Action, Effect, ToolOutput, ok
from ferrule.types.usage import NOTHING


class Given(Struct, frozen=True):
    path: str = "a"


async def nothing(params: Given, context: ToolContext) -> ToolOutput:
    return ok(f"did {params.path}")


def writes(params: Given, place: Place) -> tuple[Action, ...]:
    return (Action("write", (str(place.resolve(params.path)),)),)


def tool(
    name: str,
    effect: Effect = Effect.READ,
    run: Callable[[Any, ToolContext], Awaitable[ToolOutput]] = nothing,
    actions: Callable[[Any, Place], tuple[Action, ...]] = no_actions,
    **more: Any,
) -> Tool:
    return Tool(name, f"Does {name}.", Given, effect, actions, run, **more)


def call(name: str, id: str = "", /, promoted: bool = False, **arguments: object) -> ToolCall:
    return ToolCall(id, name, json.dumps(arguments), promoted=promoted)


@dataclass
class Desk:
    """`heard` gets every entry as it becomes durable."""

    root: Path
    tools: tuple[Tool, ...]
    hooks: Hooks = NO_HOOKS
    approve: Approve = "all"
    timeout: float = 30.0
    secrets: tuple[tuple[str, str], ...] = ()
    heard: list[Entry] = field(default_factory=list)

    def settle(self, *calls: ToolCall, cancel_when: Callable[[Entry], bool] = lambda entry: False) -> list[ToolResult]:
        """The results as the next request shows them. Cancelled as soon as `cancel_when` says so of an entry."""
        return asyncio.run(self._settle(calls, cancel_when))

    def finished(self) -> list[CallFinished]:
        return [entry for entry in self.heard if isinstance(entry, CallFinished)]

    async def _settle(self, calls: tuple[ToolCall, ...], cancel_when: Callable[[Entry], bool]) -> list[ToolResult]:
        journal = memory_journal(str(self.root), "code")
        log = Log(journal, Conversation())
        setup = self.setup(log)
        calls = tuple(ToolCall(f"call_{n}", each.name, each.arguments, promoted=each.promoted) for n, each in enumerate(calls, 1))
        await log.add(AssistantSaid(Assistant(calls, "calls", "scripted/x"), NOTHING, 0.0))
        working: asyncio.Task[Settled] = asyncio.ensure_future(settle(setup, calls))

        def hear(event: TaskEvent) -> None:
            if isinstance(event, RecordAdded):
                self.heard.append(event.record.entry)
                if cancel_when(event.record.entry):
                    working.cancel()

        log.listeners.append(hear)
        try:
            await asyncio.wait([working])
            if not working.cancelled():
                working.result()
        finally:
            await setup.processes.close()
            await journal.close()
        return [part for message in log.conversation.messages if isinstance(message, Results) for part in message.parts]

    def setup(self, log: Log) -> Setup:
        return Setup(
            lineup=cast(Lineup, None),  # nobody is asked
            tools={each.name: each for each in self.tools},
            schemas=(),
            system=(),
            log=log,
            place=Place(self.root),
            processes=Supervisor(),
            blobs=FileBlobs(self.root / "blobs"),
            environment=(("PATH", "/usr/bin:/bin"),),
            policy=Policy(str(self.root), approve=self.approve),
            mask=Mask(self.secrets),
            hooks=self.hooks,
            tool_timeout=self.timeout,
        )
