"""One request to the provider, to its one terminal event."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress

from msgspec.structs import replace

from ferrule.context.shrink import kept_from
from ferrule.providers.base import Provider
from ferrule.store.folds import Conversation, Started
from ferrule.stream.filter import Answering, Sending
from ferrule.types.fault import Fault
from ferrule.types.records import Repaired
from ferrule.types.request import Request, ToolSchema
from ferrule.types.result import Streaming
from ferrule.types.stream import Done, Failed, Noted, PartBegan, PartDelta, StreamEvent, Terminal, fold
from ferrule.types.usage import Usage

from .log import Log
from .setup import Setup

Reports = tuple[Repaired, ...]


def build_request(setup: Setup) -> tuple[Request, Reports]:
    """The request for the conversation as it stands, and what had to be changed in its view (law 4), told once."""
    conversation, endpoint = setup.log.conversation, setup.provider.endpoint
    chain = setup.chains.of(endpoint)
    tools, left_out = chain.tools(setup.schemas)
    messages, repairs = chain.messages(setup.shrinking.of(conversation), _sending(conversation))
    request = Request(
        system=(*setup.system, *_unavailable(setup.schemas, tools)),
        messages=messages,
        tools=tools,
        max_output=endpoint.profile.max_output,
        effort=setup.effort,
        cache_key=setup.log.journal.session,
    )
    return request, (*left_out, *repairs)


def _unavailable(whole: tuple[ToolSchema, ...], offered: tuple[ToolSchema, ...]) -> tuple[str, ...]:
    """What the model is told of tools that it cannot be offered; nothing where there are none."""
    if len(offered) == len(whole):
        return ()
    left = {tool.name for tool in offered}
    names = dict.fromkeys(tool.name for tool in whole if tool.name not in left)
    return (
        (f"Not available in this session, because their parameters cannot be described to you: {', '.join(names)}.",)
        if names
        else ()
    )


def _sending(conversation: Conversation) -> Sending:
    """`stripped` counts the messages of the conversation; the summary that stands before the kept ones is one of the view."""
    started = frozenset(call.call.id for call in conversation.open_calls if isinstance(call.state, Started))
    replaced = kept_from(conversation.messages, conversation.compacted)
    return Sending(started, max(0, conversation.stripped - replaced + 1) if replaced else conversation.stripped)


async def call_model(setup: Setup, request: Request) -> tuple[Terminal, Reports]:
    """Ask once. Text and reasoning are passed on while they arrive; argument deltas are not, since nobody can act on them.

    The message of `Done` is as the journal holds it. Whatever a provider does, there is one terminal event: an exception of its
    stream is a failed answer, its text kept.
    """
    conversation = setup.log.conversation
    chain = setup.chains.of(setup.provider.endpoint)
    sent, reports = chain.sent(request)
    answer = chain.answer(Answering(request.tools, conversation.calls_made + 1, conversation.messages))
    told = _Telling(setup.log)
    async with _Heard(setup.provider, sent) as heard:
        while not answer.ended:
            for passed in answer.take(await heard.next()):
                told.take(passed)
    return told.end(), (*reports, *told.reports())


class _Heard:
    """The events of a provider, the last of them terminal whatever happens. What comes behind the end changes nothing."""

    def __init__(self, provider: Provider, request: Request) -> None:
        self._provider = provider
        self._request = request
        self._events: AsyncIterator[StreamEvent] | None = None

    async def next(self) -> StreamEvent:
        try:
            if self._events is None:
                self._events = aiter(self._provider.stream(self._request))
            return await anext(self._events)
        except StopAsyncIteration:
            why = "the stream ended without a terminal event"
        except Exception as bug:
            why = f"the provider's stream broke ({type(bug).__name__}: {bug})"
        return Failed(Fault("cut", why), (), Usage())

    async def __aenter__(self) -> "_Heard":
        return self

    async def __aexit__(self, *_: object) -> None:
        """A generator gives back what it holds."""
        if isinstance(self._events, AsyncGenerator):
            with suppress(Exception):
                await self._events.aclose()


class _Telling:
    """Passes on what people may see, and keeps the rest."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._textual: dict[int, PartBegan] = {}
        self._seen: list[StreamEvent] = []
        self._notes: dict[str, list[str]] = {}
        self._terminal: Terminal | None = None

    def take(self, event: StreamEvent) -> None:
        match event:
            case PartDelta(index=index):
                if index in self._textual:
                    self._seen.append(event)
                    self._log.tell(Streaming(event))
            case PartBegan(index=index, kind=kind):
                if kind != "call":
                    self._textual[index] = event
                    self._seen.append(event)
                self._log.tell(Streaming(event))
            case Noted(by=by, what=what):
                self._notes.setdefault(by, []).append(what)
            case Done() | Failed():
                self._terminal = event

    def end(self) -> Terminal:
        """The terminal event. A stream that broke did not say what had arrived: that is what was passed on."""
        assert self._terminal is not None, "an answer ends"
        if isinstance(self._terminal, Failed) and not self._terminal.partial:
            return replace(self._terminal, partial=fold(self._seen))
        return self._terminal

    def reports(self) -> Reports:
        return tuple(Repaired(by, tuple(what)) for by, what in self._notes.items())
