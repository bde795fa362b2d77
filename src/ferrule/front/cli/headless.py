"""One run without a person: open the task, show what happens, stop on signals, report the result and the exit code."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Protocol

from ferrule.types.errors import Interrupted
from ferrule.types.names import spell
from ferrule.types.outcome import Outcome
from ferrule.types.result import RunResult, TaskEvent

from .show.output import Pipe
from .show.terminal import clean
from .show.views import Opened, View

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Running(Opened, Protocol):
    """What is needed of a task to drive it."""

    @property
    def opened(self) -> int: ...

    def events(self, since: int = 0) -> AsyncIterator[TaskEvent]: ...

    def interrupt(self) -> None: ...

    async def run(self) -> RunResult: ...

    async def close(self, primary: BaseException | None = None) -> None: ...


class Stopping:
    """The first signal asks the task to stop, the second one ends this process at once."""

    def __init__(self, opening: "asyncio.Task[RunResult]", err: Pipe) -> None:
        self.opening = opening
        self.err = err
        self.task: Running | None = None
        self.asked = False

    def listen(self) -> None:
        """A signal that was ignored when we were started (nohup, a job in the background) stays ignored."""
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, self.stop)

    def deafen(self) -> None:
        """The result has been told: a signal from now on would only make the exit code say something else."""
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            if loop.remove_signal_handler(number):
                signal.signal(number, signal.SIG_IGN)

    def stop(self) -> None:
        if self.asked:
            self.err.text("ferrule: stopped at once\n")
            os._exit(Outcome.INTERRUPTED.exit_code)
        self.asked = True
        self.err.text("\nferrule: stopping; once more stops at once\n")
        if self.task is None:
            self.opening.cancel()
        else:
            self.task.interrupt()


def run_task(opening: Callable[[], Awaitable[Running]], folder: Path, view: View, err: Pipe, last: bool = False) -> RunResult:
    """Drive one task to its result, shown by `view`. Raises what opening it raises, and Interrupted before it is open.

    `last`: this process has nothing more to do and ignores signals from then on.
    """
    return asyncio.run(_drive(opening, folder, view, err, last))


async def _drive(opening: Callable[[], Awaitable[Running]], folder: Path, view: View, err: Pipe, last: bool) -> RunResult:
    current = asyncio.current_task()
    assert current is not None  # asyncio.run made it
    stopping = Stopping(current, err)
    stopping.listen()
    try:
        task = await opening()
    except asyncio.CancelledError as error:
        raise Interrupted("interrupted before anything was done") from error
    stopping.task = task
    if task.remark:
        err.text(f"ferrule: {clean(task.remark)}\n")
    try:
        view.begin(task, spell(str(folder)))
        showing = asyncio.create_task(_show(task, view))
        result = await task.run()
        await asyncio.wait([showing])
    except BaseException as error:
        await task.close(error)
        raise
    await task.close()
    view.end(result)
    if last:
        stopping.deafen()
    showing.result()
    return result


async def _show(task: Running, view: View) -> None:
    """What earlier runs of the session recorded is not shown again."""
    async for event in task.events(task.opened):
        view.event(event)
        if view.abandoned:
            task.interrupt()
            return


def failed_result(outcome: Outcome, why: str) -> RunResult:
    """The result of a run that never began, so that whoever reads JSON always gets one."""
    from ferrule.types.result import Limits
    from ferrule.types.usage import NOTHING

    return RunResult(
        schema_version=1,
        session_id=None,
        task_id="",
        outcome=outcome,
        exit_code=outcome.exit_code,
        result="",
        verification=(),
        denials=(),
        limits=Limits(),
        usage=NOTHING,
        cost_usd=0.0,
        turns=0,
        files_changed=(),
        receipt=None,
        model="",
        error=why,
    )
