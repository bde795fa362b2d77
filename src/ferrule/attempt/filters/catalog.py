"""The filters of every model call. Which of them an endpoint needs is data in its profile; their order is solved."""

from functools import partial

from ferrule.providers.base import Endpoint
from ferrule.stream.filter import Answering, Filter, Lowering, OnEvents, OnMessages, OnTools, Watcher
from ferrule.stream.inbound import arguments, calls, names
from ferrule.stream.inbound.endless import Endless
from ferrule.stream.inbound.stops import Stops
from ferrule.stream.inbound.whole import WholeAnswer, each_call
from ferrule.stream.outbound.check import Check
from ferrule.stream.outbound.ids import Ids
from ferrule.stream.outbound.malformed import Malformed
from ferrule.stream.outbound.schemas import FULL, PLAIN, lowered

from .context import Images, Pairing, reasoning_back


def _names(answering: Answering) -> tuple[str, ...]:
    return tuple(tool.name for tool in answering.tools)


def _lowering(endpoint: Endpoint) -> Lowering:
    return partial(lowered, keywords=FULL if endpoint.profile.schemas == "full" else PLAIN)


def _promoting(answering: Answering) -> Watcher:
    """Few endpoints need it, and it brings many patterns."""
    from ferrule.stream.inbound.promote import Promote

    return Promote(_names(answering))


def _numbered(answering: Answering) -> WholeAnswer:
    return WholeAnswer("ids", partial(calls.numbered, number=answering.number))


def _named(answering: Answering) -> WholeAnswer:
    return WholeAnswer("names", partial(each_call, rewrite=partial(names.resolve, tools=_names(answering))))


def _argued(answering: Answering) -> WholeAnswer:
    schemas = {tool.name: tool for tool in answering.tools}
    return WholeAnswer("arguments", partial(each_call, rewrite=lambda call: arguments.resolve(call, schemas.get(call.name))))


def _decoded(answering: Answering) -> WholeAnswer:
    return WholeAnswer("entities", partial(each_call, rewrite=calls.decoded))


def _guarded(answering: Answering) -> WholeAnswer:
    return WholeAnswer("unknown-tools", partial(calls.guarded, tools=_names(answering), before=answering.before))


OUTBOUND: tuple[Filter, ...] = (
    OnTools(
        name="schemas",
        does="brings the schemas of tools into a form that every vendor takes, and leaves out those that can't be",
        touches=("tools",),
        begin=_lowering,
    ),
    OnMessages(
        name="reasoning",
        does="sends what a model thought back to it byte for byte, or not at all",
        touches=("reasoning", "messages"),
        before=("pairing",),
        begin=reasoning_back,
    ),
    OnMessages(
        name="images",
        does="puts a note in the place of images that are broken, too large or too many",
        touches=("images",),
        before=("pairing",),
        begin=Images,
    ),
    OnMessages(
        name="pairing",
        does="gives each call exactly one result, in its place, and drops what is empty",
        touches=("results", "messages", "images"),
        begin=Pairing,
    ),
    OnMessages(
        name="malformed",
        does="sends calls of damaged journals in a form that every vendor takes",
        touches=("calls", "results"),
        after=("pairing",),
        begin=lambda endpoint: Malformed(),
    ),
    OnMessages(
        name="unique-ids",
        does="renames the id of a call that another call had before it",
        touches=("calls", "results"),
        after=("malformed",),
        begin=lambda endpoint: Ids("ours", endpoint),
    ),
    OnMessages(
        name="check",
        does="looks at the whole request once more, and says as text what would be refused",
        touches=("calls", "results", "messages"),
        after=("unique-ids",),
        begin=lambda endpoint: Check(),
    ),
    OnMessages(
        name="call-ids",
        does="spells the ids of calls as this vendor alone wants them",
        touches=("calls", "results"),
        after=("check",),
        applies=lambda endpoint: endpoint.profile.ids != "ours",
        begin=lambda endpoint: Ids(endpoint.profile.ids, endpoint),
        late=True,
    ),
)

INBOUND: tuple[Filter, ...] = (
    OnEvents(
        name="stops",
        does="fails an answer that ended for a reason nobody knows",
        touches=("stop",),
        begin=lambda answering: Stops(),
    ),
    OnEvents(
        name="promote",
        does="reads calls that are written as text, if the whole text is calls of known tools",
        touches=("parts", "stop"),
        after=("stops",),
        applies=lambda endpoint: endpoint.profile.promote,
        begin=_promoting,
    ),
    OnEvents(
        name="ids",
        does="numbers the calls of an answer, whatever ids they came with",
        touches=("ids",),
        after=("promote",),
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
        after=("cut",),
        begin=_argued,
    ),
    OnEvents(
        name="entities",
        does="decodes HTML entities in arguments, for models that write them everywhere",
        touches=("arguments",),
        after=("arguments",),
        applies=lambda endpoint: endpoint.profile.html_entities,
        begin=_decoded,
    ),
    OnEvents(
        name="unknown-tools",
        does="no longer passes on the calls of a tool that does not exist after 10 answers in a row",
        touches=("parts", "stop"),
        after=("arguments",),
        begin=_guarded,
    ),
    OnEvents(
        name="blanks",
        does="drops text and reasoning that hold nothing",
        touches=("parts",),
        after=("unknown-tools",),
        begin=lambda answering: WholeAnswer("blanks", calls.without_blanks),
    ),
)

CONTROL: tuple[Filter, ...] = (
    OnEvents(
        name="endless",
        does="breaks off an answer that says one passage over and over",
        touches=("end",),
        begin=lambda answering: Endless(),
        ends=True,
    ),
)

FILTERS = (*OUTBOUND, *INBOUND, *CONTROL)
