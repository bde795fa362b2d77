"""A finder over a real folder, with real processes, and what anybody may compare it with."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from ferrule.process.protocol import allowed_environment
from ferrule.process.supervisor import Supervisor
from ferrule.types.found import Found
from ferrule.types.names import spell
from ferrule.workspace.finding.finder import Finder
from ferrule.workspace.walk import walk

PATIENCE = 20.0
EVERYTHING = 1_000_000


@asynccontextmanager
async def finding(root: Path, follow: bool = True, settled: bool = True) -> AsyncIterator[Finder]:
    processes = Supervisor()
    finder = Finder.open(root, processes, allowed_environment(os.environ), follow)
    try:
        if settled:
            assert await finder.settled(PATIENCE)
        yield finder
    finally:
        await finder.close()
        await processes.close()


def live(root: Path, body: Callable[[Finder], Awaitable[None]], follow: bool = True, settled: bool = True) -> None:
    async def run() -> None:
        async with finding(root, follow, settled) as finder:
            await body(finder)

    asyncio.run(run())


async def held(finder: Finder) -> set[str]:
    found = await finder.query("", EVERYTHING)
    assert found.total == found.known == len(found.items)
    return {item.path for item in found.items}


def scanned(root: Path) -> set[str]:
    """What a full scan finds."""
    return {spell(os.path.relpath(each.path, root)) + ("/" if each.folder else "") for each in walk(root, most=EVERYTHING)}


async def until(finder: Finder, holds: Callable[[set[str]], bool]) -> set[str]:
    """Wait for what is held to become so."""
    deadline = time.monotonic() + PATIENCE
    while not holds(now := await held(finder)):
        assert time.monotonic() < deadline, sorted(now)
        await asyncio.sleep(0.01)
    return now


def paths(found: Found) -> list[str]:
    return [item.path for item in found.items]
