"""What is done to the calls of a whole answer besides names and arguments: ids of ours, and no call out of a cut answer."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from ferrule.types import json
from ferrule.types.messages import Assistant, AssistantPart, Message, Reasoning, Text, ToolCall

from .whole import Lines, each_call, rewritten

CUT = "The answer reached its output limit, so its calls may be incomplete. Nothing was run. Call again, in smaller pieces."
GONE = (
    "[The model called {name!r} {count} times in a row. There is no such tool, and the call was not passed on. Tools: {tools}.]"
)
REPEATS = 10
"""Answers in a row that may call the same tool that is not there."""


def numbered(message: Assistant, number: int) -> tuple[Assistant, Lines]:
    """With ids of ours, unique in the session; those of the provider may be missing, doubled or used before."""
    numbers = iter(range(number, number + len(message.calls)))

    def own(call: ToolCall) -> tuple[ToolCall, Lines]:
        id = f"call_{next(numbers):05d}"
        return (call if call.id == id else rewritten(call, id=id)), ()

    return each_call(message, own)


def not_cut(message: Assistant) -> tuple[Assistant, Lines]:
    """No call of an answer that reached its limit can be run: even one that parses may have been meant to be longer."""
    if message.stop != "length":
        return message, ()
    return each_call(message, lambda call: (call if call.problem else rewritten(call, problem=CUT), ()))


def decoded(call: ToolCall) -> tuple[ToolCall, Lines]:
    """Without HTML entities in the values of its arguments, for models that write them everywhere."""
    if "&" not in call.arguments:
        return call, ()
    value, _ = json.loads(call.arguments)
    plain = _unescaped(value)
    if plain == value:
        return call, ()
    return rewritten(call, arguments=json.encode(plain).decode()), (f"{call.id}: HTML entities in arguments decoded",)


def _unescaped(value: Any) -> Any:
    match value:
        case str():
            import html

            return html.unescape(value)
        case dict():
            return {key: _unescaped(item) for key, item in value.items()}
        case list():
            return [_unescaped(item) for item in value]
        case _:
            return value


def without_blanks(message: Assistant) -> tuple[Assistant, Lines]:
    """Without empty text and without reasoning that holds nothing: no vendor takes them back."""
    parts = tuple(_trimmed(part) for part in message.parts if _says_something(part))
    same = len(parts) == len(message.parts) and all(map(lambda one, other: one is other, parts, message.parts))
    return (message if same else replace(message, parts=parts)), ()


def _says_something(part: AssistantPart) -> bool:
    return isinstance(part, ToolCall) or bool(part.text.strip()) or part.opaque is not None


def _trimmed(part: AssistantPart) -> AssistantPart:
    return replace(part, text="") if isinstance(part, Text) and part.text and not part.text.strip() else part


def guarded(message: Assistant, tools: Sequence[str], before: Sequence[Message]) -> tuple[Assistant, Lines]:
    """A tool that does not exist, called in more than `REPEATS` answers in a row: the calls give way to a text that says so.

    Counted in the conversation itself, so that it holds over attempts and restarts. Any call of a tool that exists ends the row.
    """
    name = _unknown_only(message, tools)
    if name is None:
        return message, ()
    row = 1
    for earlier in reversed(before):
        if isinstance(earlier, Assistant) and earlier.calls:
            if _unknown_only(earlier, tools) != name:
                break
            row += 1
            if row > REPEATS:
                return _replaced(message, name, row, tools), (
                    f"calls of the unknown tool {name!r} left out, the {row}th in a row",
                )
    return message, ()


def _unknown_only(message: Assistant, tools: Sequence[str]) -> str | None:
    """The one name that all calls of the message bear, if no tool has it."""
    names = {call.name for call in message.calls}
    return names.pop() if len(names) == 1 and not names & set(tools) else None


def _replaced(message: Assistant, name: str, row: int, tools: Sequence[str]) -> Assistant:
    kept = tuple(part for part in message.parts if isinstance(part, Text) or (isinstance(part, Reasoning) and not part.opaque))
    text = Text(GONE.format(name=name, count=row, tools=", ".join(tools)))
    return replace(message, parts=(*kept, text), stop="end")
