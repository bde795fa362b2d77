"""Reports 54 to 60: ids, reasoning that is signed, schemas of tools."""

import json
from pathlib import Path
from typing import Any

import pytest

from ferrule.providers.base import Endpoint
from ferrule.types.records import Entry
from tests.e2e.test_wire_reasoning import ANSWERS, OPAQUE
from tests.e2e.wire import WIRES, Home, ends, http
from tests.store.entries import answered, finished, said
from tests.wire.conversations import READ, schema
from tests.wire.encoding import spelled

from .sessions import UNKNOWN, complaints, request, sent

REFUSALS = {
    "anthropic": "messages.1.content.0: Invalid `signature` in `thinking` block",
    "openai-responses": "The encrypted content Z0FB for item rs_7 could not be verified.",
    "google": "Thought signature is not valid. Please pass a valid thought signature.",
}

SCHEMAS: dict[str, dict[str, Any]] = {
    "a choice at the top": {"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "null"}]},
    "no type": {"properties": {"a": {"type": "string"}}},
    "a list of types": {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
    "a reference": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "string"}}},
    "a reference to itself": {"type": "object", "properties": {"a": {"$ref": "#"}}},
    "keywords that few know": {"type": "object", "properties": {"a": {"patternProperties": {"x": {}}, "not": {}}}},
    "no object at all": {"type": "string"},
}


def refusal(dialect: str) -> Any:
    message = REFUSALS[dialect]
    body = {
        "anthropic": {"type": "error", "error": {"type": "invalid_request_error", "message": message}},
        "google": {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}},
    }.get(dialect, {"error": {"message": message, "type": "invalid_request_error", "code": "invalid_encrypted_content"}})
    return http(400, None, body=body)


@pytest.mark.parametrize("endpoint", UNKNOWN, ids=[f"report_55-report_56-{endpoint.dialect}" for endpoint in UNKNOWN])
def test_an_id_that_comes_again_in_each_turn_is_renamed_and_each_turn_keeps_its_result(endpoint: Endpoint) -> None:
    turns: list[Entry] = []
    for turn in ("first", "second", "third"):
        turns += [answered("same", text=turn), finished("same", f"of the {turn}"), said("on")]
    body = sent(endpoint, said("go"), *turns)
    assert complaints(endpoint, body) == []
    places = [body.index(f"of the {turn}") for turn in ("first", "second", "third")]
    assert places == sorted(places)


@pytest.mark.parametrize("dialect", REFUSALS, ids="report_57-{}".format)
def test_a_signature_that_is_refused_costs_one_retry_and_never_another(tmp_path: Path, dialect: str) -> None:
    home = Home(tmp_path)
    thinks = WIRES[dialect].default
    first = home.play(dialect, ANSWERS[dialect], refusal(dialect), ends(), model=thinks)
    second = home.play(dialect, ends(), prompt=("-c", "-p", "go on"), model=thinks)
    assert [(played.result["outcome"], played.complaints(shrunk=True)) for played in (first, second)] == [("finished", [])] * 2
    assert (first.steps, second.steps) == ([1, 2, 3], [1])
    assert any(mark in json.dumps(first.bodies[1]) for mark in OPAQUE)
    for body in (first.bodies[2], second.bodies[0]):
        assert [mark for mark in OPAQUE if mark in json.dumps(body)] == []
    assert first.lines("ok.txt") == 1


def test_report_59_google_gets_as_many_results_as_calls_in_one_message_and_their_order() -> None:
    (google,) = [endpoint for endpoint in UNKNOWN if endpoint.dialect == "google"]
    names = ("a", "b", "c")
    body = sent(google, said("go"), answered(*names), *(finished(name, f"of {name}") for name in reversed(names)), said("on"))
    contents = json.loads(body)["contents"]
    asked = [part["functionCall"]["args"]["path"] for part in contents[1]["parts"]]
    told = [json.dumps(part["functionResponse"]["response"]) for part in contents[2]["parts"] if "functionResponse" in part]
    assert asked == list(names)
    assert [f"of {name}" in text for name, text in zip(names, told, strict=True)] == [True] * 3


@pytest.mark.parametrize("endpoint", UNKNOWN, ids=[endpoint.dialect for endpoint in UNKNOWN])
@pytest.mark.parametrize("parameters", SCHEMAS.values(), ids=SCHEMAS)
def test_report_60_a_tool_that_a_vendor_cannot_take_costs_neither_the_request_nor_the_others(
    endpoint: Endpoint, parameters: dict[str, Any]
) -> None:
    body = spelled(endpoint, request(endpoint, said("go"), tools=(READ, schema("odd", parameters)))).decode()
    assert complaints(endpoint, body) == []
    assert '"read_file"' in body
