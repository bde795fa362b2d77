"""The named phases of an attempt: each is timed, and none begins once the attempt is to be aborted."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from ferrule.types.records import PhaseTime

Phase = Literal[
    "workspace",
    "lease",
    "tools",
    "prompt",
    "history",
    "preflight",
    "submit",
    "tool_loop",
    "settle",
    "maintenance",
]
"""In their order. `history` to `settle` come again with every turn of an attempt."""


class Phases:
    """What one attempt went through. `clock` gives seconds from any beginning."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._times: dict[Phase, int] = {}
        self._seconds: dict[Phase, float] = {}
        self.last: Phase | None = None

    @contextmanager
    def step(self, phase: Phase) -> Iterator[None]:
        """Time what is done inside, also where that fails. Raises CancelledError instead of beginning when one is due.

        The tool loop begins nevertheless: it gives every call a result that says that nothing was done.
        """
        current = asyncio.current_task()
        if current is not None and current.cancelling() and phase != "tool_loop":
            raise asyncio.CancelledError
        self.last = phase
        self._times[phase] = self._times.get(phase, 0) + 1
        began = self._clock()
        try:
            yield
        finally:
            self._seconds[phase] = self._seconds.get(phase, 0.0) + self._clock() - began

    @property
    def times(self) -> tuple[PhaseTime, ...]:
        """Each phase that was entered once, in the order of entering."""
        return tuple(PhaseTime(phase, times, round(self._seconds.get(phase, 0.0), 5)) for phase, times in self._times.items())
