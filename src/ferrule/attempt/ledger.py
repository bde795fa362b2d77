"""What a run has spent and may spend: one ledger for calls, tokens, money, time and every cause to go on (law 7).

How many model calls can a run make while nothing gets done? Nothing gets done as long as no answer with a call comes. Every
further call then has a cause, each cause is counted before it is acted on, and its count in a row is bounded. So between two
answers with a call there are at most

    1 + sum of `row` over all causes + CALLS_OF_A_COMPACTION * (`row` of the causes that compact)

calls: `Ledger.most_calls`. A run with N answers with a call makes at most N + 1 times as many, whatever the provider does.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ferrule.types.result import Limits
from ferrule.types.usage import NOTHING, Usage

Cause = Literal[
    "transport",
    "silent_error",
    "repetition",
    "idle",
    "failover",
    "signature",
    "effort",
    "shrunk",
    "overflow",
    "timeout",
    "truncation",
    "smaller",
    "reasoning_only",
    "empty",
    "announced",
    "reminder",
]


class Bound(NamedTuple):
    """How often a cause may make a run go on: `row` times while nothing gets done, `run` times altogether (None: without end)."""

    row: int
    run: int | None = None


CAUSES: Mapping[Cause, Bound] = {
    "transport": Bound(6, 32),  # the call failed in a way that may pass: ask the same again
    "silent_error": Bound(3, 32),  # it failed without a word
    "repetition": Bound(2, 8),  # it was broken off, since it said one passage over and over
    "idle": Bound(1, 8),  # silence in the middle of an answer, and nobody else to ask
    "failover": Bound(8, 32),  # ask with another key, or another model
    "signature": Bound(1, 4),  # without the reasoning that was refused
    "effort": Bound(1, 2),  # with less effort
    "shrunk": Bound(3),  # results were cut
    "overflow": Bound(3),  # compact, because the conversation does not fit
    "timeout": Bound(2),  # compact, because a long prompt was not answered in time
    "truncation": Bound(1),  # cut every result, because nothing could be compacted
    "smaller": Bound(1),  # leave room for a short answer only
    "reasoning_only": Bound(2, 8),  # the model thought and said nothing
    "empty": Bound(1, 8),  # it said nothing at all
    "announced": Bound(1, 8),  # it said what it would do, and did not
    "reminder": Bound(2, 2),  # it stopped without a terminal action; the contract says how often
}
COMPACTING: tuple[Cause, ...] = ("overflow", "timeout")
CALLS_OF_A_COMPACTION = 24
IDLE_IN_A_ROW = 5
"""Answers in a row that stop in the middle, with whatever key or model: each of them may have been billed."""


@dataclass
class Ledger:
    """Counts one run. Failed calls count too: what a provider billed is spent, whatever came of it.

    `spent` is the money that is known: one call whose cost nobody told makes `usage.cost` unknown, but lifts no limit. `bounds`
    take the place of those in `CAUSES`.
    """

    limits: Limits
    clock: Callable[[], float] = time.monotonic
    bounds: Mapping[Cause, Bound] = field(default_factory=dict)
    usage: Usage = NOTHING
    spent: float = 0.0
    turns: int = 0
    calls: int = 0
    retries: int = 0
    idle: int = 0

    def __post_init__(self) -> None:
        self.started = self.clock()
        self._row: Counter[Cause] = Counter()
        self._run: Counter[Cause] = Counter()

    def add(self, usage: Usage) -> None:
        self.calls += 1
        self.usage = self.usage.plus(usage)
        self.spent += usage.cost or 0.0

    def bound(self, cause: Cause) -> Bound:
        return self.bounds.get(cause, CAUSES[cause])

    def may(self, cause: Cause) -> bool:
        """Whether the run may go on for this cause once more."""
        row, run = self.bound(cause)
        return self._row[cause] < row and (run is None or self._run[cause] < run)

    def count(self, cause: Cause) -> int:
        """Going on for this cause is decided. Returns how often in a row that is, this time included."""
        self._row[cause] += 1
        self._run[cause] += 1
        return self._row[cause]

    def times(self, cause: Cause) -> int:
        """How often the run went on for this cause while nothing got done."""
        return self._row[cause]

    def progress(self) -> None:
        """An answer with a call came: something gets done, and every count in a row begins anew."""
        self._row.clear()
        self.idle = 0

    @property
    def most_calls(self) -> int:
        """The most model calls between two answers with a call."""
        rows = {cause: self.bound(cause).row for cause in CAUSES}
        return 1 + sum(rows.values()) + CALLS_OF_A_COMPACTION * sum(rows[cause] for cause in COMPACTING)

    def exhausted(self) -> str | None:
        """The limit that forbids another model call, in words; None while there is room."""
        limits = self.limits
        if limits.turns is not None and self.turns >= limits.turns:
            return f"The limit of {limits.turns} turns was reached (--max-turns)."
        if limits.tokens is not None and self.usage.total >= limits.tokens:
            return f"The limit of {limits.tokens} tokens was reached: {self.usage.total} used (--max-tokens)."
        if limits.cost is not None and self.spent >= limits.cost:
            return f"The limit of ${limits.cost:g} was reached: ${self.spent:.4f} spent (--max-cost)."
        if self.remaining() == 0.0:
            return self.time_is_up()
        return None

    def remaining(self) -> float | None:
        """Seconds left, None without a limit of time."""
        if self.limits.time is None:
            return None
        return max(0.0, self.limits.time - (self.clock() - self.started))

    def time_is_up(self) -> str:
        return f"The limit of {self.limits.time:g} seconds was reached (--max-time)."
