import json
from typing import Any

import pytest

from ferrule.types.fault import Fault
from ferrule.types.messages import Assistant, Image, Message, Opaque, Reasoning, Results, Text, ToolCall, ToolResult, User
from ferrule.types.request import Request, ToolSchema
from ferrule.types.usage import Usage
from tests.providers.recorded import parts
from tests.providers.speaking import done, failed, spoken

GO = Request((), (User((Text("go"),)),))
READ = ToolSchema("read_file", "Read.", '{"type":"object","properties":{}}')
STOP = parts(finishReason="STOP")


def sent(*messages: Message, profile: dict[str, Any] | None = None, **request: Any) -> Any:
    _, asked = spoken("google", Request(request.pop("system", ()), messages, **request), STOP, **profile or {})
    return asked.json


def test_the_key_is_never_in_the_address():
    _, asked = spoken("google", GO, STOP)
    assert asked.line == "POST /v1beta/models/m:streamGenerateContent?alt=sse HTTP/1.1"
    assert asked.headers["x-goog-api-key"] == "key"


def test_the_whole_request():
    picture = Image("image/png", "aWs=")
    mine = Opaque("google", "m", '{"id":"g1","thoughtSignature":"s1"}')
    body = sent(
        User((Text("look"), picture)),
        Assistant(
            (
                Reasoning("unsigned"),
                Reasoning("signed", Opaque("google", "m", '{"thoughtSignature":"s0"}')),
                Text("Reading."),
                Text("", Opaque("google", "m", '{"thoughtSignature":"s2"}')),
                ToolCall("c1", "read_file", '{"a":1}', opaque=mine),
                ToolCall("c2", "x", "{}"),
            ),
            "calls",
            "google/m",
        ),
        Results((ToolResult("c1", "read_file", "ok", (Text("A"),)), ToolResult("c2", "x", "error", (picture,)))),
        system=("One.", "", "Two."),
        tools=(READ,),
        max_output=100,
        effort="low",
    )
    image = {"inlineData": {"mimeType": "image/png", "data": "aWs="}}

    assert body == {
        "systemInstruction": {"parts": [{"text": "One."}, {"text": "Two."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "read_file", "description": "Read.", "parametersJsonSchema": json.loads(READ.parameters)},
                ]
            }
        ],
        "generationConfig": {"maxOutputTokens": 100, "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "low"}},
        "contents": [
            {"role": "user", "parts": [{"text": "look"}, image]},
            {
                "role": "model",
                "parts": [
                    {"text": "signed", "thought": True, "thoughtSignature": "s0"},
                    {"text": "Reading."},
                    {"text": "", "thoughtSignature": "s2"},
                    {"functionCall": {"name": "read_file", "args": {"a": 1}, "id": "g1"}, "thoughtSignature": "s1"},
                    {"functionCall": {"name": "x", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "read_file", "response": {"output": "A"}, "id": "g1"}},
                    {"functionResponse": {"name": "x", "response": {"error": "The result is the image below."}}},
                    {"text": "From x:"},
                    image,
                ],
            },
        ],
    }


def test_names_and_images_that_the_provider_does_not_take():
    body = sent(
        User((Image("image/gif", "R0lG"),)),
        Assistant((ToolCall("c", "7zip", "{}"),), "calls", "m"),
        Results((ToolResult("c", "7zip", "error", (Text("there is no such tool"),)),)),
    )
    assert [part for content in body["contents"] for part in content["parts"]] == [
        {"text": "[an image was left out: this provider does not take image/gif]"},
        {"functionCall": {"name": "_7zip", "args": {}}},
        {"functionResponse": {"name": "_7zip", "response": {"error": "there is no such tool"}}},
    ]


def test_opaque_data_of_another_model_stays_out():
    other = Opaque("google", "m-2", '{"id":"g","thoughtSignature":"s"}')
    history = Assistant((Reasoning("hm", other), Text("t", other), ToolCall("c", "f", "{}", opaque=other)), "calls", "google/m-2")
    body = sent(User((Text("go"),)), history)
    assert body["contents"][1]["parts"] == [{"text": "t"}, {"functionCall": {"name": "f", "args": {}}}]


