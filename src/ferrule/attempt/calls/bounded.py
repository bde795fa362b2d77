"""Waiting for work that may never return."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

PATIENCE = 20.0
"""Seconds that cancelled work may take to end what it has started; then it is left to itself."""

T = TypeVar("T")


class TimedOut(Exception):
    """No result came in time; the work was cancelled."""


async def within(seconds: float | None, work: Coroutine[Any, Any, T], patience: float = PATIENCE) -> T:
    """What `work` returns or raises, or TimedOut. Cancelling cancels the work and waits for its end, for `patience` at most.

    Unlike `asyncio.timeout`, this returns also where the work does not heed its cancellation.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task], timeout=seconds)
    except asyncio.CancelledError:
        await _end(task, patience)
        raise
    if not task.done():
        await _end(task, patience)
        raise TimedOut
    if task.cancelled():
        raise RuntimeError("it was cancelled from within")
    return task.result()


async def _end(task: asyncio.Task[Any], patience: float) -> None:
    """A further cancellation meanwhile is for who waits for us: it is on its way already, or follows from our end."""
    task.cancel()
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience
    while not task.done() and (left := deadline - loop.time()) > 0:
        try:
            await asyncio.wait([task], timeout=left)
        except asyncio.CancelledError:
            continue
    if task.done() and not task.cancelled():
        task.exception()
