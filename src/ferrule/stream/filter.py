"""A filter: one quirk of a model or of its server, and what is done about it around a model call. Filters are values.

An outbound filter rewrites the request, an inbound one the events of the answer, a control one watches the answer and may end it.
Requests, messages and events are immutable: a filter gives others.
"""

from collections.abc import Callable, Sequence, Set
from typing import Literal, Protocol

from msgspec import Struct

from ferrule.providers.base import Endpoint
from ferrule.types.messages import Message
from ferrule.types.request import ToolSchema
from ferrule.types.stream import StreamEvent

Direction = Literal["outbound", "inbound", "control"]


class Sending(Struct, frozen=True):
    """What an outbound filter is told besides the messages. `started` holds the ids of calls whose effect may have begun;
    of the first `unsigned` messages no reasoning and no signature is sent."""

    started: Set[str] = frozenset()
    unsigned: int = 0


class Answering(Struct, frozen=True):
    """What an inbound filter is told about the request whose answer it sees.

    `tools` were offered, `number` is that of the answer's first call within the session, `before` the conversation's messages.
    """

    tools: tuple[ToolSchema, ...]
    number: int = 1
    before: Sequence[Message] = ()


class Rewriter(Protocol):
    """Rewrites one growing conversation for one endpoint."""

    def more(self, added: Sequence[Message], sending: Sending) -> tuple[Sequence[Message], Sequence[str]] | None:
        """What becomes of the messages that were added, and a line for each thing that was changed.

        `added` itself where nothing was. None where messages given earlier would become something else because of them: then the
        whole conversation is given to a new rewriter, which never says None to its first messages.
        """
        ...


Tools = tuple[ToolSchema, ...]
Lowering = Callable[[Tools], tuple[Tools, Sequence[str]]]
"""Rewrites the tools of a request: those to offer, and a line for each that was changed in substance or left out."""


class Watcher(Protocol):
    """Sees the events of one answer."""

    @property
    def wants(self) -> frozenset[type]:
        """The kinds of events that it looks at. It never gets the deltas of a call: nobody acts on a call before it is whole."""
        ...

    def take(self, event: StreamEvent) -> Sequence[StreamEvent] | None:
        """The events that go on in its place; None for the event itself."""
        ...


class Filter(Struct, frozen=True, kw_only=True):
    """`does` is one line for people. `touches` names what it rewrites: of two filters of one direction that touch the same, one
    must be declared to come before the other. `before` and `after` name filters of the same direction. `applies` tells whether
    an endpoint needs it.
    """

    name: str
    does: str
    touches: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    applies: Callable[[Endpoint], bool] = lambda endpoint: True

    @property
    def direction(self) -> Direction:
        raise NotImplementedError


class OnTools(Filter, frozen=True, kw_only=True):
    """Outbound, on the tools that are offered."""

    begin: Callable[[Endpoint], Lowering]

    @property
    def direction(self) -> Direction:
        return "outbound"


class OnMessages(Filter, frozen=True, kw_only=True):
    """Outbound, on the messages. `late`: after the request was measured, since what it rewrites (ids) is known by them."""

    begin: Callable[[Endpoint], Rewriter]
    late: bool = False

    @property
    def direction(self) -> Direction:
        return "outbound"


class OnEvents(Filter, frozen=True, kw_only=True):
    """Inbound, or with `ends` control: it may end the answer."""

    begin: Callable[[Answering], Watcher]
    ends: bool = False

    @property
    def direction(self) -> Direction:
        return "control" if self.ends else "inbound"
