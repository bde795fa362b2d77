"""The last look at a request: what would make every provider refuse it is said in plain text instead, and reported.

A net behind the other filters, which leave it nothing to do: a session that cannot be repaired still goes on.
"""

from collections.abc import Sequence, Set

from ferrule.stream.filter import Sending
from ferrule.types.messages import Assistant, AssistantPart, Image, Message, Reasoning, Results, Text, ToolCall, ToolResult, User

GOES_ON = User((Text("(The conversation goes on.)"),))


class Check:
    """Holds what all providers demand: calls with ids of their own, each answered by the message behind it and by nothing else; a
    user first, and somebody other than the model last."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._waiting = False
        self._begun = self._closed = False

    def more(self, added: Sequence[Message], sending: Sending) -> tuple[Sequence[Message], Sequence[str]] | None:
        if not added and self._begun:
            return added, ()
        if self._closed or self._waiting:
            return None
        made: list[Message] = []
        lines: list[str] = []
        at = 0
        while at < len(added):
            at += self._turn(added, at, made, lines)
        self._close(made, lines)
        return tuple(made), lines

    def _turn(self, messages: Sequence[Message], at: int, made: list[Message], lines: list[str]) -> int:
        """One message, or an answer together with its results: how many there were."""
        message = messages[at]
        behind = messages[at + 1] if at + 1 < len(messages) else None
        if isinstance(message, Assistant) and message.calls:
            results = behind if isinstance(behind, Results) else None
            self._waiting = behind is None
            if results is not None and _answers(message, results, self._used):
                self._used.update(call.id for call in message.calls)
                made += [message, results]
            else:
                made += [as_text(message), *([as_text(results)] if results else [])]
                lines.append(f"{len(message.calls)} call(s) are sent as text, since their results do not fit them")
            return 2 if results is not None else 1
        if isinstance(message, Results):
            lines.append(f"{len(message.parts)} result(s) are sent as text, since no call stands before them")
            message = as_text(message)
        made.append(message)
        return 1

    def _close(self, made: list[Message], lines: list[str]) -> None:
        self._closed = not made
        if not self._begun and not (made and isinstance(made[0], User)):
            made.insert(0, GOES_ON)
            lines.append("a user message was put first")
        self._begun = True
        if isinstance(made[-1], Assistant):
            self._closed = True
            made.append(GOES_ON)
            lines.append("a user message was put last, since the model cannot answer itself")


def _answers(answer: Assistant, results: Results, used: Set[str]) -> bool:
    ids = [call.id for call in answer.calls]
    return [result.call_id for result in results.parts] == ids and len({*ids}) == len(ids) and used.isdisjoint(ids)


def as_text(message: Assistant | Results) -> Message:
    """The same for a reader, without any structure that a provider could refuse."""
    if isinstance(message, Results):
        return User(tuple(part for result in message.parts for part in _told(result)))
    parts: list[AssistantPart] = []
    for part in message.parts:
        match part:
            case ToolCall():
                parts.append(Text(f"[Called {part.name} with {part.arguments}]"))
            case Text() if part.text.strip():
                parts.append(Text(part.text))
            case Text() | Reasoning():
                pass
    return Assistant(tuple(parts), "end", message.model)


def _told(result: ToolResult) -> tuple[Text | Image, ...]:
    return (Text(f"[Result of {result.name}, {result.kind}]"), *result.parts)
