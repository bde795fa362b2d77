"""All filters of one endpoint, in their solved order: the request goes out through them, the answer comes in through them."""

from collections.abc import Iterable, Sequence
from functools import partial

from msgspec.structs import replace

from ferrule.providers.base import Endpoint
from ferrule.types.messages import Message
from ferrule.types.records import Repaired
from ferrule.types.request import Request, ToolSchema
from ferrule.types.stream import Done, Failed, PartBegan, PartDelta, StreamEvent

from .filter import Answering, Filter, OnEvents, OnMessages, OnTools, Sending, Watcher
from .growing import Stage
from .order import solve

Reports = tuple[Repaired, ...]


class Chain:
    """Of one conversation at one endpoint. Raises OrderError when it is made, never later."""

    def __init__(self, filters: Iterable[Filter], endpoint: Endpoint) -> None:
        self.filters = tuple(each for each in solve(filters) if each.applies(endpoint))
        self._tools = [(each, each.begin(endpoint)) for each in self.filters if isinstance(each, OnTools)]
        self._early = _stages(self.filters, endpoint, late=False)
        self._late = _stages(self.filters, endpoint, late=True)
        self._watching = [each for each in self.filters if isinstance(each, OnEvents)]
        self._offered: tuple[tuple[ToolSchema, ...], tuple[ToolSchema, ...]] | None = None

    def messages(self, messages: Sequence[Message], sending: Sending) -> tuple[tuple[Message, ...], Reports]:
        """The messages to send, and what had to be changed that was not told before."""
        return _through(self._early, tuple(messages), sending)

    def tools(self, tools: tuple[ToolSchema, ...]) -> tuple[tuple[ToolSchema, ...], Reports]:
        """The tools to offer; told once what became of them."""
        if self._offered is not None and self._offered[0] is tools:
            return self._offered[1], ()
        reports: list[Repaired] = []
        left = tools
        for each, lower in self._tools:
            left, lines = lower(left)
            reports += [Repaired(each.name, tuple(lines))] if lines else []
        self._offered = (tools, left)
        return left, tuple(reports)

    def sent(self, request: Request) -> tuple[Request, Reports]:
        """The request as it goes to the provider."""
        messages, reports = _through(self._late, request.messages, Sending())
        return request if messages is request.messages else replace(request, messages=messages), reports

    def answer(self, answering: Answering) -> "Answer":
        return Answer([each.begin(answering) for each in self._watching])


class Answer:
    """One answer on its way in: `take` gives the events that go on in the place of one. Nothing follows the terminal one."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._watchers = watchers
        kinds = {kind for watcher in watchers for kind in watcher.wants}
        self._routes = {kind: tuple(at for at, each in enumerate(watchers) if kind in each.wants) for kind in kinds}
        self._calls: set[int] = set()
        self.ended = False

    def take(self, event: StreamEvent) -> Sequence[StreamEvent]:
        if self.ended:
            return ()
        passed = self._passed(event, 0)
        if len(passed) == 1 and passed[0] is event and not isinstance(event, Done | Failed):
            return passed
        for at, each in enumerate(passed):
            if isinstance(each, Done | Failed):
                self.ended = True
                return passed[: at + 1]
        return passed

    def _passed(self, event: StreamEvent, start: int) -> Sequence[StreamEvent]:
        """What the watchers from `start` on make of an event; those that want another kind of it are not asked."""
        if isinstance(event, PartDelta):
            if event.index in self._calls:
                return (event,)
        elif isinstance(event, PartBegan) and event.kind == "call":
            self._calls.add(event.index)
        for at in self._routes.get(type(event), ()):
            if at < start:
                continue
            given = self._watchers[at].take(event)
            if given is not None:
                return [passed for each in given for passed in self._passed(each, at + 1)]
        return (event,)


def _stages(filters: Iterable[Filter], endpoint: Endpoint, late: bool) -> list[tuple[str, Stage]]:
    chosen = [each for each in filters if isinstance(each, OnMessages) and each.late is late]
    return [(each.name, Stage(partial(each.begin, endpoint))) for each in chosen]


def _through(
    stages: Sequence[tuple[str, Stage]], messages: tuple[Message, ...], sending: Sending
) -> tuple[tuple[Message, ...], Reports]:
    reports: list[Repaired] = []
    for name, stage in stages:
        messages, lines = stage.of(messages, sending)
        if lines:
            reports.append(Repaired(name, lines))
    return messages, tuple(reports)
