"""One request to the provider, to its one terminal event."""

from contextlib import aclosing

from ferrule.store.folds import Started
from ferrule.types.fault import Fault
from ferrule.types.request import Request
from ferrule.types.result import Streaming
from ferrule.types.stream import Done, Failed, Noted, PartBegan, PartDelta, Terminal
from ferrule.types.usage import NOTHING

from .setup import Setup


def build_request(setup: Setup) -> tuple[Request, tuple[str, ...]]:
    """The request for the conversation as it stands, and what had to be repaired in its view (law 4)."""
    conversation = setup.log.conversation
    started = frozenset(call.call.id for call in conversation.open_calls if isinstance(call.state, Started))
    endpoint = setup.provider.endpoint
    messages, report = setup.view.of(setup.shrinking.of(conversation), started, endpoint)
    request = Request(
        system=setup.system,
        messages=messages,
        tools=setup.schemas,
        max_output=endpoint.profile.max_output,
        effort=setup.effort,
        cache_key=setup.log.journal.session,
    )
    return request, report.lines()


async def call_model(setup: Setup, request: Request) -> tuple[Terminal, tuple[str, ...]]:
    """Ask once. Text and reasoning are passed on while they arrive; argument deltas are not, since nobody can act on them."""
    notes: list[str] = []
    textual: set[int] = set()
    terminal: Terminal | None = None
    async with aclosing(setup.provider.stream(request)) as events:  # type: ignore[type-var]  # a generator behind the protocol
        async for event in events:
            match event:
                case PartDelta(index=index):
                    if index in textual:
                        setup.log.tell(Streaming(event))
                case PartBegan(index=index, kind=kind):
                    if kind != "call":
                        textual.add(index)
                    setup.log.tell(Streaming(event))
                case Noted(by=by, what=what):
                    notes.append(f"{by}: {what}")
                case Done() | Failed():
                    terminal = event
    if terminal is None:
        return Failed(Fault("cut", "the stream ended without a terminal event"), (), NOTHING), tuple(notes)
    return terminal, tuple(notes)
