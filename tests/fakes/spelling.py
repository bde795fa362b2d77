"""What the four wire formats share: frames of a stream, their bytes, and what is said in each."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from ferrule.providers.scripted.answer import Said, pieces
from ferrule.providers.scripted.faults import Says
from ferrule.providers.scripted.script import Wire
from ferrule.providers.scripted.view import View
from ferrule.types.messages import StopReason
from ferrule.types.usage import Usage

Json = dict[str, Any]
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Frame:
    """One event of a stream. `spoken` counts the characters of content up to its end; `last`: it belongs to the end."""

    data: str
    spoken: int = 0
    event: str = ""
    last: bool = False


@dataclass(frozen=True)
class Speech:
    """An answer with everything that its spelling needs. `border` is a character at which a delta must end."""

    number: int
    model: str
    said: tuple[Said, ...]
    stop: StopReason
    usage: Usage | None
    chunk: int | None
    border: int | None
    wire: Wire
    body: Json

    def part_deltas(self, wanted: int) -> Iterator[tuple[str, int]]:
        """The deltas of one part, each with the characters of content spoken up to its end."""
        before = sum(len(part.text or "") for part in self.said[:wanted])
        border = None if self.border is None else self.border - before
        for piece in pieces(self.said[wanted].text or "", self.chunk, border):
            before += len(piece)
            yield piece, before


class Dialect(Protocol):
    """One vendor's wire format, a module."""

    def view(self, body: Json) -> View: ...
    def frames(self, speech: Speech) -> Iterator[Frame]: ...
    def error(self, status: int, says: Says, message: str | None, tokens: int | None) -> Json: ...
    def broken(self, speech: Speech, says: Says, message: str | None) -> Iterator[Frame]: ...


def dumps(value: Any) -> str:
    """Compact JSON; a half of a surrogate pair goes out as an escape, the way servers that cut UTF-16 write it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(value, separators=(",", ":")) if _SURROGATE.search(text) else text


def spell(frame: Frame, wire: Wire) -> bytes:
    """The frame as server-sent events."""
    end = wire.newline
    lines = [f"event: {frame.event}"] if frame.event else []
    if wire.data_lines and frame.data.startswith("{"):
        lines += ["data: {", f"data: {frame.data[1:]}"]
    else:
        lines.append(f"data: {frame.data}")
    comment = f": keep-alive{end}{end}" if wire.comments else ""
    return (comment + end.join(lines) + end + end).encode()


def halves(text: str | None) -> str | None:
    """The text as UTF-16 code units, one character each, so that a cut may fall between the halves of a pair."""
    if text is None:
        return None
    data = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(data[at] | data[at + 1] << 8) for at in range(0, len(data), 2))


def plain(content: Any) -> str:
    """The text of a message's content: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


WORDS: dict[Says, str] = {
    "auth": "The key is not valid.",
    "billing": "The account has no credit left.",
    "rate_limit": "Too many requests.",
    "overloaded": "The model is overloaded.",
    "server_error": "Something went wrong on our side.",
    "timeout": "The request timed out.",
    "idle_timeout": "The request timed out.",
    "quota": "The requests per day are used up.",
    "signature": "Invalid signature in thinking block.",
    "effort": "This effort is not supported by this model.",
    "model_not_found": "The model does not exist.",
    "bad_request": "The request is invalid.",
    "context_overflow": "The prompt is too long.",
    "refused": "The request was refused.",
}
