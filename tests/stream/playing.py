"""Answers played through the chain of an endpoint."""

from collections.abc import Iterable, Sequence

from ferrule.attempt.filters.catalog import FILTERS
from ferrule.providers.base import Endpoint, Profile
from ferrule.stream.chain import Chain
from ferrule.stream.filter import Answering
from ferrule.types.messages import Assistant, AssistantPart, Message, Text, ToolCall
from ferrule.types.request import ToolSchema
from ferrule.types.stream import Done, Noted, PartBegan, PartDelta, PartOpaque, StreamEvent
from ferrule.types.usage import Usage

PLAIN = Endpoint("openai", "m", "http://127.0.0.1:1")
USAGE = Usage(7, 3)


def at(profile: Profile) -> Endpoint:
    return Endpoint("openai", "m", "http://127.0.0.1:1", profile=profile)


def tool(name: str, *required: str, optional: Sequence[str] = ()) -> ToolSchema:
    properties = ",".join(f'"{key}":{{"type":"string"}}' for key in (*required, *optional))
    names = ",".join(f'"{key}"' for key in required)
    return ToolSchema(name, "Does it.", f'{{"type":"object","properties":{{{properties}}},"required":[{names}]}}')


def spoken(parts: Iterable[AssistantPart], chunk: int = 7) -> list[StreamEvent]:
    """The events that spell the parts."""
    events: list[StreamEvent] = []
    for index, part in enumerate(parts):
        if isinstance(part, ToolCall):
            events.append(PartBegan(index, "call", part.id, part.name))
            text = part.arguments
        else:
            events.append(PartBegan(index, "text" if isinstance(part, Text) else "reasoning"))
            text = part.text
        events += [PartDelta(index, text[at : at + chunk]) for at in range(0, len(text), chunk)]
        if part.opaque is not None:
            events.append(PartOpaque(index, part.opaque))
    return events


def played(events: Iterable[StreamEvent], answering: Answering, endpoint: Endpoint = PLAIN) -> list[StreamEvent]:
    answer = Chain(FILTERS, endpoint).answer(answering)
    return [passed for event in events for passed in answer.take(event)]


def normalise(
    message: Assistant,
    tools: Sequence[ToolSchema],
    number: int = 1,
    before: Sequence[Message] = (),
    endpoint: Endpoint = PLAIN,
) -> tuple[Assistant, tuple[str, ...]]:
    """The message as it is stored, and what was said about it."""
    passed = played([*spoken(message.parts), Done(message, USAGE)], Answering(tuple(tools), number, before), endpoint)
    done = passed[-1]
    assert isinstance(done, Done)
    return done.message, tuple(f"{event.by}: {event.what}" for event in passed if isinstance(event, Noted))
