"""One request to the provider, to its one terminal event."""

from contextlib import aclosing

from ferrule.context.shrink import kept_from
from ferrule.store.folds import Conversation, Started
from ferrule.stream.filter import Answering, Sending
from ferrule.types.fault import Fault
from ferrule.types.records import Repaired
from ferrule.types.request import Request
from ferrule.types.result import Streaming
from ferrule.types.stream import Done, Failed, Noted, PartBegan, PartDelta, StreamEvent, Terminal, fold
from ferrule.types.usage import Usage

from .setup import Setup

Reports = tuple[Repaired, ...]


def build_request(setup: Setup) -> tuple[Request, Reports]:
    """The request for the conversation as it stands, and what had to be changed in its view (law 4), told once."""
    conversation, endpoint = setup.log.conversation, setup.provider.endpoint
    chain = setup.chains.of(endpoint)
    tools, left_out = chain.tools(setup.schemas)
    messages, repairs = chain.messages(setup.shrinking.of(conversation), _sending(conversation))
    request = Request(
        system=setup.system,
        messages=messages,
        tools=tools,
        max_output=endpoint.profile.max_output,
        effort=setup.effort,
        cache_key=setup.log.journal.session,
    )
    return request, (*left_out, *repairs)


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
    told = _Telling(setup)
    try:
        async with aclosing(setup.provider.stream(sent)) as events:  # type: ignore[type-var]  # a generator behind the protocol
            async for event in events:
                for passed in answer.take(event):
                    told.take(passed)
                if answer.ended:
                    break
    except Exception as bug:
        told.failed(f"the provider's stream broke ({type(bug).__name__}: {bug})")
    if told.terminal is None:
        told.failed("the stream ended without a terminal event")
    assert told.terminal is not None
    return told.terminal, (*reports, *told.reports())


class _Telling:
    """Passes on what people may see, and keeps the rest."""

    def __init__(self, setup: Setup) -> None:
        self._log = setup.log
        self._textual: dict[int, PartBegan] = {}
        self._seen: list[StreamEvent] = []
        self._notes: dict[str, list[str]] = {}
        self.terminal: Terminal | None = None

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
                self.terminal = event

    def failed(self, why: str) -> None:
        """Unless the answer had ended before: what comes behind its end changes nothing."""
        self.terminal = self.terminal or Failed(Fault("cut", why), fold(self._seen), Usage())

    def reports(self) -> Reports:
        return tuple(Repaired(by, tuple(what)) for by, what in self._notes.items())
