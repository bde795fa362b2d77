"""A session that another process has open: waiting until it is free, or taking it over."""

import asyncio
import time
from collections.abc import Callable

from ferrule.store.journal import SqliteJournal
from ferrule.store.lease import Former
from ferrule.store.sessions import Sessions
from ferrule.types.errors import LeaseHeld

SOON = 0.05
SELDOM = 0.5
"""Seconds between two looks, at first and after a while."""

GRACE = 5.0
"""Seconds within which a process that was taken over is expected to have ended its commands."""


async def wait_for(sessions: Sessions, id: str, seconds: float | None, told: Callable[[str], None]) -> SqliteJournal:
    """Open as soon as it is free. Raises LeaseHeld after so many seconds, None for no limit; may be cancelled."""
    began = time.monotonic()
    pause = SOON
    said = ""
    while True:
        try:
            return sessions.open(id)
        except LeaseHeld as held:
            waited = time.monotonic() - began
            if seconds is not None and waited >= seconds:
                raise LeaseHeld(f"{held} It was waited for during {waited:.0f} s (--max-time).") from None
            if str(held) != said:
                said = str(held)
                told(f"{said.removesuffix(' Close it there first.')} Waiting until it is free.")
        await asyncio.sleep(pause if seconds is None else min(pause, max(seconds - waited, 0.0)))
        pause = min(2 * pause, SELDOM)


async def take_over(sessions: Sessions, id: str, told: Callable[[str], None]) -> SqliteJournal:
    """Open it whoever has it open, and wait a little for that process to end its commands. Raises LeaseHeld."""
    journal, former = sessions.take_over(id)
    if former is None:
        return journal
    try:
        told(f"Session {id} was taken over. It was open in {former.who}. That process can store nothing more.")
        if not await _left(former):
            told("It has not let go yet; what it has started may still change files.")
    except BaseException:
        await journal.close()
        raise
    finally:
        former.close()
    return journal


async def _left(former: Former) -> bool:
    deadline = time.monotonic() + GRACE
    while not former.gone():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(SOON)
    return True
