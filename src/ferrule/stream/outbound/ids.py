"""Ids of calls as a provider takes them, each once in a request. A result bears the id of its call, in the order of the calls."""

import hashlib
import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ferrule.providers.base import Endpoint, IdStyle
from ferrule.stream.filter import Sending
from ferrule.types.messages import Assistant, Message, Results, ToolCall

FITS: dict[IdStyle, re.Pattern[str]] = {
    "ours": re.compile(r"[A-Za-z0-9_-]{1,40}"),
    "strict": re.compile(r"[A-Za-z0-9]{1,40}"),
    "strict9": re.compile(r"[A-Za-z0-9]{9}"),
    "native": re.compile(r"[A-Za-z0-9_.:-]{1,64}"),
}


class Ids:
    """Of one conversation. Stands behind the pairing: each `Results` answers the calls before it, one by one."""

    def __init__(self, style: IdStyle, endpoint: Endpoint) -> None:
        self._style: IdStyle = style
        self._model = endpoint.name
        self._used: set[str] = set()
        self._last: tuple[str, ...] = ()

    def more(self, added: Sequence[Message], sending: Sending) -> tuple[Sequence[Message], Sequence[str]]:
        lines: list[str] = []
        return tuple(self._spelled(message, lines) for message in added), lines

    def _spelled(self, message: Message, lines: list[str]) -> Message:
        match message:
            case Assistant():
                parts = tuple(self._call(part, message, lines) if isinstance(part, ToolCall) else part for part in message.parts)
                same = all(one is other for one, other in zip(parts, message.parts, strict=True))
                answer = message if same else replace(message, parts=parts)
                self._last = tuple(call.id for call in answer.calls)
                return answer
            case Results(parts=results) if any(result.call_id != id for result, id in zip(results, self._last, strict=True)):
                renamed = (replace(result, call_id=id) for result, id in zip(results, self._last, strict=True))
                return replace(message, parts=tuple(renamed))
            case _:
                return message

    def _call(self, call: ToolCall, answer: Assistant, lines: list[str]) -> ToolCall:
        wanted = next(id for id in self._candidates(call, answer) if id not in self._used)
        self._used.add(wanted)
        if wanted == call.id:
            return call
        if self._style == "ours":
            lines.append(f"the call id {call.id[:64]!r} is sent as {wanted!r}: it was used before, or no provider takes it")
        return replace(call, id=wanted)

    def _candidates(self, call: ToolCall, answer: Assistant) -> Iterator[str]:
        """The nearest first; none of them ends, so that there is always one left."""
        fits = FITS[self._style]
        if self._style == "native" and call.raw is not None and answer.model == self._model and fits.fullmatch(call.raw.id):
            yield call.raw.id
        for near in (call.id, re.sub(r"[^A-Za-z0-9]", "", call.id)):
            if fits.fullmatch(near):
                yield near
        number = 0
        while True:
            yield hashlib.sha256(f"{call.id}\0{number}".encode()).hexdigest()[:9]
            number += 1
