"""Arguments become the text of a JSON object, or the call gets a problem that says what was wrong. No value is ever invented."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ferrule.types import json
from ferrule.types.messages import ToolCall
from ferrule.types.request import ToolSchema

from .mending import mend
from .whole import Lines, rewritten

ENCODED = 3
"""How often an object may have been encoded as a string."""


class Resolved(NamedTuple):
    """`text` is the text of a JSON object; `problem` why it is not what the model meant, `mended` what was taken off it."""

    text: str
    problem: str | None = None
    mended: str = ""


def resolve(call: ToolCall, schema: ToolSchema | None) -> tuple[ToolCall, Lines]:
    """The call with arguments that can be stored. What is already known not to run is not mended."""
    known, required = keys(schema)
    resolved = resolve_arguments(call.arguments, required, known, call.problem is None)
    problem = call.problem or resolved.problem
    if resolved.text == call.arguments and problem == call.problem:
        return call, ()
    lines = []
    if resolved.mended:
        lines.append(f"{call.id}: arguments mended: {resolved.mended}")
    elif resolved.text != call.arguments and call.arguments.strip():
        lines.append(f"{call.id}: arguments rewritten as a JSON object")
    return rewritten(call, arguments=resolved.text, problem=problem), lines


def keys(schema: ToolSchema | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parameters of a tool, and those that it requires."""
    if schema is None:
        return (), ()
    value, _ = json.loads(schema.parameters)
    properties = json.member(value, "properties")
    known = tuple(properties) if isinstance(properties, dict) else ()
    return known, tuple(name for name in json.items(value, "required") if isinstance(name, str))


def resolve_arguments(written: str, required: Sequence[str] = (), known: Sequence[str] = (), mendable: bool = True) -> Resolved:
    """Raw control characters inside strings are let through and escaped; an object that was encoded as a string is decoded.

    Empty, null or missing arguments are those of a tool that requires none, an error for any other.
    """
    text, mended = written, ""
    notes: tuple[str, ...] = ()
    value: Any = None
    if not _is_nothing(written):
        for _ in range(ENCODED):
            value, more = json.loads(text)
            notes += more
            if isinstance(value, json.BadJson) and mendable and (found := mend(text, known)) is not None:
                text, mended = found
                value, more = json.loads(text)
                notes += more
            if not isinstance(value, str) or _is_nothing(value):
                break
            text = value
    if value is None or (isinstance(value, str) and _is_nothing(value)):
        return Resolved("{}", _missing(required))
    if isinstance(value, json.BadJson):
        return Resolved("{}", f"The arguments are not valid JSON ({value.reason}). Nothing was run. Send the whole call again.")
    if not isinstance(value, dict):
        return Resolved("{}", f"The arguments must be a JSON object, not {_kind(value)}. Nothing was run.")
    plain = text is written and not notes and not mended
    return Resolved(written if plain else json.encode(value).decode(), None, mended)


def _is_nothing(text: str) -> bool:
    return text.strip() in ("", "null")


def _missing(required: Sequence[str]) -> str | None:
    if not required:
        return None
    named = ", ".join(f"`{name}`" for name in required)
    return f"The arguments are empty; required: {named}. Nothing was run. Send the whole call again."


def _kind(value: Any) -> str:
    match value:
        case list():
            return "a list"
        case str():
            return "a string"
        case _:
            return "a single value"
