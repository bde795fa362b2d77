"""Outbound filters whose work is done in `context`: pairing of calls and results, and images."""

from collections.abc import Sequence

from ferrule.context.images import ImageLimits, fitting, has_images, newest
from ferrule.context.pairing import repair, valid
from ferrule.context.portable import changed_calls, for_model, is_signed, unsigned
from ferrule.providers.base import Endpoint
from ferrule.stream.filter import Sending
from ferrule.stream.outbound.reasoning import Readings, ReasoningBack
from ferrule.types.messages import Message


def reasoning_back(endpoint: Endpoint) -> ReasoningBack:
    return ReasoningBack(endpoint, Readings(for_model, unsigned, is_signed, changed_calls))


class Pairing:
    """What needs no repair is not looked at again while the conversation only grows."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._begun = False

    def more(self, added: Sequence[Message], sending: Sending) -> tuple[Sequence[Message], Sequence[str]] | None:
        if valid(added, begun=self._begun):
            self._begun = self._begun or bool(added)
            return added, ()
        if self._begun:
            return None
        view, repairs = repair(added, sending.started)
        self._begun = bool(view)
        return view, repairs.lines()


class Images:
    """Each image is looked at once; that there are too many of them changes what was sent before."""

    def __init__(self, endpoint: Endpoint) -> None:
        profile = endpoint.profile
        self._limits = ImageLimits(profile.image_bytes, profile.image_edge, profile.image_count)
        self._count = 0
        self._begun = False

    def more(self, added: Sequence[Message], sending: Sending) -> tuple[Sequence[Message], Sequence[str]] | None:
        looked = [fitting(message, self._limits) for message in added]
        made, lines = [message for message, _ in looked], [line for _, said in looked for line in said]
        count = sum(map(has_images, made))
        if count and self._count + count > self._limits.count and self._begun:
            return None
        self._count += count
        self._begun = self._begun or bool(added)
        left, said = newest(made, self._limits)
        return tuple(left), (*lines, *said)
