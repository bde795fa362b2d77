"""One model call: whatever a provider does, one terminal event; whatever a conversation holds, one request."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

import pytest

from ferrule.attempt.filters.chains import Chains
from ferrule.attempt.model_call import build_request, call_model
from ferrule.providers.base import Endpoint, Profile
from ferrule.types.fault import Fault
from ferrule.types.messages import Assistant, Opaque, RawCall, Reasoning, Results, Text, ToolCall, User
from ferrule.types.records import Repaired, Shrunk
from ferrule.types.request import Request
from ferrule.types.result import Streaming
from ferrule.types.stream import Done, Failed, Noted, PartBegan, PartDelta, StreamEvent
from ferrule.types.usage import NOTHING, Usage
from tests.engine.test_request import Half
from tests.reports.sessions import Session
from tests.store.entries import answered, finished, said

from .playing import PLAIN, USAGE, at, spoken, tool

READ = tool("read_file", "path")
BROKEN = RuntimeError("Unhandled stop reason: pondering")
HALF = [PartBegan(0, "text"), PartDelta(0, "I lo")]


class Log(Session):
    """A session that hears what is passed on."""

    def __init__(self, *entries: Any) -> None:
        super().__init__(entries)
        self.told: list[Any] = []

    def tell(self, event: Any) -> None:
        self.told.append(event)


class Provider:
    """Says what it is given to say, and remembers what it was asked."""

    def __init__(self, events: Callable[[], Iterable[StreamEvent]], endpoint: Endpoint = PLAIN, at_once: bool = False) -> None:
        self.endpoint = endpoint
        self.asked: list[Request] = []
        self.closed = False
        self._events = events
        self._at_once = at_once

    def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        self.asked.append(request)
        return self._said(iter(self._events())) if self._at_once else self._said(self._lazily())

    def _lazily(self) -> Iterator[StreamEvent]:
        yield from self._events()

    async def _said(self, events: Iterator[StreamEvent]) -> AsyncIterator[StreamEvent]:
        try:
            for event in events:
                yield event
        finally:
            self.closed = True


class Setup(Half):
    """With a provider that can be asked."""

    def __init__(self, provider: Provider, log: Log) -> None:
        super().__init__(log, schemas=(READ,), endpoint=provider.endpoint)  # type: ignore[arg-type]
        object.__setattr__(self, "asking", provider)

    @property
    def provider(self) -> Any:
        return self.asking  # type: ignore[attr-defined]


def asked(provider: Provider, *entries: Any) -> tuple[Done | Failed, tuple[Repaired, ...], Log]:
    log = Log(*(entries or (said("go"),)))
    setup: Any = Setup(provider, log)
    request, _ = build_request(setup)
    terminal, reports = asyncio.run(call_model(setup, request))
    return terminal, reports, log


def raises() -> Iterator[StreamEvent]:
    raise BROKEN


def breaks() -> Iterator[StreamEvent]:
    yield from HALF
    raise BROKEN


@pytest.mark.parametrize(
    ("provider", "partial"),
    [
        (Provider(raises, at_once=True), ()),
        (Provider(lambda: raises()), ()),
        (Provider(breaks), (Text("I lo"),)),
        (Provider(lambda: HALF), (Text("I lo"),)),
        (Provider(lambda: [*HALF, Done(Assistant((Text("I lo"),), "pondering", "openai/m"), USAGE)]), (Text("I lo"),)),  # type: ignore[arg-type]
    ],
    ids=["when it is asked", "at the first event", "later", "no end at all", "in its result"],
)
def test_wherever_an_unknown_end_comes_from_it_is_one_failure_with_what_was_said(
    provider: Provider, partial: tuple[Text, ...]
) -> None:
    terminal, _, log = asked(provider)
    assert isinstance(terminal, Failed)
    assert (terminal.partial, terminal.fault.code in ("cut", "bad_response")) == (partial, True)
    assert "stop reason" in terminal.fault.detail.lower() or terminal.fault.detail == "the stream ended without a terminal event"
    assert [event.event for event in log.told if isinstance(event, Streaming)] == (HALF if partial else [])


def test_what_comes_behind_the_end_is_not_read_and_the_stream_is_closed() -> None:
    done = Done(Assistant((Text("Done."),), "end", "openai/m"), USAGE)
    provider = Provider(lambda: [done, Failed(Fault("cut"), (), NOTHING), *HALF])
    terminal, reports, log = asked(provider)
    assert (terminal, reports, log.told, provider.closed) == (done, (), [], True)


def test_people_see_text_and_thoughts_and_that_a_call_began_but_not_its_arguments() -> None:
    parts = (Reasoning("Hm."), Text("I look."), ToolCall("x", "read_file", '{"path":"a"}'))
    events = spoken(parts)
    _, _, log = asked(Provider(lambda: [*events, Done(Assistant(parts, "calls", "openai/m"), USAGE)]))
    assert [told.event for told in log.told] == [
        event for event in events if not (isinstance(event, PartDelta) and event.index == 2)
    ]


def test_an_answer_comes_as_the_journal_holds_it_with_a_report_for_each_that_changed_it() -> None:
    parts = (ToolCall("x", " Read_File", '{"path":"a"}}'),)
    events = [Noted("decoder", "half a pair"), *spoken(parts), Done(Assistant(parts, "end", "openai/m"), USAGE)]
    terminal, reports, _ = asked(Provider(lambda: events), said("go"), answered("call_00001"), finished("call_00001"))
    stored = ToolCall("call_00002", "read_file", '{"path":"a"}', RawCall("x", " Read_File", '{"path":"a"}}'))
    assert terminal == Done(Assistant((stored,), "calls", "openai/m"), USAGE)
    assert [report.by for report in reports] == ["decoder", "names", "arguments"]


def test_a_cut_call_is_stored_with_its_problem_and_never_mended() -> None:
    parts = (ToolCall("x", "read_file", '{"path":"a"}}'), ToolCall("y", "read_file", '{"path":"b"}'))
    terminal, _, _ = asked(Provider(lambda: [*spoken(parts), Done(Assistant(parts, "length", "openai/m"), USAGE)]))
    assert isinstance(terminal, Done)
    assert [call.problem is not None for call in terminal.message.calls] == [True, True]


def test_a_text_without_end_is_broken_off_as_a_failure() -> None:
    events = [PartBegan(0, "text"), *(PartDelta(0, "I will now look at it. ") for _ in range(1_000))]
    terminal, _, log = asked(provider := Provider(lambda: events))
    assert isinstance(terminal, Failed)
    assert (len(log.told) < 500, provider.closed, terminal.usage) == (True, True, Usage())


def test_the_provider_gets_ids_as_it_wants_them_and_the_journal_keeps_ours() -> None:
    provider = Provider(lambda: [Done(Assistant((Text("So."),), "end", "openai/m"), USAGE)], at(Profile(ids="strict9")))
    asked(provider, said("go"), answered("call_00001"), finished("call_00001"))
    (request,) = provider.asked
    assert [part.id for part in request.messages[1].parts if isinstance(part, ToolCall)] == ["call00001"]
    assert [result.call_id for result in request.messages[2].parts if not isinstance(result, Text)] == ["call00001"]  # type: ignore[union-attr]


SIGNED = Opaque("openai", "m", "{}")


@pytest.mark.parametrize("summarised", [0, 1])
def test_after_a_refused_signature_nothing_signed_before_is_sent_compacted_or_not(summarised: int) -> None:
    def thinks(id: str) -> Any:
        answer = answered(id)
        return type(answer)(Assistant((Reasoning("Hm.", SIGNED), *answer.message.parts), "calls", "openai/m"), answer.usage, 0.1)

    entries: list[Any] = [
        said("go"),
        thinks("call_00001"),
        finished("call_00001"),
        Repaired("signatures", ("refused",), stripped=True),
    ]
    entries += [Shrunk("asked", messages=summarised, summary="So far.")] if summarised else []
    entries += [thinks("call_00002"), finished("call_00002")]
    request, _ = build_request(Setup(Provider(lambda: ()), Log(*entries)))  # type: ignore[arg-type]
    answers = [message for message in request.messages if isinstance(message, Assistant)]
    assert [any(isinstance(part, Reasoning) for part in answer.parts) for answer in answers] == [False, True]
    assert (isinstance(request.messages[0], User), isinstance(request.messages[-1], Results)) == (True, True)


def test_a_tool_that_cannot_be_described_is_left_out_reported_and_the_model_is_told() -> None:
    odd = tool("odd").__class__("odd", "Odd.", '{"anyOf": []}')
    half: Any = Half(Log(said("go")), schemas=(READ, odd), endpoint=PLAIN)  # type: ignore[arg-type]
    request, reports = build_request(half)
    assert request.tools == (READ,)
    assert [report.by for report in reports] == ["schemas"]
    assert request.system[-1].endswith("cannot be described to you: odd.")
    assert build_request(half) == (request, ())


def test_each_endpoint_has_its_own_chain_and_going_back_finds_the_first_one() -> None:
    chains = Chains()
    first, second = chains.of(PLAIN), chains.of(at(Profile(promote=True)))
    assert (first is second, chains.of(PLAIN) is first) == (False, True)
