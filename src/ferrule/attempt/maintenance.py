"""What is done behind an attempt to keep the store in order. It may fail: that is told and changes nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Chore:
    """One thing to keep in order; `run` is quick and may raise."""

    name: str
    run: Callable[[], None]


def maintain(chores: Sequence[Chore]) -> tuple[str, ...]:
    """Do all of them, whatever one of them raises; one line for each that failed."""
    failed = []
    for chore in chores:
        try:
            chore.run()
        except Exception as failure:
            failed.append(f"{chore.name}: {type(failure).__name__}: {failure}")
    return tuple(failed)
