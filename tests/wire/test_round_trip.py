import asyncio

import pytest

from ferrule.providers.base import Endpoint
from ferrule.types.messages import Assistant, Results, Text, User
from ferrule.types.request import Effort, Request
from tests.judge import sdk_accepts, violations

from .answers import ANSWERS, SIGNATURE
from .capture import capturing
from .conversations import HELLO, request, result
from .encoding import asked, at, spelled, stored
from .endpoints import ENDPOINTS

HALF = SIGNATURE[:12]
SIGNED = {name for name in ANSWERS if not name.startswith("chat") and name != "responses, reasoning without its content"}


def heard(name: str, endpoint: Endpoint) -> Assistant:
    with capturing([ANSWERS[name][1]]) as capture:
        return stored(asyncio.run(asked(at(endpoint, capture.url), request(HELLO, effort="high"))))


def following(message: Assistant, effort: Effort | None) -> Request:
    answered = tuple(result(call.id, Text("seen"), name=call.name) for call in message.calls)
    return request(HELLO, message, Results(answered) if answered else User((Text("Go on."),)), effort=effort)


PAIRS = [
    pytest.param(name, first, id=f"{name} by {first.name}")
    for name, (dialect, _) in ANSWERS.items()
    for first in ENDPOINTS.values()
    if first.dialect == dialect
]


@pytest.mark.parametrize("effort", [None, "none", "high"])
@pytest.mark.parametrize(("name", "first"), PAIRS)
def test_an_answer_goes_back_to_every_vendor(name: str, first: Endpoint, effort: Effort | None) -> None:
    question = following(heard(name, first), effort)
    bodies = [(second, spelled(second, question)) for second in ENDPOINTS.values()]
    complaints = {
        second.name: found
        for second, body in bodies
        if (found := violations(second.dialect, body) + sdk_accepts(second.dialect, body))
    }
    assert complaints == {}


@pytest.mark.parametrize(("name", "first"), [pair for pair in PAIRS if pair.values[0] in SIGNED])
def test_what_was_signed_goes_back_to_its_model_and_to_no_other(name: str, first: Endpoint) -> None:
    question = following(heard(name, first), "high")
    kept = {second.name for second in ENDPOINTS.values() if HALF.encode() in spelled(second, question)}
    assert kept == {first.name}
