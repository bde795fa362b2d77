"""What a run has spent and may spend: one ledger for calls, tokens, money and time (law 7)."""

import time
from dataclasses import dataclass, field

from ferrule.types.result import Limits
from ferrule.types.usage import NOTHING, Usage


@dataclass
class Ledger:
    """Counts one run. Failed calls count too: what a provider billed is spent, whatever came of it.

    `spent` is the money that is known: one call whose cost nobody told makes `usage.cost` unknown, but lifts no limit.
    """

    limits: Limits
    started: float = field(default_factory=time.monotonic)
    usage: Usage = NOTHING
    spent: float = 0.0
    turns: int = 0
    calls: int = 0
    retries: int = 0

    def add(self, usage: Usage) -> None:
        self.calls += 1
        self.usage = self.usage.plus(usage)
        self.spent += usage.cost or 0.0

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
        return max(0.0, self.limits.time - (time.monotonic() - self.started))

    def time_is_up(self) -> str:
        return f"The limit of {self.limits.time:g} seconds was reached (--max-time)."
