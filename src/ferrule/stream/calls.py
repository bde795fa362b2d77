"""Inbound: makes the calls of an answer storable and says which of them can't be run.

What a provider would refuse in the next request never reaches the journal: ids become ours, names match the pattern that all
vendors accept, arguments are the text of a JSON object. What the model wrote is kept beside as `raw`.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from ferrule.types import json
from ferrule.types.messages import Assistant, AssistantPart, RawCall, Text, ToolCall

VALID_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
PREFIXES = ("functions.", "functions/", "functions:", "tools.", "tool.", "default_api.", "default_api:")
ALIASES = {"write_file": "write_to_file", "search_and_replace": "edit", "bash": "execute_command", "shell": "execute_command"}

CUT = "The answer reached its output limit, so its calls may be incomplete. Nothing was run. Call again, in smaller pieces."


def normalise(message: Assistant, tools: Iterable[str], first_number: int) -> tuple[Assistant, tuple[str, ...]]:
    """The storable message and one line a change. `first_number` numbers its calls within the session.

    Empty text and reasoning without content are dropped, since no vendor takes them back.
    """
    names = tuple(tools)
    cut = message.stop == "length"
    parts: list[AssistantPart] = []
    notes: list[str] = []
    number = first_number
    for part in message.parts:
        if isinstance(part, ToolCall):
            call, said = _call(part, names, f"call_{number:05d}", cut)
            parts.append(call)
            notes += said
            number += 1
        elif part.text.strip() or part.opaque is not None:
            parts.append(part if part.text.strip() or not isinstance(part, Text) else Text("", part.opaque))
    return Assistant(tuple(parts), message.stop, message.model), tuple(notes)


def _call(call: ToolCall, tools: tuple[str, ...], id: str, cut: bool) -> tuple[ToolCall, list[str]]:
    name, name_problem = resolve_name(call.name, tools)
    arguments, arguments_problem = resolve_arguments(call.arguments)
    problem = name_problem or (CUT if cut else arguments_problem)
    changed = name != call.name or arguments != call.arguments
    raw = RawCall(call.id, call.name, call.arguments) if changed or call.id != id else None
    notes = []
    if name != call.name:
        notes.append(f"{id}: tool name {call.name!r} stored as {name!r}")
    if arguments != call.arguments and call.arguments.strip():
        notes.append(f"{id}: arguments rewritten as a JSON object")
    return ToolCall(id, name, arguments, raw, problem, call.opaque), notes


def resolve_name(written: str, tools: tuple[str, ...]) -> tuple[str, str | None]:
    """The tool that is meant: exact, else folded (Unicode, blanks, prefix, alias, case) if that names exactly one tool."""
    if written in tools:
        return written, None
    folded = _fold(written)
    matches = {tool for tool in tools if folded in (tool, tool.lower())} or {
        tool for tool in tools if folded.lower() == tool.lower()
    }
    if not matches and ALIASES.get(folded.lower()) in tools:
        matches = {ALIASES[folded.lower()]}
    if len(matches) == 1:
        return matches.pop(), None
    storable = re.sub(r"[^A-Za-z0-9_-]+", "_", folded)[:64].strip("_") or "unnamed_tool"
    why = "matches several tools" if matches else "does not exist"
    return storable, f"The tool {written!r} {why}. Nothing was run. The tools are: {', '.join(tools)}."


def _fold(written: str) -> str:
    text = unicodedata.normalize("NFKC", written)
    text = "".join(character for character in text if unicodedata.category(character) != "Cf").strip()
    for prefix in PREFIXES:
        if text.lower().startswith(prefix):
            return text[len(prefix) :].strip()
    return text


def resolve_arguments(written: str) -> tuple[str, str | None]:
    """The text of a JSON object, and what is wrong with what was written. Nothing is guessed: what does not parse is not run.

    Raw control characters inside strings are let through and escaped; an object that was encoded twice is decoded twice.
    """
    if not written.strip() or written.strip() == "null":
        return "{}", None
    value, notes = json.loads(written)
    twice = isinstance(value, str)
    if isinstance(value, str):
        value, more = json.loads(value)
        notes += more
    if isinstance(value, json.BadJson):
        return "{}", f"The arguments are not valid JSON ({value.reason}). Nothing was run. Send the whole call again."
    if not isinstance(value, dict):
        return "{}", f"The arguments must be a JSON object, not {_kind(value)}. Nothing was run."
    return (json.encode(value).decode() if twice or notes else written), None


def _kind(value: Any) -> str:
    match value:
        case list():
            return "a list"
        case str():
            return "a string"
        case _:
            return "a single value"