def test_the_first_call_of_another_model_gets_the_stand_in_where_a_signature_is_demanded():
    history = Assistant((ToolCall("c", "f", "{}"), ToolCall("d", "g", "{}")), "calls", "openai/m")
    body = sent(User((Text("go"),)), history, profile={"quirks": ("foreign_signature",)})
    assert body["contents"][1]["parts"] == [
        {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "skip_thought_signature_validator"},
        {"functionCall": {"name": "g", "args": {}}},
    ]


def test_roles_alternate_from_the_user_on():
    body = sent(Assistant((Text("hi"),), "end", "m"), User((Text("a"),)), User((Text("b"),)))
    assert [(content["role"], len(content["parts"])) for content in body["contents"]] == [("user", 1), ("model", 1), ("user", 2)]


@pytest.mark.parametrize(
    ("effort", "profile", "expected"),
    [
        (None, {}, None),
        (None, {"reasoning": True}, {"includeThoughts": True}),
        ("high", {"reasoning": False}, None),
        ("none", {"reasoning": True}, {"includeThoughts": True, "thinkingLevel": "low"}),
        ("medium", {"quirks": ("thinking_budget",)}, {"includeThoughts": True, "thinkingBudget": 8192}),
    ],
)
def test_how_much_to_think(effort: Any, profile: dict[str, Any], expected: Any):
    assert sent(User((Text("go"),)), effort=effort, profile=profile).get("generationConfig", {}).get("thinkingConfig") == expected


def test_parts_with_signatures_stay_parts_of_their_own_and_round_trip():
    wire = [
        {"text": "a"},
        {"text": "b", "thoughtSignature": "s1"},
        {"text": "c"},
        {"functionCall": {"name": "f", "args": {"x": [1]}, "id": "i"}, "thoughtSignature": "s2"},
        {"functionCall": {"name": "f", "args": {}}},
        {"text": "", "thoughtSignature": "s3"},
    ]
    events, _ = spoken("google", GO, *(parts(part) for part in wire), STOP)
    message = done(events).message
    assert message.stop == "calls"
    assert [(call.id, call.name, call.arguments) for call in message.calls] == [("i", "f", '{"x":[1]}'), ("", "f", "{}")]
    assert sent(User((Text("go"),)), message)["contents"][1]["parts"] == wire


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("STOP", "end"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "refusal"),
        ("RECITATION", "refusal"),
        ("SPII", "refusal"),
        ("NEW", "end"),
    ],
)
def test_finish_reasons(reason: str, stop: str):
    events, _ = spoken("google", GO, parts({"text": "x"}, finishReason=reason))
    assert done(events).message.stop == stop


def test_a_call_that_the_provider_could_not_read():
    events, _ = spoken("google", GO, parts(finishReason="MALFORMED_FUNCTION_CALL", finishMessage="bad call"))
    assert failed(events).fault == Fault("bad_response", "MALFORMED_FUNCTION_CALL bad call")


def test_a_blocked_prompt():
    events, _ = spoken("google", GO, {"promptFeedback": {"blockReason": "SAFETY"}})
    assert failed(events).fault == Fault("refused", "the prompt was blocked: SAFETY")


def test_an_error_inside_the_stream():
    events, _ = spoken("google", GO, parts({"text": "par"}), {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}})
    assert failed(events).fault == Fault("overloaded", "busy", 503)
    assert failed(events).partial == (Text("par"),)


def test_usage():
    usage = {"promptTokenCount": 10, "cachedContentTokenCount": 6, "candidatesTokenCount": 3, "thoughtsTokenCount": 2}
    events, _ = spoken("google", GO, parts({"text": "x"}, finishReason="STOP") | {"usageMetadata": usage})
    assert done(events).usage == Usage(4, 5, 6, 0, 2)
