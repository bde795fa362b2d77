"""The filters of every model call. Which of them an endpoint needs is data in its profile; their order is solved."""

from collections.abc import Sequence
from functools import partial

from ferrule.context.pairing import repair, valid
from ferrule.context.portable import portable
from ferrule.providers.base import Endpoint
from ferrule.stream.filter import Answering, Filter, OnEvents, OnMessages, Sending
from ferrule.stream.inbound import arguments, calls, names
from ferrule.stream.inbound.endless import Endless
from ferrule.stream.inbound.stops import Stops
from ferrule.stream.inbound.whole import WholeAnswer, each_call
from ferrule.types.messages import Message


class _Reasoning:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def more(self, added: Sequence[Message], sending: Sending) -> tuple[Sequence[Message], Sequence[str]]:
        return portable(added, self._endpoint.dialect, self._endpoint.model), ()


class _Pairing:
    """What needs no repair is not looked at again while the conversation only grows."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._begun = False

    def more(self, added: Sequence[Message], sending: Sending) -> tuple[Sequence[Message], Sequence[str]] | None:
        if valid(added, begun=self._begun):
            self._begun = self._begun or bool(added)
            return added, ()
        if self._begun:
            return None
        view, repairs = repair(added, sending.started)
        self._begun = bool(view)
        return view, repairs.lines()


def _numbered(answering: Answering) -> WholeAnswer:
    return WholeAnswer("ids", partial(calls.numbered, number=answering.number))


def _named(answering: Answering) -> WholeAnswer:
    tools = tuple(tool.name for tool in answering.tools)
    return WholeAnswer("names", partial(each_call, rewrite=partial(names.resolve, tools=tools)))


def _argued(answering: Answering) -> WholeAnswer:
    schemas = {tool.name: tool for tool in answering.tools}
    return WholeAnswer("arguments", partial(each_call, rewrite=lambda call: arguments.resolve(call, schemas.get(call.name))))


def _guarded(answering: Answering) -> WholeAnswer:
    tools = tuple(tool.name for tool in answering.tools)
    return WholeAnswer("unknown-tools", partial(calls.guarded, tools=tools, before=answering.before))


FILTERS: tuple[Filter, ...] = (
    OnMessages(
        name="reasoning",
        does="leaves out what only the model that thought it may get back",
        touches=("reasoning", "messages"),
        begin=_Reasoning,
    ),
    OnMessages(
        name="pairing",
        does="gives each call exactly one result, in its place",
        touches=("results", "messages"),
        after=("reasoning",),
        begin=_Pairing,
    ),
    OnEvents(
        name="stops",
        does="fails an answer that ended for a reason nobody knows",
        touches=("stop",),
        begin=lambda answering: Stops(),
    ),
    OnEvents(
        name="ids",
        does="numbers the calls of an answer, whatever ids they came with",
        touches=("ids",),
        begin=_numbered,
    ),
    OnEvents(
        name="names",
        does="finds the one tool that a misspelt name means",
        touches=("names", "problems"),
        after=("ids",),
        begin=_named,
    ),
    OnEvents(
        name="cut",
        does="lets no call of an answer run that reached its limit",
        touches=("problems",),
        after=("names",),
        begin=lambda answering: WholeAnswer("cut", calls.not_cut),
    ),
    OnEvents(
        name="arguments",
        does="makes arguments the text of a JSON object, or says why they are none",
        touches=("arguments", "problems"),
        after=("names", "cut"),
        begin=_argued,
    ),
    OnEvents(
        name="unknown-tools",
        does="stops passing on the calls of a tool that does not exist after 10 answers in a row",
        touches=("parts", "stop"),
        after=("names", "stops", "arguments"),
        begin=_guarded,
    ),
    OnEvents(
        name="blanks",
        does="drops text and reasoning that hold nothing",
        touches=("parts",),
        after=("unknown-tools",),
        begin=lambda answering: WholeAnswer("blanks", calls.without_blanks),
    ),
    OnEvents(
        name="endless",
        does="breaks off an answer that says one passage over and over",
        touches=("end",),
        begin=lambda answering: Endless(),
        ends=True,
    ),
)
