"""Why an answer ended: one of the reasons that we know, in agreement with what is in it, or the answer failed."""

from collections.abc import Sequence
from typing import get_args

from msgspec.structs import replace

from ferrule.types.fault import Fault
from ferrule.types.messages import StopReason
from ferrule.types.stream import Done, Failed, Noted, StreamEvent

KNOWN = frozenset(get_args(StopReason))


class Stops:
    """An unknown reason is one failure, not a guess: what it stands for may be anything, a refusal included."""

    wants: frozenset[type] = frozenset({Done})

    def take(self, event: StreamEvent) -> Sequence[StreamEvent] | None:
        assert isinstance(event, Done)
        message = event.message
        if message.stop not in KNOWN:
            return (Failed(Fault("bad_response", f"unknown stop reason {message.stop!r}"), message.parts, event.usage),)
        if message.calls and message.stop == "end":
            return (replace(event, message=replace(message, stop="calls")),)
        if message.stop == "calls" and not message.calls:
            return (Noted("stops", "the provider stopped for a call, and there is none"), event)
        return None
