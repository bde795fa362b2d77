"""The processes of a session as long as the session is ours: whoever took it over works in the same folder."""

import asyncio
import time
from collections.abc import Callable

from ferrule.process.protocol import Command, Ended, Processes
from ferrule.store.protocol import Journal
from ferrule.types.errors import StoreError

LOOK = 0.5
"""Seconds between two looks at the lease while a command runs."""


class OwnedProcesses:
    """Implements `Processes`. Once the lease is lost, what runs is ended and nothing is begun.

    Model calls need no such thing: they change nothing, and an answer that arrives can still be told.
    """

    def __init__(self, processes: Processes, journal: Journal) -> None:
        self._processes = processes
        self._journal = journal

    async def run(self, command: Command, on_output: Callable[[bytes], None]) -> Ended:
        if lost := await self._lost():
            return Ended(None, None, 0.0, error=f"the command was not started: {lost}")
        began = time.monotonic()
        running = asyncio.create_task(self._processes.run(command, on_output))
        try:
            while not (await asyncio.wait([running], timeout=LOOK))[0]:
                if lost := await self._lost():
                    await _end(running)
                    return Ended(None, None, time.monotonic() - began, error=f"the command was ended: {lost}")
        except BaseException:
            await _end(running)
            raise
        return running.result()

    async def close(self) -> None:
        await self._processes.close()

    async def _lost(self) -> str:
        try:
            await self._journal.check()
        except StoreError as lost:
            return str(lost)
        return ""


async def _end(running: "asyncio.Task[Ended]") -> None:
    """Returns when the command and all below it were ended, which takes a bounded time, whoever cancels meanwhile."""
    running.cancel()
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError:
            continue
    if not running.cancelled():
        running.exception()
