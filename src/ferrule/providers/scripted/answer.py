"""What a turn says: its parts with every default filled in, and where in them a fault strikes."""

import json
import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, UnsetType

from ferrule.types.messages import StopReason
from ferrule.types.stream import PartKind
from ferrule.types.usage import Usage

from .faults import At
from .position import Turn
from .script import Call
from .view import View


class Unplayable(Exception):
    """The request is not one that the step can answer; the text says why."""


class Said(Struct, frozen=True):
    """One part as it goes out. `text` None is content that is null; `id` None is a call without an id."""

    kind: PartKind
    text: str | None
    id: str | None = None
    name: str = ""


def say(turn: Turn, view: View) -> tuple[Said, ...]:
    """The parts of this turn's answer. Raises Unplayable when the step expected another request."""
    step, label = turn.step, f"step {turn.mark.step + 1} of the script"
    if step.expect and (failures := view.failures(step.expect)):
        raise Unplayable(f"{label} expects another request: {'; '.join(failures)}")
    copied = {name: _copied(label, name, pattern, view.last_result) for name, pattern in step.copy.items()}
    said: list[Said] = []
    for part in step.content:
        if not isinstance(part.call, UnsetType):
            number = sum(one.kind == "call" for one in said)
            said.append(_call(part.call, f"call_{turn.mark.step + 1}_{turn.mark.time + 1}_{number + 1}", copied))
        elif not isinstance(part.reasoning, UnsetType):
            said.append(Said("reasoning", _filled(part.reasoning, copied)))
        elif not isinstance(part.text, UnsetType):
            said.append(Said("text", None if part.text is None else _filled(part.text, copied)))
    return tuple(said)


def stop_of(turn: Turn, said: tuple[Said, ...]) -> StopReason:
    return turn.step.stop or ("calls" if any(part.kind == "call" for part in said) else "end")


def usage_of(turn: Turn, said: tuple[Said, ...], characters: int) -> Usage | None:
    """As the step says; None when it says that none is reported; else a quarter of a token for each character."""
    if turn.step.usage is None:
        return None
    if not isinstance(turn.step.usage, UnsetType):
        return turn.step.usage.usage()
    reasoning = sum(len(part.text or "") for part in said if part.kind == "reasoning") // 4
    output = sum(len(part.text or "") + len(part.name) for part in said) // 4
    return Usage(input=max(1, characters // 4), output=max(1, output), reasoning=reasoning)


def place(said: tuple[Said, ...], at: At, bytes: int | None = None) -> int:
    """Where a fault strikes, in characters of the answer's content. `middle` is the middle of the last part."""
    sizes = [len(part.text or "") for part in said]
    total = sum(sizes)
    if bytes is not None:
        return min(bytes, total)
    match at:
        case int():
            return min(at, total)
        case "middle":
            return total - sizes[-1] + sizes[-1] // 2 if sizes else 0
        case "end":
            return total
        case _:
            return 0


def pieces(text: str, chunk: int | None, border: int | None = None) -> Iterator[str]:
    """The text in deltas of `chunk` characters (None: whole); a delta also ends at `border`, if that lies inside."""
    if border is not None and 0 < border < len(text):
        yield from pieces(text[:border], chunk)
        yield from pieces(text[border:], chunk)
        return
    size = chunk or len(text)
    for start in range(0, len(text), size or 1):
        yield text[start : start + size]


def _call(call: Call, own_id: str, copied: dict[str, str]) -> Said:
    arguments = call.arguments
    text = _filled(arguments, copied) if isinstance(arguments, str) else json.dumps(_deep(arguments, copied), ensure_ascii=False)
    return Said("call", text, own_id if isinstance(call.id, UnsetType) else call.id, call.name)


def _copied(label: str, name: str, pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        raise Unplayable(f"{label} copies {name!r}, but the last result has no match for {pattern!r}; it is {text[:200]!r}")
    return str(found[found.lastindex or 0])


def _filled(text: str, copied: dict[str, str]) -> str:
    for name, value in copied.items():
        text = text.replace("{{" + name + "}}", value)
    return text


def _deep(value: Any, copied: dict[str, str]) -> Any:
    match value:
        case str():
            return _filled(value, copied)
        case dict():
            return {key: _deep(inner, copied) for key, inner in value.items()}
        case list():
            return [_deep(inner, copied) for inner in value]
        case _:
            return value
