import json
from typing import Any

import pytest

from ferrule.types.fault import Fault
from ferrule.types.messages import Assistant, Image, Message, Opaque, Reasoning, Results, Text, ToolCall, ToolResult, User
from ferrule.types.request import Request, ToolSchema
from ferrule.types.usage import Usage
from tests.providers.recorded import THOUGHT, event
from tests.providers.speaking import done, failed, spoken

GO = Request((), (User((Text("go"),)),))
READ = ToolSchema("read_file", "Read.", '{"type":"object","properties":{}}')


def completed(*output: Any, **more: Any) -> Any:
    return event("response.completed", response={"status": "completed", "output": list(output), **more})


def sent(*messages: Message, profile: dict[str, Any] | None = None, **request: Any) -> Any:
    request = Request(request.pop("system", ()), messages, **request)  # type: ignore[assignment]
    _, asked = spoken("openai-responses", request, completed(), **profile or {})  # type: ignore[arg-type]
    return asked.json


def test_the_whole_request():
    picture = Image("image/png", "aWs=")
    thought = Reasoning("hm", Opaque("openai-responses", "m", json.dumps(THOUGHT)))
    foreign = Reasoning("x", Opaque("openai-responses", "m-2", json.dumps(THOUGHT)))
    body = sent(
        User((Text("look"), picture)),
        Assistant((foreign, thought, Text("Reading."), ToolCall("c1", "read_file", '{"a":1}')), "calls", "m"),
        Results((ToolResult("c1", "read_file", "ok", (Text("A"), picture)), ToolResult("c2", "x", "error", (Text("no"),)))),
        Assistant((thought,), "end", "m"),
        system=("One.", "", "Two."),
        tools=(READ,),
        max_output=100,
        effort="low",
    )
    image = {"type": "input_image", "image_url": "data:image/png;base64,aWs=", "detail": "auto"}

    assert body == {
        "model": "m",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto", "effort": "low"},
        "instructions": "One.\n\nTwo.",
        "max_output_tokens": 100,
        "tools": [
            {
                "type": "function",
                "name": "read_file",
                "description": "Read.",
                "parameters": json.loads(READ.parameters),
                "strict": False,
            }
        ],
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}, image]},
            THOUGHT,
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Reading.", "annotations": []}]},
            {"type": "function_call", "call_id": "c1", "name": "read_file", "arguments": '{"a":1}'},
            {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "A"}, image]},
            {"type": "function_call_output", "call_id": "c2", "output": "no"},
        ],
    }


def test_reasoning_that_came_unencrypted_stays_out():
    open_item = Reasoning("hm", Opaque("openai-responses", "m", '{"type":"reasoning","id":"rs","summary":[]}'))
    body = sent(Assistant((open_item, ToolCall("c", "f", "{}")), "calls", "m"))
    assert [item["type"] for item in body["input"]] == ["function_call"]


@pytest.mark.parametrize(("asked", "limit", "most"), [(99, 64, 64), (50, 64, 50), (50, None, 50)])
def test_no_more_output_is_asked_for_than_the_model_can_give(asked: int, limit: int | None, most: int):
    assert sent(User((Text("go"),)), max_output=asked, profile={"max_output": limit})["max_output_tokens"] == most


@pytest.mark.parametrize(
    ("effort", "profile", "reasoning", "include"),
    [
        (None, {}, None, True),
        (None, {"reasoning": True}, {"summary": "auto"}, True),
        ("high", {"reasoning": False}, None, False),
        ("none", {}, {"summary": "auto", "effort": "none"}, True),
        ("none", {"quirks": ("always_reasons",)}, {"summary": "auto", "effort": "low"}, True),
    ],
)
def test_how_much_to_reason(effort: Any, profile: dict[str, Any], reasoning: Any, include: bool):
    body = sent(User((Text("go"),)), effort=effort, profile=profile)
    assert body.get("reasoning") == reasoning
    assert ("include" in body) == include


