"""The form of a rule: a number, a title, and a check that yields one line for each violation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .body import Json


@dataclass(frozen=True)
class Rule:
    """`portable`: the vendor itself lets it pass, servers that copy its protocol do not; judged only when asked for."""

    number: str
    title: str
    check: Callable[[Json], Iterator[str]]
    portable: bool = False
