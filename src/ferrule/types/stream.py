"""What a model call yields while it runs, and the fold that turns the deltas back into parts.

Law 1: a stream ends exactly once, in `Done` or `Failed`; nothing follows it.
"""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from .fault import Fault
from .messages import Assistant, AssistantPart, Opaque, Reasoning, Text, ToolCall
from .usage import Usage

PartKind = Literal["text", "reasoning", "call"]


class PartBegan(Struct, frozen=True, tag="part_began"):
    """Part number `index` (0, 1, 2 … in the order of the message) begins. `id` and `name` are of a call, as received."""

    index: int
    kind: PartKind
    id: str = ""
    name: str = ""


class PartDelta(Struct, frozen=True, tag="part_delta"):
    """More text, reasoning or argument text of part `index`."""

    index: int
    text: str


class PartNamed(Struct, frozen=True, tag="part_named"):
    """The id or name of a call that came after the call had begun (whole values, the last one counts)."""

    index: int
    id: str = ""
    name: str = ""


class PartOpaque(Struct, frozen=True, tag="part_opaque"):
    """Provider data of part `index` (the last one counts)."""

    index: int
    opaque: Opaque


class Noted(Struct, frozen=True, tag="noted"):
    """Something was repaired on the way in. `by` names the decoder or filter, `what` says what was changed."""

    by: str
    what: str


class Done(Struct, frozen=True, tag="done"):
    message: Assistant
    usage: Usage


class Failed(Struct, frozen=True, tag="failed"):
    """`partial` is what had arrived, for people to see; it is never acted on."""

    fault: Fault
    partial: tuple[AssistantPart, ...]
    usage: Usage


Terminal = Done | Failed
StreamEvent = PartBegan | PartDelta | PartNamed | PartOpaque | Noted | Done | Failed


class _Growing:
    def __init__(self, began: PartBegan) -> None:
        self.kind = began.kind
        self.id = began.id
        self.name = began.name
        self.chunks: list[str] = []
        self.opaque: Opaque | None = None

    def part(self) -> AssistantPart:
        text = "".join(self.chunks)
        match self.kind:
            case "text":
                return Text(text, self.opaque)
            case "reasoning":
                return Reasoning(text, self.opaque)
            case "call":
                return ToolCall(self.id, self.name, text, opaque=self.opaque)


def fold(events: Iterable[StreamEvent]) -> tuple[AssistantPart, ...]:
    """The parts that the deltas spell, in linear time. Equal to the parts of `Done.message` and to `Failed.partial`."""
    growing: dict[int, _Growing] = {}
    for event in events:
        match event:
            case PartBegan(index=index):
                growing[index] = _Growing(event)
            case PartDelta(index=index, text=text):
                growing[index].chunks.append(text)
            case PartNamed(index=index, id=id, name=name):
                growing[index].id = id or growing[index].id
                growing[index].name = name or growing[index].name
            case PartOpaque(index=index, opaque=opaque):
                growing[index].opaque = opaque
            case _:
                pass
    return tuple(growing[index].part() for index in sorted(growing))
