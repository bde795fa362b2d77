"""The second net of law 4: whatever a history went through, every call in a request has exactly one result, in its place.

Pure, idempotent and linear. Only the view of one request is repaired, the journal stays as it is.

What is repaired, after `sanitizeToolUseResultPairing` of OpenClaw where it fits our types:

- the results of an assistant message stand in one `Results` directly behind it, in the order of its calls;
- a result belongs to the nearest call before it that has its id and no real result yet, so that an id used again in a later turn
  pairs each turn with its own result; a result that came late moves up;
- the first real result of a call wins over later ones and over synthetic ones; the others, and those without a call before them,
  are dropped;
- a call without a result gets a synthetic one: `interrupted`, or `unknown` when it had started;
- parts without content and messages without parts are dropped;
- a conversation that does not start with a user message gets a placeholder in front, so that nothing that was said is lost.
"""

from collections import defaultdict
from collections.abc import Sequence, Set
from typing import TypeVar

from msgspec import Struct

from ferrule.types.messages import Assistant, Image, Message, Reasoning, Results, Text, ToolCall, ToolResult, User

INTERRUPTED = "This call was not run: the task was interrupted before it started."
UNKNOWN = (
    "This call was started, and its outcome is unknown because the task was interrupted. Inspect what it did before going on."
)
NO_USER = "(The beginning of the conversation is missing.)"


class Repairs(Struct, frozen=True):
    """What was changed. `added`: ids of calls that got a synthetic result."""

    added: tuple[str, ...] = ()
    duplicates: int = 0
    orphans: int = 0
    moved: int = 0
    emptied: int = 0
    opened: bool = False

    def __bool__(self) -> bool:
        return self != NONE

    def lines(self) -> tuple[str, ...]:
        """One line a kind of change, for the journal."""
        said = [f"added a result for call {call}" for call in self.added]
        counted = (
            (self.duplicates, "dropped {} second result(s) of a call"),
            (self.orphans, "dropped {} result(s) without a call"),
            (self.moved, "moved {} result(s) to their calls"),
            (self.emptied, "dropped {} empty part(s) or message(s)"),
            (int(self.opened), "opened the conversation with a user message"),
        )
        return (*said, *(text.format(count) for count, text in counted if count))


NONE = Repairs()


def repair(messages: Sequence[Message], started: Set[str] = frozenset()) -> tuple[Sequence[Message], Repairs]:
    """The valid view of a history, and what had to be changed for it. A valid history is returned as the same object.

    `started` holds the ids of calls whose effect may have begun.
    """
    if valid(messages):
        return messages, NONE
    kept, emptied = _without_empty(messages)
    slots, duplicates, orphans = _paired(kept)
    repaired: list[Message] = []
    added: list[str] = []
    moved = 0
    for at, message in enumerate(kept):
        if isinstance(message, Results):
            continue
        repaired.append(message)
        if at not in slots:
            continue
        behind = kept[at + 1] if at + 1 < len(kept) else None
        if isinstance(behind, Results) and _whole(slots[at], behind):
            repaired.append(behind)
            continue
        moved += _moved(slots[at], at + 1)
        added += [slot.call.id for slot in slots[at] if slot.result is None]
        repaired.append(Results(tuple(slot.result or synthetic(slot.call, slot.call.id in started) for slot in slots[at])))
    opened = bool(repaired) and not isinstance(repaired[0], User)
    if opened:
        repaired.insert(0, User((Text(NO_USER),)))
    return tuple(repaired), Repairs(tuple(added), duplicates, orphans, moved, emptied, opened)


def valid(messages: Sequence[Message], begun: bool = False) -> bool:
    """Whether nothing is to be repaired. `begun`: the messages follow others that are valid."""
    if messages and not begun and not isinstance(messages[0], User):
        return False
    waiting: tuple[str, ...] = ()
    for message in messages:
        if isinstance(message, Results):
            if not message.parts or tuple(part.call_id for part in message.parts) != waiting:
                return False
            waiting = ()
        elif waiting or not message.parts or any(map(_empty, message.parts)):
            return False
        elif isinstance(message, Assistant):
            waiting = tuple(part.id for part in message.parts if isinstance(part, ToolCall))
    return not waiting


