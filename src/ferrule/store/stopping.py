"""A journal that ends the process at a named point, so that crash tests hit every place between two records.

`FERRULE_FAULT_POINT=after:call_started:2` kills (SIGKILL) right after the second `call_started` became durable, `before:…` right
before it would. Before `call_finished` is where an effect is done but not recorded.
"""

import os
import signal
from collections.abc import AsyncIterator
from typing import get_args

from ferrule.types.errors import UsageError
from ferrule.types.records import Entry, Record

from .protocol import MAIN, Journal


class StoppingJournal:
    """Counts entries of one kind and kills at the chosen one."""

    def __init__(self, journal: Journal, point: str) -> None:
        self._journal = journal
        self._side, self._kind, self._left = _parse(point)

    @property
    def session(self) -> str:
        return self._journal.session

    async def append(self, *entries: Entry, branch: str = MAIN) -> tuple[Record, ...]:
        reached = self._reached(entries)
        if reached and self._side == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        records = await self._journal.append(*entries, branch=branch)
        if reached:
            os.kill(os.getpid(), signal.SIGKILL)
        return records

    async def check(self) -> None:
        await self._journal.check()

    def records(self, since: int = 0, branch: str | None = None) -> AsyncIterator[Record]:
        return self._journal.records(since, branch)

    def head(self, branch: str = MAIN) -> str:
        return self._journal.head(branch)

    async def close(self) -> None:
        await self._journal.close()

    def _reached(self, entries: tuple[Entry, ...]) -> bool:
        before = self._left
        self._left -= sum(entry.__struct_config__.tag == self._kind for entry in entries)
        return before > 0 >= self._left


def _parse(point: str) -> tuple[str, str, int]:
    kinds = {kind.__struct_config__.tag for kind in get_args(Entry)}
    side, _, rest = point.partition(":")
    kind, _, count = rest.partition(":")
    if side not in ("before", "after") or kind not in kinds or not (count or "1").isdigit():
        raise UsageError(f"FERRULE_FAULT_POINT={point} is not of the form before|after:KIND[:COUNT].")
    return side, kind, int(count or "1")