def test_reasoning_items_return_unchanged_in_front_of_their_call():
    item = THOUGHT | {
        "status": "completed",
        "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
    }
    function = {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}"}
    events, _ = spoken(
        "openai-responses",
        GO,
        event("response.output_item.added", output_index=0, item={"type": "reasoning", "id": "rs", "summary": []}),
        event("response.reasoning_summary_part.added", output_index=0, summary_index=0),
        event("response.reasoning_summary_text.delta", output_index=0, summary_index=0, delta="a"),
        event("response.reasoning_summary_part.added", output_index=0, summary_index=1),
        event("response.reasoning_summary_text.delta", output_index=0, summary_index=1, delta="b"),
        event("response.output_item.done", output_index=0, item=item),
        event("response.output_item.done", output_index=1, item=function),
        completed(item, function),
    )
    message = done(events).message
    assert [part.text for part in message.parts if isinstance(part, Reasoning)] == ["a\n\nb"]
    returned = {name: value for name, value in item.items() if name != "status"}
    assert sent(message)["input"] == [
        returned,
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    ]


def test_the_phase_of_a_message_returns_with_it():
    item = {"type": "message", "phase": "commentary", "content": [{"type": "output_text", "text": "hi"}]}
    events, _ = spoken("openai-responses", GO, event("response.output_item.done", output_index=0, item=item), completed(item))
    assert sent(done(events).message)["input"][0]["phase"] == "commentary"


def test_items_that_only_the_last_event_tells():
    text = {"type": "message", "id": "ms", "content": [{"type": "output_text", "text": "hi"}]}
    function = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    events, _ = spoken("openai-responses", GO, completed(THOUGHT, text, function))
    parts = done(events).message.parts
    assert [part.text for part in parts if not isinstance(part, ToolCall)] == ["hm", "hi"]
    assert done(events).message.calls == (ToolCall("c", "f", "{}"),)


def test_deltas_without_an_output_index_go_by_item_id():
    events, _ = spoken(
        "openai-responses",
        GO,
        event("response.output_item.added", item={"type": "function_call", "id": "x", "call_id": "c", "name": "f"}),
        event("response.output_item.added", item={"type": "function_call", "id": "y", "call_id": "d", "name": "g"}),
        event("response.function_call_arguments.delta", item_id="x", delta='{"a"'),
        event("response.function_call_arguments.delta", item_id="y", delta="{}"),
        event("response.function_call_arguments.delta", item_id="x", delta=":1}"),
        completed(),
    )
    assert done(events).message.parts == (ToolCall("c", "f", '{"a":1}'), ToolCall("d", "g", "{}"))


@pytest.mark.parametrize(
    ("reason", "stop"), [("max_output_tokens", "length"), ("content_filter", "refusal"), ("something", "length")]
)
def test_incomplete_answers(reason: str, stop: str):
    response = {"status": "incomplete", "incomplete_details": {"reason": reason}}
    text = event("response.output_text.delta", output_index=0, delta="par")
    events, _ = spoken("openai-responses", GO, text, event("response.incomplete", response=response))
    assert done(events).message == Assistant((Text("par"),), stop, "openai-responses/m")  # type: ignore[arg-type]


def test_a_refusal():
    events, _ = spoken("openai-responses", GO, event("response.refusal.delta", output_index=0, delta="No."), completed())
    assert done(events).message == Assistant((Text("No."),), "refusal", "openai-responses/m")


@pytest.mark.parametrize(
    "last",
    [
        event("response.failed", response={"error": {"code": "rate_limit_exceeded", "message": "slow"}}),
        event("error", code="rate_limit_exceeded", message="slow"),
        ("error", {"error": {"code": "rate_limit_exceeded", "message": "slow"}}),
    ],
)
def test_failures(last: Any):
    events, _ = spoken("openai-responses", GO, event("response.output_text.delta", output_index=0, delta="par"), last)
    assert failed(events).fault == Fault("rate_limit", "slow")
    assert failed(events).partial == (Text("par"),)


def test_usage():
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 6, "cache_write_tokens": 3},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    events, _ = spoken("openai-responses", GO, completed(usage=usage))
    assert done(events).usage == Usage(1, 5, 6, 3, 2)
