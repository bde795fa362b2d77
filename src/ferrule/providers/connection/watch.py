"""Bounds how long a provider is waited for. Time that our own side takes between two waits counts only in the total."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar

from msgspec import Struct

from ferrule.types.fault import Fault

T = TypeVar("T")
Late = Literal["timeout", "first_event_timeout", "idle_timeout", "total_timeout"]

SAID: dict[Late, str] = {
    "timeout": "{:g} seconds without an answer",
    "first_event_timeout": "{:g} seconds without a first event",
    "idle_timeout": "{:g} seconds of silence",
    "total_timeout": "not complete after {:.4g} seconds",
}


class Timeouts(Struct, frozen=True):
    """Seconds; None is no limit. `first_event` runs from the request to the first event of the answer, `idle` from one piece to
    the next (and in the place of `first_event` where that is None), `total` from the request to the end."""

    first_event: float | None = None
    idle: float | None = None
    total: float | None = None


class Watch:
    """Of one request. Like `asyncio.timeout` around every wait, but with one timer for the whole answer, set anew only when it
    goes off: an answer may come in many thousand pieces. Who reads sets `answered` when the headers are there.
    """

    def __init__(self, timeouts: Timeouts) -> None:
        self._timeouts = timeouts
        self._loop = asyncio.get_running_loop()
        self._start = self._since = self._loop.time()
        self._limited = timeouts != Timeouts()
        self._waiting: asyncio.Task[Any] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._cancelling: int | None = None
        self.late: Fault | None = None
        self.answered = False
        self._begun = False

    async def wait(self, step: Callable[[], Awaitable[T]]) -> T:
        """What `step` gives. Raises TimeoutError; `late` then says which limit it was."""
        if not self._limited:
            return await step()
        self._waiting = asyncio.current_task()
        self._since = self._loop.time()
        if self._timer is None:
            self._set()
        try:
            return await step()
        except asyncio.CancelledError:
            if self._cancelling is not None and self._waiting is not None and self._waiting.uncancel() <= self._cancelling:
                raise TimeoutError from None
            raise
        finally:
            self._waiting = None

    def begin(self) -> None:
        """The first event is there: from here on another limit holds."""
        if not self._begun:
            self._begun = True
            self.close()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _limit(self) -> tuple[float, Late, float]:
        """When the wait ends at the latest, what it is called then, and its seconds."""
        limits, endless = self._timeouts, float("inf")
        first = limits.first_event if not self._begun else None
        quiet = endless if limits.idle is None else self._since + limits.idle
        late: Late = "idle_timeout" if self._begun else "first_event_timeout" if self.answered else "timeout"
        one = (quiet, late, limits.idle or 0.0) if first is None else (self._start + first, late, first)
        total: tuple[float, Late, float] = (
            endless if limits.total is None else self._start + limits.total,
            "total_timeout",
            limits.total or 0.0,
        )
        return min(one, total, key=lambda each: each[0])

    def _set(self) -> None:
        due = self._limit()[0]
        self._timer = self._loop.call_at(due, self._check) if due != float("inf") else None

    def _check(self) -> None:
        self._timer = None
        if self._waiting is None:
            return
        due, late, seconds = self._limit()
        if self._loop.time() < due:
            self._set()
            return
        self.late = Fault(late, SAID[late].format(seconds))
        self._cancelling = self._waiting.cancelling()
        self._waiting.cancel()
