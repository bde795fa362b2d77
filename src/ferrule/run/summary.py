"""Has a model write a hand-over, chunk by chunk: each request takes in the hand-over so far and the next piece of conversation.

Bounded in calls, tries and time. What was written before a failure is kept: it hands over less, but nothing wrong.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from ferrule.attempt.ledger import CALLS_OF_A_COMPACTION, Ledger
from ferrule.attempt.setup import Setup
from ferrule.context.compaction.identifiers import missing
from ferrule.context.compaction.passages import Passage
from ferrule.context.compaction.prompts import Ask, Kind, flaws, text_of, worded
from ferrule.context.compaction.sizes import Sizes
from ferrule.types.fault import TIMEOUTS, Fault
from ferrule.types.messages import Text, User
from ferrule.types.request import Request
from ferrule.types.stream import Done, Failed, Terminal
from ferrule.types.usage import NOTHING, Usage


@dataclass(frozen=True)
class Bounds:
    """Of one compaction: model calls and seconds altogether, tries and seconds of one call, seconds between two tries."""

    calls: int = CALLS_OF_A_COMPACTION
    seconds: float = 900.0
    tries: int = 3
    call_seconds: float = 600.0
    pause: float = 0.5
    longest_pause: float = 5.0
    longest_retry_after: float = 60.0
    splits: int = 3


@dataclass(frozen=True)
class GaveUp:
    """No (further) summary; `fault` where a provider did something wrong."""

    why: str
    fault: Fault | None = None


@dataclass(frozen=True)
class Handed:
    """The hand-over of everything before message `covered`, empty where there is none; `gave_up` where more was wanted."""

    text: str
    covered: int
    gave_up: GaveUp | None = None


@dataclass
class Summariser:
    """Asks for one compaction. `usage` and `calls` count every call, also those that failed."""

    setup: Setup
    ledger: Ledger
    sizes: Sizes
    focus: str
    certain: str
    bounds: Bounds = field(default_factory=Bounds)
    usage: Usage = NOTHING
    calls: int = 0
    splits: int = 0

    def __post_init__(self) -> None:
        self.until = time.monotonic() + self.bounds.seconds

    async def write(
        self, kind: Kind, chunks: Sequence[tuple[Passage, ...]], begin: int, before: str, wanted: Sequence[str]
    ) -> Handed:
        """Take in chunk after chunk. `before` is the hand-over of what stands before message `begin`; the last answer is looked
        through for the identifiers `wanted`."""
        waiting = list(chunks)
        handover, covered = before, begin
        while waiting:
            chunk, last = waiting[0], len(waiting) == 1
            said = await self._summary(kind, chunk, handover, wanted if last else ())
            if isinstance(said, str):
                handover, covered = said, chunk[-1].group.end
                del waiting[0]
                continue
            halves = self._halves(chunk, said)
            if not halves:
                return Handed(handover, covered, said)
            waiting[:1] = halves
        return Handed(handover, covered)

    def _halves(self, chunk: tuple[Passage, ...], gave_up: GaveUp) -> list[tuple[Passage, ...]]:
        """The chunk in two, where it was too long after all: the window may be smaller than anybody said."""
        overflow = gave_up.fault is not None and gave_up.fault.code == "context_overflow"
        if not overflow or len(chunk) < 2 or self.splits >= self.bounds.splits:
            return []
        self.splits += 1
        return [chunk[: len(chunk) // 2], chunk[len(chunk) // 2 :]]

    async def _summary(self, kind: Kind, chunk: tuple[Passage, ...], before: str, wanted: Sequence[str]) -> str | GaveUp:
        """One hand-over; where it lacks something, asked for once more with what it lacks."""
        words = self.sizes.words if kind == "handover" else self.sizes.words * 5 // 8
        conversation = "\n\n".join(passage.text for passage in chunk)
        asked = Ask(kind, conversation, words, before, self.certain, self.focus)
        done = await self._tried(worded(asked))
        if isinstance(done, GaveUp):
            return done
        found = self._flaws(asked, done, wanted)
        if not found:
            return done.message.text
        again = await self._tried(worded(asked, done.message.text, found))
        if isinstance(again, GaveUp) or len(self._flaws(asked, again, wanted)) > len(found):
            return done.message.text
        return again.message.text

    def _flaws(self, asked: Ask, done: Done, wanted: Sequence[str]) -> tuple[str, ...]:
        said = done.message.text
        return flaws(asked.kind, said, missing(wanted, said), done.message.stop == "length", asked.words)

    async def _tried(self, message: str) -> Done | GaveUp:
        """Ask, and ask again after what may pass; an answer without words is such a thing too."""
        for failures in range(1, self.bounds.tries + 1):
            if (why := self._spent()) is not None:
                return GaveUp(why)
            terminal = await self._call(message)
            if isinstance(terminal, Done):
                if terminal.message.stop == "refusal":
                    return GaveUp("The model refused to summarise.", Fault("refused", terminal.message.text[:500]))
                if terminal.message.text.strip():
                    return terminal
                terminal = Failed(Fault("bad_response", "an answer without text"), (), NOTHING)
            pause = self._pause(terminal.fault, failures)
            if pause is None:
                return GaveUp(terminal.fault.sentence, terminal.fault)
            self.ledger.retries += 1
            await asyncio.sleep(pause)
        raise AssertionError("the last try has no pause after it")

    def _pause(self, fault: Fault, failures: int) -> float | None:
        """Seconds until the next try, None where there is none. After silence another long wait would follow."""
        bounds = self.bounds
        if not fault.retryable or fault.code in TIMEOUTS or failures >= bounds.tries:
            return None
        backoff = min(bounds.pause * 2.0 ** (failures - 1), bounds.longest_pause) * (0.8 + 0.4 * random.random())
        pause = max(backoff, fault.retry_after or 0.0)
        return None if pause > min(bounds.longest_retry_after, self._left()) else pause

    def _spent(self) -> str | None:
        """What forbids another call, in words."""
        if self.calls >= self.bounds.calls:
            return f"A summary may take {self.bounds.calls} model calls, which were made."
        if self._left() <= 0:
            return f"A summary may take {self.bounds.seconds:g} seconds, which are over."
        return self.ledger.exhausted()

    def _left(self) -> float:
        return self.until - time.monotonic()

    async def _call(self, message: str) -> Terminal:
        """One request without tools, which nobody is shown while it is answered; silence has an end."""
        request = Request(
            system=(text_of("role"),),
            messages=(User((Text(self.setup.mask.text(message)),)),),
            max_output=self.sizes.answer,
            effort=self.setup.effort,
        )
        remaining = self.ledger.remaining()
        seconds = min(self.bounds.call_seconds, self._left(), self.bounds.seconds if remaining is None else remaining)
        self.calls += 1
        try:
            async with asyncio.timeout(seconds):
                terminal = await self._terminal(request)
        except TimeoutError:
            terminal = Failed(Fault("timeout", f"no summary within {seconds:.0f} seconds"), (), Usage())
        self.ledger.add(terminal.usage)
        self.usage = self.usage.plus(terminal.usage)
        return terminal

    async def _terminal(self, request: Request) -> Terminal:
        terminal: Terminal | None = None
        async with aclosing(self.setup.provider.stream(request)) as events:  # type: ignore[type-var]  # a generator behind the protocol
            async for event in events:
                if isinstance(event, Done | Failed):
                    terminal = event
        return terminal or Failed(Fault("cut", "the stream ended without a terminal event"), (), NOTHING)
