"""Tokens and money of model calls, and the bounds of a run."""

from msgspec import Struct


class Usage(Struct, frozen=True):
    """Tokens as the provider reported them. `input` is what was not read from a cache; `output` includes `reasoning`.

    `cost` is US dollars, None where the price or the usage is unknown (never 0 for unknown).
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    cost: float | None = None

    @property
    def prompt(self) -> int:
        """All tokens of the request, cached or not."""
        return self.input + self.cache_read + self.cache_write

    @property
    def total(self) -> int:
        return self.prompt + self.output

    def plus(self, other: "Usage") -> "Usage":
        """The sum; its cost is unknown as soon as one part's is unknown."""
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.reasoning + other.reasoning,
            cost,
        )


NOTHING = Usage(cost=0.0)
"""The neutral element of `plus`."""


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """Bounds of one run; None is no bound. Tokens count prompt and output of all calls; cost in US dollars; time in seconds."""

    turns: int | None = None
    tokens: int | None = None
    cost: float | None = None
    time: float | None = None


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars for a million tokens.

    Of a request whose prompt is longer than `long_over` tokens, everything in the prompt costs `long_prompt` times as much and
    the answer `long_output` times as much.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    long_over: int | None = None
    long_prompt: float = 1.0
    long_output: float = 1.0

    def cost(self, usage: Usage) -> float:
        """What one model call cost. A cache price that is not known counts as the input price."""
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        prompt = usage.input * self.input + usage.cache_read * read + usage.cache_write * write
        output = usage.output * self.output
        if self.long_over is not None and usage.prompt > self.long_over:
            prompt, output = prompt * self.long_prompt, output * self.long_output
        return (prompt + output) / 1_000_000
