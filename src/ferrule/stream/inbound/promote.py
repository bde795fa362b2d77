"""Text that is a call becomes one, for models that write calls as text. It is marked, since it runs only where it only reads."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ferrule.types.messages import Assistant, AssistantPart, Reasoning, Text, ToolCall
from ferrule.types.stream import Done, Failed, Noted, PartBegan, PartDelta, PartKind, PartOpaque, StreamEvent

from .names import resolve_name
from .written import LONGEST, MOST, Written, may_become, read

HELD = LONGEST * 2
"""Characters of text that are held back before it is passed on as text."""


class Promote:
    """Holds text back while it may be calls. The first thing that speaks against it lets all of it go on, in its order."""

    wants: frozenset[type] = frozenset({PartBegan, PartDelta, PartOpaque, Done, Failed})

    def __init__(self, tools: Sequence[str]) -> None:
        self._tools = tools
        self._held: list[StreamEvent] = []
        self._texts: set[int] = set()
        self._head = ""
        self._length = 0
        self._passing = not tools

    def take(self, event: StreamEvent) -> Sequence[StreamEvent] | None:
        if self._passing:
            return None
        match event:
            case Done(message=message):
                return self._promoted(event, message) or self._release(event)
            case Failed() | PartBegan(kind="call"):
                return self._release(event)
            case PartBegan(kind="text", index=index):
                self._texts.add(index)
            case PartDelta(index=index, text=text) if index in self._texts:
                self._length += len(text)
                self._head = (self._head + text)[:HEAD] if len(self._head) < HEAD else self._head
                if self._length > HELD or not may_become(self._head):
                    return self._release(event)
            case _ if not self._texts:
                return None
            case _:
                pass
        self._held.append(event)
        return ()

    def _release(self, event: StreamEvent) -> Sequence[StreamEvent] | None:
        self._passing = True
        held, self._held = self._held, []
        return (*held, event) if held else None

    def _promoted(self, done: Done, message: Assistant) -> Sequence[StreamEvent] | None:
        found = self._calls(message)
        if not found:
            return None
        self._passing = True
        calls = [ToolCall("", written.name, written.arguments, promoted=True) for written in found]
        first = next(at for at, part in enumerate(message.parts) if isinstance(part, Text))
        thoughts = [part for part in message.parts[first:] if isinstance(part, Reasoning)]
        parts: tuple[AssistantPart, ...] = (*message.parts[:first], *calls, *thoughts)
        named = ", ".join(call.name for call in calls)
        return (
            *(event for at, part in enumerate(parts[first:], first) for event in _spelled(at, part)),
            Noted("promote", f"{len(calls)} call(s) written as text were read: {named}"),
            replace(done, message=replace(message, parts=parts, stop="calls")),
        )

    def _calls(self, message: Assistant) -> tuple[Written, ...]:
        """Those that the whole text spells, if all of their tools are there and nothing else was said or called."""
        texts = [part.text for part in message.parts if isinstance(part, Text)]
        if message.calls or message.stop not in ("end", "calls") or not texts or not may_become("".join(texts)):
            return ()
        found = read("".join(texts)) or read("\n".join(texts))
        known = all(resolve_name(written.name, self._tools)[1] is None for written in found)
        return found if known and len(found) <= MOST else ()


HEAD = 256
"""Characters that decide whether a text may be calls."""


def _spelled(index: int, part: AssistantPart) -> Iterator[StreamEvent]:
    if isinstance(part, ToolCall):
        yield PartBegan(index, "call", part.id, part.name)
        yield PartDelta(index, part.arguments)
        return
    kind: PartKind = "reasoning" if isinstance(part, Reasoning) else "text"
    yield PartBegan(index, kind)
    if part.text:
        yield PartDelta(index, part.text)
    if part.opaque is not None:
        yield PartOpaque(index, part.opaque)
