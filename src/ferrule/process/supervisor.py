"""All processes of one session, under a supervisor process that outlives Ferrule by just long enough to end them (law 13).

The processes are described in `guard`. This side starts the supervisor at the first command and another one when it was killed,
and never waits without a bound for a command that it wants ended: it asks the keeper, then has the keeper killed, then kills
the supervisor, at which every keeper ends what it watches.
"""

import asyncio
import os
import signal
from collections.abc import Callable

from .guard.keeper import KILL_LIMIT, TERM_GRACE
from .guard.wire import Report, pack
from .link import Link
from .protocol import Command, Ended
from .running import CANCELLED, CLOSED, OVERDUE, SUPERVISOR_LOST, UNSURE, Running

SETTLE = TERM_GRACE + KILL_LIMIT + 1.0
"""Seconds within which a keeper has ended its command, or the supervisor what a killed keeper left."""


class Supervisor:
    """Implements `Processes`. Cheap to build; nothing is started before the first command; belongs to one event loop."""

    def __init__(self) -> None:
        self._links: list[Link] = []
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Of the supervisor process, None while there is none."""
        return self._links[-1].pid if self._links else None

    async def run(self, command: Command, on_output: Callable[[bytes], None]) -> Ended:
        """As `Processes.run`; what `on_output` raises ends the command and is raised. RuntimeError after `close`."""
        if self._closed:
            raise RuntimeError("this session's processes are closed")
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            request = encode(command)
            link, running = self._begin(loop, on_output)
        except (OSError, ValueError) as error:
            return Ended(None, None, loop.time() - started, error=f"cannot start the command: {error}")
        limit = None if command.timeout is None else command.timeout + command.grace + SETTLE
        try:
            if await running.send(request, limit):
                await asyncio.wait([running.done], timeout=limit)
            overdue = not running.done.done()
        finally:
            if not running.done.done():
                await end(link, running)
        if running.failure is not None:
            raise running.failure
        return ended(running.done.result(), loop.time() - started, running.closing, overdue)

    def _begin(self, loop: asyncio.AbstractEventLoop, on_output: Callable[[bytes], None]) -> tuple[Link, Running]:
        """A supervisor that turns out to be gone was asked for nothing yet, so another one may be."""
        link = self._link(loop)
        try:
            return link, link.begin(on_output)
        except ConnectionError:
            link = self._link(loop)
            return link, link.begin(on_output)

    def _link(self, loop: asyncio.AbstractEventLoop) -> Link:
        """The living supervisor, or a new one."""
        if not self._links or self._links[-1].lost.done():
            self._links = [link for link in self._links if not link.reaped]
            self._links.append(Link(loop))
        return self._links[-1]

    async def close(self) -> None:
        """End every command and the supervisor; runs that were going on return an error. May be called again."""
        self._closed = True
        for link in self._links:
            running = list(link.running.values())
            for each in running:
                each.closing = True
            link.hang_up()
            if not await link.gone(2 * SETTLE):
                link.send_signal(signal.SIGKILL)
                await link.gone(1.0)
            if running:
                await asyncio.wait([each.done for each in running], timeout=SETTLE)


async def end(link: Link, running: Running) -> None:
    """End a command and everything below it, within a bound and whoever cancels meanwhile; `running.done` is done afterwards."""
    steps = (running.ask_to_end, lambda: link.kill_keeper(running), lambda: link.send_signal(signal.SIGKILL))
    for step in steps:
        step()
        if await done_within(running, SETTLE):
            return
    running.fail(UNSURE)


async def done_within(running: Running, seconds: float) -> bool:
    """A cancellation meanwhile is for who waits for us: it is on its way already, or follows from `run`'s end."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not running.done.done() and (left := deadline - loop.time()) > 0:
        try:
            await asyncio.wait([running.done], timeout=left)
        except asyncio.CancelledError:
            continue
    return running.done.done()


def encode(command: Command) -> bytes:
    """Raises ValueError for what no process can be given."""
    if not command.argv:
        raise ValueError("the list of arguments is empty")
    return pack(
        (
            [os.fsencode(argument) for argument in command.argv],
            os.fsencode(command.cwd),
            {os.fsencode(name): os.fsencode(value) for name, value in command.env},
            command.timeout,
            command.grace,
            command.stderr == "output",
            [os.fsencode(argument) for argument in command.wrapper],
        )
    )


def ended(report: Report, seconds: float, closing: bool, overdue: bool) -> Ended:
    """What a report means for who asked for the command.

    `closing`: the session was closed meanwhile; `overdue`: the keeper had let the time-out pass.
    """
    why, status, left, unended, text = report
    code = None if status is None else os.waitstatus_to_exitcode(status)
    exit_code = code if code is not None and code >= 0 else None
    number = -code if code is not None and code < 0 else None
    trouble = f"{unended} of the command's processes could not be ended" if unended else None
    match why:
        case "exit":
            return Ended(exit_code, number, seconds, left=left, error=trouble)
        case "timeout":
            return Ended(exit_code, number, seconds, timed_out=True, error=trouble)
        case "asked":
            text = OVERDUE if overdue else CANCELLED
        case "alone":
            text = CLOSED if closing else SUPERVISOR_LOST
    return Ended(None, None, seconds, timed_out=overdue, left=left, error=trouble or text)
