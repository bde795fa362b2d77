"""What a script may know about a request, however the request was spelled."""

from typing import Any

import msgspec
from msgspec import Struct

from ferrule.types.messages import Assistant, Opaque, Results, Text, User
from ferrule.types.request import Request

from .script import Match


class Mark(Struct, frozen=True, forbid_unknown_fields=True):
    """Which step an answer came from: its index, and which repetition of it (both from 0). Travels as opaque data."""

    step: int
    time: int = 0

    def opaque(self, model: str) -> Opaque:
        return Opaque("scripted", model, msgspec.json.encode(self).decode())


class View(Struct, frozen=True):
    """`answers` holds one entry for each assistant message: its mark, or None where it bears none."""

    system: str = ""
    messages: int = 0
    answers: tuple[Mark | None, ...] = ()
    first_user: str = ""
    last_user: str = ""
    last: str = ""
    last_result: str = ""
    kinds: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    characters: int = 0

    def failures(self, match: Match) -> tuple[str, ...]:
        """Which conditions do not hold, one sentence each. An unknown kind of result (a wire has none) is not judged."""
        found: list[str] = []
        if match.last is not None and match.last != self.last:
            found.append(f"the last message is {self.last or 'missing'}, not {match.last}")
        for name, wanted, text in (
            ("last user message", match.last_user, self.last_user),
            ("last result", match.last_result, self.last_result),
            ("system prompt", match.system, self.system),
        ):
            if wanted is not None and wanted not in text:
                found.append(f"the {name} does not contain {wanted!r}; it is {_shown(text)}")
        if match.result_kind is not None and self.kinds and self.kinds[-1] != match.result_kind:
            found.append(f"the last result is {self.kinds[-1]}, not {match.result_kind}")
        if match.tool is not None and match.tool not in self.tools:
            found.append(f"the tool {match.tool!r} is not offered; offered are {', '.join(self.tools) or 'none'}")
        if match.messages is not None and match.messages != self.messages:
            found.append(f"there are {self.messages} messages, not {match.messages}")
        if match.answers is not None and match.answers != len(self.answers):
            found.append(f"there are {len(self.answers)} answers, not {match.answers}")
        return tuple(found)


def view(request: Request, model: str) -> View:
    """The view of a request to the scripted model `model` (a script's path)."""
    users = [_text(message) for message in request.messages if isinstance(message, User)]
    results = [message for message in request.messages if isinstance(message, Results)]
    last = request.messages[-1] if request.messages else None
    return View(
        system="\n".join(request.system),
        messages=len(request.messages),
        answers=tuple(_mark(message, model) for message in request.messages if isinstance(message, Assistant)),
        first_user=users[0] if users else "",
        last_user=users[-1] if users else "",
        last={User: "user", Results: "results", Assistant: "assistant"}[type(last)] if last else "",
        last_result="\n".join(part.text for part in results[-1].parts) if results else "",
        kinds=tuple(part.kind for part in results[-1].parts) if results else (),
        tools=tuple(tool.name for tool in request.tools),
        characters=sum(map(len, request.system)) + sum(map(_size, request.messages)),
    )


def _text(message: User) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def _size(message: Any) -> int:
    match message:
        case User():
            return len(_text(message))
        case Assistant():
            return len(message.text) + sum(len(call.name) + len(call.arguments) for call in message.calls)
        case _:
            return sum(len(part.text) for part in message.parts)


def _mark(message: Assistant, model: str) -> Mark | None:
    for part in message.parts:
        if part.opaque and (part.opaque.dialect, part.opaque.model) == ("scripted", model):
            try:
                return msgspec.json.decode(part.opaque.data, type=Mark)
            except msgspec.DecodeError:
                return None
    return None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 200 else f"{text[:100]} … {text[-100:]}")
