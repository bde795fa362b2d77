"""Tells repetition from progress: the same calls with the same results, over and over."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from ferrule.types.messages import ToolCall, ToolResult

WARN_AT = 3
STOP_AT = 6
LONGEST_CYCLE = 3


@dataclass
class Repetition:
    """Watches the turns of one run. A turn's print covers names, arguments and results, so a changed result is progress."""

    prints: list[bytes] = field(default_factory=list)

    def add(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> int:
        """How often the last cycle of up to three turns has now been seen in a row, 1 when it is new."""
        digest = hashlib.sha256()
        for call in calls:
            digest.update(f"{call.name}\0{call.arguments}\0".encode())
        for result in results:
            digest.update(f"{result.kind}\0{result.text}\0".encode())
        self.prints.append(digest.digest())
        del self.prints[: -STOP_AT * LONGEST_CYCLE]
        return max(self._repeats(length) for length in range(1, LONGEST_CYCLE + 1))

    def _repeats(self, length: int) -> int:
        cycle = self.prints[-length:]
        count, end = 0, len(self.prints)
        while end >= length and self.prints[end - length : end] == cycle:
            count, end = count + 1, end - length
        return count