def synthetic(call: ToolCall, started: bool) -> ToolResult:
    """The result of a call of which no other is known."""
    if started:
        return ToolResult(call.id, call.name, "unknown", (Text(UNKNOWN),))
    return ToolResult(call.id, call.name, "interrupted", (Text(INTERRUPTED),))


def is_synthetic(result: ToolResult) -> bool:
    """Whether a result only stands in for one, so that a real one may replace it."""
    return result.kind == "unknown" or (result.kind == "interrupted" and result.text == INTERRUPTED)


class _Slot:
    """A call and where its result was found: the message, and the place in it."""

    __slots__ = ("call", "message", "place", "result")

    def __init__(self, call: ToolCall) -> None:
        self.call = call
        self.result: ToolResult | None = None
        self.message = -1
        self.place = -1

    def fill(self, result: ToolResult, message: int, place: int) -> None:
        self.result, self.message, self.place = result, message, place


def _paired(messages: Sequence[Message]) -> tuple[dict[int, list[_Slot]], int, int]:
    """The calls of each assistant message with their results; how many results were second ones, how many had no call."""
    slots: dict[int, list[_Slot]] = {}
    latest: dict[str, _Slot] = {}
    unsure: defaultdict[str, list[_Slot]] = defaultdict(list)
    duplicates = orphans = 0
    for at, message in enumerate(messages):
        if isinstance(message, Assistant):
            made = [_Slot(part) for part in message.parts if isinstance(part, ToolCall)]
            if made:
                slots[at] = made
            for slot in reversed(made):
                latest[slot.call.id] = slot
                unsure[slot.call.id].append(slot)
        elif isinstance(message, Results):
            for place, result in enumerate(message.parts):
                if result.call_id not in latest:
                    orphans += 1
                    continue
                duplicates += not _placed(result, at, place, latest[result.call_id], unsure[result.call_id])
    return slots, duplicates, orphans


def _placed(result: ToolResult, message: int, place: int, latest: _Slot, unsure: list[_Slot]) -> bool:
    """Give a result to the nearest call without a real one; false when a result was left over by that."""
    if not unsure or latest.result == result:
        return False
    slot = unsure[-1]
    fresh = slot.result is None
    if is_synthetic(result):
        if fresh:
            slot.fill(result, message, place)
        return fresh
    slot.fill(result, message, place)
    unsure.pop()
    return fresh


def _whole(slots: list[_Slot], behind: Results) -> bool:
    """Whether the message behind the calls is their results as it stands."""
    return len(slots) == len(behind.parts) and all(slot.result is part for slot, part in zip(slots, behind.parts, strict=True))


def _moved(slots: list[_Slot], expected: int) -> int:
    """How many results did not stand in the message behind the calls, in the order of the calls."""
    moved = 0
    place = -1
    for slot in slots:
        if slot.result is None:
            continue
        if slot.message != expected or slot.place < place:
            moved += 1
        else:
            place = slot.place
    return moved


def _empty(part: object) -> bool:
    """Vendors refuse text without a visible character and images without data; opaque data is content."""
    if isinstance(part, Text):
        return part.opaque is None and (not part.text or part.text.isspace())
    if isinstance(part, Reasoning):
        return part.opaque is None and not part.text
    return isinstance(part, Image) and not part.data


Part = TypeVar("Part")


def _full(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(part for part in parts if not _empty(part))


def _without_empty(messages: Sequence[Message]) -> tuple[list[Message], int]:
    kept: list[Message] = []
    dropped = 0
    for message in messages:
        left: Message = message
        if isinstance(message, User) and any(map(_empty, message.parts)):
            left = User(_full(message.parts))
        elif isinstance(message, Assistant) and any(map(_empty, message.parts)):
            left = Assistant(_full(message.parts), message.stop, message.model)
        dropped += len(message.parts) - len(left.parts) + (not left.parts)
        if left.parts:
            kept.append(left)
    return kept, dropped
