"""What of a conversation stays together: an answer with its results is one group, and a cut only ever falls between groups."""

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from ferrule.types.messages import Assistant, Message, Results


class Group(NamedTuple):
    """Messages `start` up to, not including, `end`. The first one is an answer or the person's."""

    start: int
    end: int


class Boundary(NamedTuple):
    """Where a conversation is cut: what stands before message `cut` is summarised.

    `turn` is where the turn begins that the cut splits, with what the person said; equal to `cut` where none is split.
    """

    cut: int
    turn: int


def groups(messages: Sequence[Message], begin: int = 0) -> tuple[Group, ...]:
    """The groups from message `begin` on. A result that follows no answer belongs to what stands before it."""
    starts = [at for at in range(begin, len(messages)) if at == begin or not isinstance(messages[at], Results)]
    return tuple(Group(start, end) for start, end in pairwise([*starts, len(messages)]))


def boundary(
    messages: Sequence[Message], begin: int, keep: int, tokens: Callable[[Message], int], person: Collection[int]
) -> Boundary | None:
    """Where to cut so that the last `keep` tokens stay as they are; None where nothing that an answer said lies before.

    `begin` is the first message that is sent as it is: everything before it was summarised earlier. The last group always stays.
    `person` holds the places of what the person said: there turns begin.
    """
    found = groups(messages, begin)
    covered, at = 0, len(found)
    while at > 1 and (covered < keep or at == len(found)):
        at -= 1
        covered += sum(map(tokens, messages[found[at].start : found[at].end]))
    if at == len(found) or isinstance(messages[found[at].start], Results):
        return None
    cut = found[at].start
    if not any(isinstance(message, Assistant) for message in messages[begin:cut]):
        return None
    return Boundary(cut, _turn(messages, begin, cut, person))


def _turn(messages: Sequence[Message], begin: int, cut: int, person: Collection[int]) -> int:
    """Where the turn around the cut begins; the cut itself where it begins there, or where nothing was answered before it."""
    if cut in person:
        return cut
    start = next((at for at in range(cut - 1, begin - 1, -1) if at in person), begin)
    answered_before = any(isinstance(message, Assistant) for message in messages[begin:start])
    answered_since = any(isinstance(message, Assistant) for message in messages[start:cut])
    return start if answered_before and answered_since else cut
