import asyncio
import json
from typing import Any

import pytest

from ferrule.providers.base import Endpoint
from ferrule.types.messages import Results, Text, User
from ferrule.types.request import Request
from tests.judge import sdk_accepts, violations, violations_history

from .answers import ANSWERS
from .capture import capturing
from .conversations import HELLO, KINDS, REQUESTS, call, many, request, result, said
from .encoding import asked, at, spelled
from .endpoints import DIALECTS, ENDPOINTS, SCHEMA
from .findings import FOUND, Finding

EVERY = [
    pytest.param(endpoint, question, id=f"{name}: {what}")
    for name, endpoint in ENDPOINTS.items()
    for what, question in REQUESTS.items()
]
LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")


@pytest.mark.parametrize(("endpoint", "question"), EVERY)
def test_the_vendor_takes_what_a_session_can_hold(endpoint: Endpoint, question: Request) -> None:
    body = spelled(endpoint, question)
    assert violations(endpoint.dialect, body) == []
    assert sdk_accepts(endpoint.dialect, body) == []


@pytest.mark.parametrize("question", REQUESTS.values(), ids=REQUESTS)
def test_a_server_without_tool_calls_takes_what_a_session_can_hold(question: Request) -> None:
    body = spelled(SCHEMA, question)
    assert violations("openai", body) == []
    assert sdk_accepts("openai", body) == []


def rooms(endpoint: Endpoint, question: Request) -> list[int]:
    decoded: dict[str, Any] = json.loads(spelled(endpoint, question))
    places = (decoded, decoded.get("generationConfig", {}))
    return [value for place in places for key, value in place.items() if key in LIMITS]


@pytest.mark.parametrize("endpoint", ENDPOINTS.values(), ids=ENDPOINTS)
def test_no_request_asks_for_more_room_than_it_was_given(endpoint: Endpoint) -> None:
    given = {what: question.max_output for what, question in REQUESTS.items() if question.max_output}
    assert {what for what, most in given.items() for room in rooms(endpoint, REQUESTS[what]) if room > most} == set()


@pytest.mark.parametrize("endpoint", ENDPOINTS.values(), ids=ENDPOINTS)
def test_each_request_of_a_session_repeats_the_one_before(endpoint: Endpoint) -> None:
    whole = many(20).messages
    ends = [index for index, message in enumerate(whole, 1) if isinstance(message, User | Results)]
    bodies = [spelled(endpoint, request(*whole[:end])) for end in ends]
    assert len(bodies) > 20
    assert violations_history(endpoint.dialect, bodies) == []


@pytest.mark.parametrize("endpoint", ENDPOINTS.values(), ids=ENDPOINTS)
def test_words_of_every_result_kind_and_every_call_arrive(endpoint: Endpoint) -> None:
    body = spelled(endpoint, REQUESTS["every kind of result"]).decode()
    assert [kind for kind in KINDS if f"this is {kind}" not in body] == []


@pytest.mark.parametrize("endpoint", ENDPOINTS.values(), ids=ENDPOINTS)
def test_a_result_of_nothing_is_still_a_result(endpoint: Endpoint) -> None:
    question = request(HELLO, said(call("a"), call("b")), Results((result("a"), result("b", Text("seen")))))
    assert violations(endpoint.dialect, spelled(endpoint, question)) == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_sent_is_what_was_judged(dialect: str) -> None:
    name, answer = next(each for each in ANSWERS.values() if each[0] == dialect)
    endpoint = next(each for each in ENDPOINTS.values() if each.dialect == name)
    with capturing([answer]) as capture:
        asyncio.run(asked(at(endpoint, capture.url), REQUESTS["unicode everywhere"]))
    assert capture.bodies == [spelled(endpoint, REQUESTS["unicode everywhere"])]
    assert capture.headers[0]["content-type"].startswith("application/json")
    secret = {"anthropic": "x-api-key", "google": "x-goog-api-key"}.get(dialect, "authorization")
    assert capture.headers[0][secret].removeprefix("Bearer ") == "key"
    assert "key=" not in capture.paths[0]


@pytest.mark.parametrize("finding", FOUND, ids=[finding.rule for finding in FOUND])
def test_a_finding_stays_mended(finding: Finding) -> None:
    body = spelled(finding.endpoint, finding.request)
    assert not [line for line in violations(finding.endpoint.dialect, body) if line.startswith(f"{finding.rule} ")]


BOUNDED = [endpoint for endpoint in ENDPOINTS.values() if endpoint.profile.max_output and endpoint.dialect != "anthropic"]


@pytest.mark.parametrize("endpoint", BOUNDED, ids=[endpoint.name for endpoint in BOUNDED])
def test_no_request_asks_for_more_than_the_model_can_say(endpoint: Endpoint) -> None:
    assert max(rooms(endpoint, REQUESTS["much room"])) <= (endpoint.profile.max_output or 0)
