"""Hooks as they are configured, asked for real: the runner, its processes and its journal."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ferrule.attempt.log import Log
from ferrule.context.secrets import Mask
from ferrule.process.protocol import allowed_environment
from ferrule.process.supervisor import Supervisor
from ferrule.run.hooks.hook import Hook
from ferrule.run.hooks.runner import HookRunner
from ferrule.store.folds import Conversation
from ferrule.store.journal import memory_journal
from ferrule.tools.base import Place
from ferrule.types.messages import ToolCall
from ferrule.types.records import HookRan

T = TypeVar("T")
CALL = ToolCall("call_1", "edit", '{"path":"a"}')


@dataclass
class Heard:
    """The records of the hooks that ran; `seconds` are taken out, since they differ."""

    ran: list[HookRan]

    @property
    def verdicts(self) -> list[tuple[str, str]]:
        return [(each.name, each.verdict) for each in self.ran]


def ask(
    folder: Path, hooks: list[Hook], question: Callable[[HookRunner], Awaitable[T]], secrets: tuple[tuple[str, str], ...] = ()
) -> tuple[T, Heard]:
    async def asked() -> tuple[T, Heard]:
        journal, processes = memory_journal(str(folder), "code"), Supervisor()
        environment = allowed_environment({**os.environ, "CANARY": "sings"})
        runner = HookRunner(tuple(hooks), Log(journal, Conversation()), Place(folder), processes, environment, Mask(secrets))
        try:
            said = await question(runner)
            records = [record.entry async for record in journal.records()]
        finally:
            await processes.close()
            await journal.close()
        return said, Heard([entry for entry in records if isinstance(entry, HookRan)])

    return asyncio.run(asked())
