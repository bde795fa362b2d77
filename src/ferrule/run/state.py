"""What the steps of a run share."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from ferrule.attempt.ledger import Ledger
from ferrule.attempt.setup import Setup
from ferrule.attempt.stuck import Repetition
from ferrule.types.records import Retried
from ferrule.types.result import Denial
from ferrule.types.stream import Failed

from .conclusion import Next


@dataclass(frozen=True)
class Reminding:
    """How a contract reminds that the model stopped without a terminal action; how often, the ledger knows."""

    text: str
    empty_text: str


@dataclass
class State:
    """`once` takes the place of `setup` until an attempt with it came to something. `pause` waits for some seconds, `jitter` is
    from 0 to 1."""

    setup: Setup
    ledger: Ledger
    reminding: Reminding
    repetition: Repetition = field(default_factory=Repetition)
    denials: list[Denial] = field(default_factory=list)
    attempts: int = 0
    once: Setup | None = None
    unsummarised: bool = False
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random

    async def again(self, failed: Failed, delay: float = 0.0, to: str = "") -> Next:
        """Record that a failed call is made again, and wait. Nothing of a failed answer was acted on, so that this repeats no
        effect (law 7)."""
        self.ledger.retries += 1
        await self.setup.log.add(Retried(failed.fault, round(delay, 3), failed.partial, failed.usage, to))
        if delay > 0:
            await self.pause(delay)
        return Next.AGAIN
