import json
from typing import Any

import pytest

from ferrule.types.fault import Fault
from ferrule.types.messages import Assistant, Image, Message, Opaque, Reasoning, Results, Text, ToolCall, ToolResult, User
from ferrule.types.request import Request, ToolSchema
from ferrule.types.stream import Noted
from ferrule.types.usage import Usage
from tests.providers.recorded import event
from tests.providers.speaking import done, failed, spoken

START = event("message_start", message={"usage": {"input_tokens": 9, "cache_read_input_tokens": 5, "output_tokens": 1}})
STOP = event("message_stop")
GO = Request((), (User((Text("go"),)),))
READ = ToolSchema("read_file", "Read.", '{"type":"object","properties":{}}')
MARK = {"cache_control": {"type": "ephemeral"}}


def ending(reason: str) -> tuple[Any, Any]:
    return event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 4}), STOP


def sent(*messages: Message, profile: dict[str, Any] | None = None, **request: Any) -> Any:
    _, asked = spoken(
        "anthropic", Request(request.pop("system", ()), messages, **request), START, *ending("end_turn"), **profile or {}
    )
    return asked.json


def test_the_request_line_and_headers():
    _, asked = spoken("anthropic", GO, START, *ending("end_turn"))
    assert asked.line == "POST /v1/messages HTTP/1.1"
    assert {name: asked.headers.get(name) for name in ("x-api-key", "anthropic-version", "authorization")} == {
        "x-api-key": "key",
        "anthropic-version": "2023-06-01",
        "authorization": None,
    }


def test_the_whole_request_with_cache_marks():
    picture = Image("image/png", "aWs=")
    thought = Reasoning("hm", Opaque("anthropic", "m", '{"signature":"s"}'))
    redacted = Reasoning("", Opaque("anthropic", "m", '{"redacted":"r"}'))
    foreign = Reasoning("other", Opaque("anthropic", "m-2", '{"signature":"s"}'))
    body = sent(
        User((Text("look"), picture, Text(" "))),
        Assistant(
            (
                thought,
                redacted,
                foreign,
                Reasoning("plain"),
                Text(""),
                ToolCall("c1", "read_file", '{"a":1}'),
                ToolCall("c2", "x", ""),
            ),
            "calls",
            "m",
        ),
        User((Text("and"),)),
        Results((ToolResult("c1", "read_file", "ok", (Text("A"), picture)), ToolResult("c2", "x", "denied", (Text("no"),)))),
        system=("One.", " ", "Two."),
        tools=(READ, READ),
        max_output=100,
        profile={"cache_marks": True},
    )
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aWs="}}

    assert body == {
        "model": "m",
        "max_tokens": 100,
        "stream": True,
        "system": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."} | MARK],
        "tools": [
            {"name": "read_file", "description": "Read.", "input_schema": json.loads(READ.parameters)},
            {"name": "read_file", "description": "Read.", "input_schema": json.loads(READ.parameters)} | MARK,
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "look"}, image | MARK]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "redacted_thinking", "data": "r"},
                    {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"a": 1}},
                    {"type": "tool_use", "id": "c2", "name": "x", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "A"}, image]},
                    {"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "text", "text": "no"}], "is_error": True},
                    {"type": "text", "text": "and"} | MARK,
                ],
            },
        ],
    }


def test_roles_alternate_from_the_user_on_whatever_was_left_out():
    body = sent(
        Assistant((Text("hi"),), "end", "m"),
        Assistant((Text("again"),), "end", "m"),
        User((Text("one"),)),
        Assistant((Reasoning("nothing else"),), "end", "m"),
        User((Text("two"),)),
    )
    assert [(message["role"], [block["text"] for block in message["content"]]) for message in body["messages"]] == [
        ("user", ["(The conversation goes on.)"]),
        ("assistant", ["hi", "again"]),
        ("user", ["one", "two"]),
    ]
    assert "cache_control" not in json.dumps(body)


def test_calls_stand_last_in_their_message():
    body = sent(
        User((Text("go"),)),
        Assistant((ToolCall("c", "f", "{}"), Text("so")), "calls", "m"),
        Results((ToolResult("c", "f", "ok", ()),)),
    )
    assert [block["type"] for block in body["messages"][1]["content"]] == ["text", "tool_use"]
    assert body["messages"][2]["content"] == [{"type": "tool_result", "tool_use_id": "c"}]


def test_tools_that_are_not_offered_any_more_stay_defined_for_their_calls():
    body = sent(
        User((Text("go"),)), Assistant((ToolCall("c", "f", "{}"),), "calls", "m"), Results((ToolResult("c", "f", "ok", ()),))
    )
    assert body["tools"] == [{"name": "f", "description": "Not offered any more.", "input_schema": {"type": "object"}}]
    assert body["tool_choice"] == {"type": "none"}
    assert "tool_choice" not in sent(User((Text("go"),)), tools=(READ,))


