"""A hook that is a Python function of a package in Ferrule's environment.

It runs in a thread of its own, with an event loop of its own where it is a coroutine function: one that never returns is left
behind and holds up nothing, not even the end of the program.
"""

import asyncio
import inspect
import threading
from collections.abc import Callable
from typing import Any

from .answer import Answer, Broken, of_value
from .hook import Hook

GROUP = "ferrule.hooks"


async def ask_function(hook: Hook, asked: dict[str, Any]) -> Answer | Broken:
    try:
        async with asyncio.timeout(hook.timeout):
            value = await _in_thread(lambda: _called(hook.python, asked))
    except TimeoutError:
        return Broken(f"it gave no answer within {hook.timeout:g} s and was left behind")
    return value if isinstance(value, Broken) else of_value(hook.event, value)


def _called(name: str, asked: dict[str, Any]) -> object:
    """What the function returns, or why there is nothing."""
    from importlib.metadata import EntryPoint, entry_points

    if ":" in name:
        found = EntryPoint(name, name, GROUP)
    elif named := entry_points(group=GROUP).select(name=name):
        found = next(iter(named))
    else:
        return Broken(f"no installed package offers {name!r} in the entry point group {GROUP}")
    try:
        value = found.load()(asked)
        return asyncio.run(value) if inspect.iscoroutine(value) else value
    except BaseException as error:
        return Broken(f"{type(error).__name__}: {error}")


async def _in_thread(work: Callable[[], object]) -> object:
    loop = asyncio.get_running_loop()
    result: asyncio.Future[object] = loop.create_future()

    def hand_over(value: object) -> None:
        if not result.done():
            result.set_result(value)

    def run() -> None:
        value = work()
        if not loop.is_closed():
            loop.call_soon_threadsafe(hand_over, value)

    threading.Thread(target=run, name="hook", daemon=True).start()
    return await result
