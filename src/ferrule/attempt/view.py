"""The view of a conversation that one request sends: portable to the endpoint, its calls and results paired (law 4)."""

from collections.abc import Sequence, Set
from operator import is_

from ferrule.context.pairing import NONE, Repairs, repair, valid
from ferrule.context.portable import portable
from ferrule.providers.base import Endpoint
from ferrule.types.messages import Message


class View:
    """Of one endpoint. What was found to need no change is not looked at again while the conversation only grows."""

    def __init__(self) -> None:
        self._fine: tuple[Message, ...] = ()

    def of(self, messages: Sequence[Message], started: Set[str], endpoint: Endpoint) -> tuple[tuple[Message, ...], Repairs]:
        """The messages to send, and what had to be repaired."""
        known = len(self._fine)
        whole = tuple(messages)
        grown = len(whole) >= known and all(map(is_, whole, self._fine))
        added = whole[known:] if grown else whole
        if portable(added, endpoint.dialect, endpoint.model) is added and valid(added, begun=grown and known > 0):
            self._fine = whole
            return whole, NONE
        view, repairs = repair(portable(whole, endpoint.dialect, endpoint.model), started)
        return tuple(view), repairs
