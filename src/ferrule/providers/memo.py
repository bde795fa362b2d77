"""Remembers what was made of each message, so that a request costs what was added to the conversation, not its length."""

from collections.abc import Callable
from typing import Any, TypeVar

Source = TypeVar("Source")
Made = TypeVar("Made")


class Memo:
    """Messages never change, so the same object always gives the same. Whoever gets a made value does not change it."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[object, Any]] = {}

    def of(self, make: "Callable[[Any, Source], Made]", endpoint: Any, source: Source) -> Made:
        """`make(endpoint, source)`, made once for each object."""
        found = self._made.get(id(source))
        if found is None or found[0] is not source:
            found = self._made[id(source)] = (source, make(endpoint, source))
        made: Made = found[1]
        return made
