"""What filters of a whole answer share: they look at the message of `Done`, and say by `Noted` what they changed."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from ferrule.types.messages import Assistant, AssistantPart, RawCall, ToolCall
from ferrule.types.stream import Done, Noted, StreamEvent

Lines = Sequence[str]


class WholeAnswer:
    """A watcher that rewrites the message of a complete answer and sees nothing else."""

    wants: frozenset[type] = frozenset({Done})

    def __init__(self, name: str, rewrite: Callable[[Assistant], tuple[Assistant, Lines]]) -> None:
        self._name = name
        self._rewrite = rewrite

    def take(self, event: StreamEvent) -> Sequence[StreamEvent] | None:
        assert isinstance(event, Done)
        message, lines = self._rewrite(event.message)
        if message is event.message and not lines:
            return None
        return (*(Noted(self._name, line) for line in lines), replace(event, message=message))


def each_call(message: Assistant, rewrite: Callable[[ToolCall], tuple[ToolCall, Lines]]) -> tuple[Assistant, Lines]:
    """The message with its calls rewritten; the same object where none changed."""
    parts: list[AssistantPart] = []
    lines: list[str] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            part, said = rewrite(part)
            lines += said
        parts.append(part)
    if all(one is other for one, other in zip(parts, message.parts, strict=True)):
        return message, lines
    return replace(message, parts=tuple(parts)), lines


def rewritten(call: ToolCall, **fields: Any) -> ToolCall:
    """The call with other fields, what the model wrote kept beside it."""
    return replace(call, raw=call.raw or RawCall(call.id, call.name, call.arguments), **fields)
