"""Tokens and money of model calls."""

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


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars for a million tokens."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def cost(self, usage: Usage) -> float:
        """A cache price that is not known counts as the input price."""
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        dollars = usage.input * self.input + usage.output * self.output
        return (dollars + usage.cache_read * read + usage.cache_write * write) / 1_000_000
