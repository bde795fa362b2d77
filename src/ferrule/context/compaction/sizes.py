"""How much goes into one request for a summary, so that no such request exceeds the window it is made to relieve."""

from collections.abc import Sequence
from typing import NamedTuple

from .passages import Passage

SHARE, LEAST_SHARE = 0.4, 0.15
"""Of the window: what one chunk may be. Less where single messages are so long that one more would not fit."""
LONG_MESSAGE = 0.1
SAFETY = 1.2
OVERHEAD = 4_096
OVERSIZED = 0.5
LONGEST_ANSWER, SHORTEST_ANSWER = 16_384, 512
LONGEST_HANDOVER = 4_096


class Sizes(NamedTuple):
    """In tokens. `answer` bounds the output, `handover` is how long the model is asked to stay, `oversized` is left out."""

    chunk: int
    oversized: int
    answer: int
    handover: int

    @property
    def words(self) -> int:
        return max(80, self.handover * 6 // 10)


def sizes(window: int, mean: float, max_output: int | None) -> Sizes:
    """Of a window with messages of `mean` tokens. A request holds a chunk, the hand-over so far, one draft of it and
    what is certain.

    An answer may be longer than the hand-over that is asked for, since reasoning counts as output.
    """
    answer = max(SHORTEST_ANSWER, min(window // 4, LONGEST_ANSWER))
    if max_output is not None:
        answer = min(answer, max_output)
    handover = max(SHORTEST_ANSWER // 2, min(window // 8, LONGEST_HANDOVER, answer))
    room = window - answer - 3 * handover - min(OVERHEAD, window // 8)
    chunk = max(256, int(min(_share(window, mean) * window, room) / SAFETY))
    return Sizes(chunk, min(int(OVERSIZED * window / SAFETY), chunk), answer, handover)


def _share(window: int, mean: float) -> float:
    return max(LEAST_SHARE, SHARE - 2 * max(0.0, mean / window - LONG_MESSAGE))


def chunks(made: Sequence[Passage], most: int) -> list[tuple[Passage, ...]]:
    """Neighbours together, up to `most` tokens each; a passage is never divided."""
    found: list[tuple[Passage, ...]] = []
    current: list[Passage] = []
    size = 0
    for passage in made:
        if current and size + passage.tokens > most:
            found.append(tuple(current))
            current, size = [], 0
        current.append(passage)
        size += passage.tokens
    return [*found, tuple(current)] if current else found
