"""Consecutive requests of one session: each repeats the one before and adds to its end."""

import json
from collections.abc import Collection
from itertools import pairwise
from typing import Any

from .body import Json, read

PLACES = {
    "anthropic": ("system", "tools", "messages", "content"),
    "openai": ("", "tools", "messages", "content"),
    "openai-responses": ("instructions", "tools", "input", "content"),
    "google": ("systemInstruction", "tools", "contents", "parts"),
}
MARKS = frozenset({"cache_control", "prompt_cache_breakpoint"})


def violations_history(dialect: str, bodies: list[Any], *, rewritten: Collection[int] = ()) -> list[str]:
    """What differs where a prompt cache needs bytes that are equal.

    H1 the system prompt, H2 the tools, H3 every message of the request before, at its place and with its keys in the same
    order; only marks for the cache may move, and blocks may be added to its last message. `rewritten` are the positions of
    the requests that are known to follow a compaction: their messages may differ from those before, the rest may not.
    """
    problems: list[str] = []
    decoded = [unmarked(read(body)[0]) for body in bodies]
    for index, (before, after) in enumerate(pairwise(decoded), 1):
        if not isinstance(before, dict) or not isinstance(after, dict):
            problems.append(f"H3 request {index}: not an object")
            continue
        found = _differences(dialect, before, after)
        problems += [f"{number} request {index}: {what}" for number, what in found if number != "H3" or index not in rewritten]
    return problems


def _differences(dialect: str, before: Json, after: Json) -> list[tuple[str, str]]:
    system, tools, messages, content = PLACES[dialect]
    found = []
    if system and spelled(before.get(system)) != spelled(after.get(system)):
        found.append(("H1", f"{system} has changed"))
    if spelled(before.get(tools)) != spelled(after.get(tools)):
        found.append(("H2", f"{tools} have changed"))
    old, new = before.get(messages), after.get(messages)
    if not isinstance(old, list) or not isinstance(new, list):
        return found
    for at, message in enumerate(old):
        last = at == len(old) - 1
        if at >= len(new):
            found.append(("H3", f"{messages}[{at}] is gone"))
        elif spelled(message) != spelled(new[at]) and not (last and extends(message, new[at], content)):
            found.append(("H3", f"{messages}[{at}] has changed"))
        else:
            continue
        break
    return found


def extends(before: object, after: object, content: str) -> bool:
    """The same message with more blocks, or more of its one text, at its end."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return False
    old, new = as_blocks(before.get(content)), as_blocks(after.get(content))
    if isinstance(before.get(content), str) and isinstance(after.get(content), str):
        new = old if after[content].startswith(before[content]) else new
    rest = [{key: value for key, value in side.items() if key != content} for side in (before, after)]
    return spelled(rest[0]) == spelled(rest[1]) and [spelled(block) for block in old] == [
        spelled(block) for block in new[: len(old)]
    ]


def as_blocks(content: object) -> list[Any]:
    if isinstance(content, list):
        return content
    return [] if content is None else [{"type": "text", "text": content}]


def unmarked(value: Any) -> Any:
    match value:
        case dict():
            return {key: unmarked(item) for key, item in value.items() if key not in MARKS}
        case list():
            return [unmarked(item) for item in value]
    return value


def spelled(value: object) -> str:
    """The value as JSON text; the order of keys counts, as it does for a cache."""
    return json.dumps(value, ensure_ascii=True)
