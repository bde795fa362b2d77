"""Calls that no provider would take back: a name that is none, arguments that are no JSON object.

They come from journals that others wrote or that were damaged, and go back in a form that every provider accepts.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from ferrule.stream.filter import Sending
from ferrule.stream.naming import VALID_NAME, storable
from ferrule.types import json
from ferrule.types.messages import Assistant, Image, Message, Results, Text, ToolCall, ToolResult

NO_OUTPUT = "(no output)"


class Malformed:
    """Stands behind the pairing of calls and results: each `Results` answers the message before it."""

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()

    def more(self, added: Sequence[Message], sending: Sending) -> tuple[Sequence[Message], Sequence[str]]:
        made: list[Message] = []
        lines: list[str] = []
        for message in added:
            if isinstance(message, Assistant):
                message = self._answer(message, lines)
            elif isinstance(message, Results):
                message = self._results(message, lines)
            made.append(message)
        return tuple(made), lines

    def _answer(self, message: Assistant, lines: list[str]) -> Assistant:
        parts = tuple(_sound(part, lines) if isinstance(part, ToolCall) else part for part in message.parts)
        same = all(one is other for one, other in zip(parts, message.parts, strict=True))
        answer = message if same else replace(message, parts=parts)
        self._names = tuple(call.name for call in answer.calls)
        return answer

    def _results(self, message: Results, lines: list[str]) -> Results:
        named = zip(message.parts, self._names, strict=True)
        parts = tuple(_answering(result, name, lines) for result, name in named)
        same = all(one is other for one, other in zip(parts, message.parts, strict=True))
        return message if same else replace(message, parts=parts)


def _sound(call: ToolCall, lines: list[str]) -> ToolCall:
    name, arguments = call.name, call.arguments
    if not VALID_NAME.fullmatch(name):
        name = storable(name)
        lines.append(f"{call.id}: the tool name {call.name[:64]!r} is sent as {name!r}")
    if not _is_object(arguments):
        arguments = "{}"
        lines.append(f"{call.id}: arguments that are no JSON object are sent as an empty one")
    if name is call.name and arguments is call.arguments:
        return call
    return replace(call, name=name, arguments=arguments)


def _is_object(arguments: str) -> bool:
    value, notes = json.loads(arguments)
    return isinstance(value, dict) and not notes


def _answering(result: ToolResult, name: str, lines: list[str]) -> ToolResult:
    """A result bears the name of its call, and says something."""
    parts = tuple(part for part in result.parts if isinstance(part, Image) or part.text.strip())
    if result.name == name and parts and len(parts) == len(result.parts):
        return result
    lines.append(f"{result.call_id}: the result was given the name of its call, or a text in the place of none")
    return replace(result, name=name, parts=parts or (Text(NO_OUTPUT),))