@pytest.mark.parametrize("thought", [True, False])
def test_a_budget_of_thinking_is_not_begun_inside_a_tool_loop(thought: bool):
    reasoning = (Reasoning("hm", Opaque("anthropic", "m", '{"signature":"s"}')),) if thought else ()
    loop = (
        Assistant((*reasoning, ToolCall("c", "read_file", "{}")), "calls", "m"),
        Results((ToolResult("c", "read_file", "ok", ()),)),
        Assistant((ToolCall("d", "read_file", "{}"),), "calls", "m"),
        Results((ToolResult("d", "read_file", "ok", ()),)),
    )
    budget = {"quirks": ("thinking_budget",)}
    assert ("thinking" in sent(User((Text("go"),)), *loop, tools=(READ,), effort="low", profile=budget)) == thought
    assert (
        "thinking" in sent(User((Text("go"),)), *loop, User((Text("on"),)), tools=(READ,), effort="low", profile=budget)
        or not thought
    )


@pytest.mark.parametrize(
    ("effort", "profile", "expected"),
    [
        (None, {}, {}),
        (None, {"reasoning": True}, {"thinking": {"type": "adaptive", "display": "summarized"}}),
        ("high", {"reasoning": False}, {}),
        ("high", {}, {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "high"}}),
        (
            "none",
            {"reasoning": True},
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "low"}},
        ),
        ("medium", {"quirks": ("thinking_budget",)}, {"thinking": {"type": "enabled", "budget_tokens": 7168}}),
        ("low", {"quirks": ("thinking_budget",)}, {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        ("none", {"quirks": ("thinking_budget",)}, {}),
        ("high", {"quirks": ("thinking_budget",), "max_output": 1500}, {}),
    ],
)
def test_how_much_to_think(effort: Any, profile: dict[str, Any], expected: dict[str, Any]):
    body = sent(User((Text("go"),)), effort=effort, profile=profile)
    assert {name: body[name] for name in ("thinking", "output_config") if name in body} == expected
    budget = body.get("thinking", {}).get("budget_tokens", 0)
    assert budget < body["max_tokens"]


@pytest.mark.parametrize(("asked", "limit", "most"), [(None, None, 8192), (None, 64_000, 64_000), (99, 64, 64), (50, 64, 50)])
def test_the_most_tokens_of_an_answer(asked: int | None, limit: int | None, most: int):
    assert sent(User((Text("go"),)), max_output=asked, profile={"max_output": limit})["max_tokens"] == most


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("pause_turn", "end"),
        ("tool_use", "end"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("brand_new", "end"),
    ],
)
def test_stop_reasons(reason: str, stop: str):
    events, _ = spoken("anthropic", GO, START, *ending(reason))
    assert done(events).message.stop == stop
    assert bool([event for event in events if isinstance(event, Noted)]) == (reason == "brand_new")


def test_thoughts_signatures_and_redacted_thoughts_round_trip():
    events, _ = spoken(
        "anthropic",
        GO,
        START,
        event("content_block_start", index=0, content_block={"type": "thinking", "thinking": "a", "signature": ""}),
        event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "b"}),
        event("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "sig=="}),
        event("content_block_start", index=1, content_block={"type": "redacted_thinking", "data": "dat=="}),
        event("content_block_start", index=2, content_block={"type": "text", "text": "x"}),
        *ending("end_turn"),
    )
    assert sent(User((Text("go"),)), done(events).message)["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "ab", "signature": "sig=="},
        {"type": "redacted_thinking", "data": "dat=="},
        {"type": "text", "text": "x"},
    ]


def test_usage_counts_are_running_totals():
    delta = event(
        "message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 7, "cache_creation_input_tokens": 3}
    )
    events, _ = spoken("anthropic", GO, START, delta, STOP)
    assert done(events).usage == Usage(9, 7, 5, 3)


def test_blocks_without_an_index_and_a_reused_index():
    def block(text: str) -> list[Any]:
        begun = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        delta = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}
        return [begun, delta]

    events, _ = spoken("anthropic", GO, START, *block("a"), *block("b"), *ending("end_turn"))
    assert done(events).message.parts == (Text("a"), Text("b"))


def test_blocks_of_other_kinds_are_left_out_and_reported():
    events, _ = spoken(
        "anthropic",
        GO,
        START,
        event("content_block_start", index=0, content_block={"type": "server_tool_use", "id": "s", "name": "web", "input": {}}),
        event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": "{}"}),
        event("content_block_start", index=1, content_block={"type": "text", "text": "x"}),
        *ending("end_turn"),
    )
    assert done(events).message.parts == (Text("x"),)
    assert [event.what for event in events if isinstance(event, Noted)] == [
        "a content block of type 'server_tool_use' was left out"
    ]


def test_overloaded_in_the_middle():
    text = event("content_block_start", index=0, content_block={"type": "text", "text": "par"})
    events, _ = spoken("anthropic", GO, START, text, event("error", error={"type": "overloaded_error", "message": "Overloaded"}))
    assert failed(events).fault == Fault("overloaded", "Overloaded")
    assert failed(events).partial == (Text("par"),)


def test_a_base_url_may_end_in_v1():
    from ferrule.providers import anthropic
    from ferrule.providers.base import Endpoint

    assert anthropic.url(Endpoint("anthropic", "m", "https://proxy.example/v1")) == "https://proxy.example/v1/messages"
