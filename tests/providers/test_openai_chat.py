import asyncio
import json
from typing import Any

import pytest

from ferrule.providers.base import Endpoint, Profile
from ferrule.providers.open import open_provider
from ferrule.types.fault import Fault
from ferrule.types.messages import Assistant, Image, Opaque, Reasoning, Results, Text, ToolCall, ToolResult, User
from ferrule.types.request import Request, ToolSchema
from ferrule.types.stream import Done, Failed, fold
from ferrule.types.usage import Price, Usage
from tests.providers.provider_wire import Reply, Wire, ask, serving, sse

READ = ToolSchema("read_file", "Read a file.", '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}')
HELLO = Request(("You are Ferrule.",), (User((Text("Hi"),)),))


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": "c",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **more,
    }


def call(
    index: int | None = None, id: str | None = None, name: str | None = None, arguments: str | None = None
) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    entry: dict[str, Any] = {"function": function}
    return entry | {key: value for key, value in (("index", index), ("id", id)) if value is not None}


def endpoint(wire: Wire, **profile: Any) -> Endpoint:
    return Endpoint("openai", "m-1", wire.url + "/v1", key="sk-secret", profile=Profile(**profile))


def answered(*values: Any, request: Request = HELLO, **profile: Any) -> tuple[Done | Failed, Any]:
    async def main() -> tuple[Done | Failed, Any]:
        async with serving(Reply([sse(*values, done=True)])) as wire:
            provider = open_provider(endpoint(wire, **profile))
            events = await ask(provider, request)
            await provider.close()
            last = events[-1]
            assert isinstance(last, Done | Failed)
            assert fold(events) == (last.message.parts if isinstance(last, Done) else last.partial)
            return last, wire.asked[0]

    return asyncio.run(main())


def sent(request: Request, **profile: Any) -> Any:
    _, asked = answered(chunk({"content": "ok"}, "stop"), request=request, **profile)
    return asked.json


def test_a_text_answer_with_usage_and_price():
    last, asked = answered(
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "Hel"}),
        chunk({"content": "lo"}),
        chunk({}, "stop"),
        {
            "choices": [],
            "usage": {
                "prompt_tokens": 100,
                "completion_tokens": 10,
                "prompt_tokens_details": {"cached_tokens": 60},
                "completion_tokens_details": {"reasoning_tokens": 4},
            },
        },
        price=Price(2.0, 8.0, 0.5),
    )

    assert last == Done(
        Assistant((Text("Hello"),), "end", "openai/m-1"),
        Usage(40, 10, 60, 0, 4, (40 * 2.0 + 10 * 8.0 + 60 * 0.5) / 1_000_000),
    )
    assert asked.line == "POST /v1/chat/completions HTTP/1.1"
    assert {name: asked.headers[name] for name in ("authorization", "content-type", "accept")} == {
        "authorization": "Bearer sk-secret",
        "content-type": "application/json",
        "accept": "text/event-stream",
    }


def test_the_whole_request():
    picture = Image("image/png", "aWs=")
    request = Request(
        ("One.", "", "Two."),
        (
            User((Text("look"), picture)),
            Assistant(
                (Reasoning("hm"), Text("Reading."), ToolCall("c1", "read_file", '{"path":"a"}'), ToolCall("c2", "x", "{}")),
                "calls",
                "o/m",
            ),
            Results((ToolResult("c1", "read_file", "ok", (Text("A"), Text("B"))), ToolResult("c2", "x", "ok", (picture,)))),
            User((Text("go on"), Text("please"))),
        ),
        (READ,),
        max_output=100,
        effort="low",
        cache_key="s1",
    )
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aWs="}}

    assert sent(request) == {
        "model": "m-1",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 100,
        "reasoning_effort": "low",
        "tools": [
            {
                "type": "function",
                "function": {"name": "read_file", "description": "Read a file.", "parameters": json.loads(READ.parameters)},
            }
        ],
        "messages": [
            {"role": "system", "content": "One.\n\nTwo."},
            {"role": "user", "content": [{"type": "text", "text": "look"}, url]},
            {
                "role": "assistant",
                "content": "Reading.",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path":"a"}'}},
                    {"id": "c2", "type": "function", "function": {"name": "x", "arguments": "{}"}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "A\nB"},
            {"role": "tool", "tool_call_id": "c2", "content": "The result is the image below."},
            {
                "role": "user",
                "content": [{"type": "text", "text": "From x (c2):"}, url, {"type": "text", "text": "go on\n\nplease"}],
            },
        ],
    }


def test_quirks_change_the_request():
    request = Request((), (Assistant((Reasoning("hm"), ToolCall("c", "f", "{}")), "calls", "o/m"),), max_output=7, effort="high")
    body = sent(request, quirks=("max_tokens", "no_stream_options", "reasoning_content"), reasoning=False)

    assert body == {
        "model": "m-1",
        "stream": True,
        "max_tokens": 7,
        "messages": [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                "reasoning_content": "hm",
            }
        ],
    }


def test_images_are_named_and_left_out_for_a_model_that_reads_none():
    body = sent(Request((), (User((Image("image/png", "aWs="),)),)), images=False)
    text = "[an image (image/png) was left out: this model does not read images]"
    assert body["messages"] == [{"role": "user", "content": [{"type": "text", "text": text}]}]


CALLS = {
    "interleaved by index": [
        [call(0, "a", "f", "")],
        [call(1, "b", "g", "")],
        [call(0, arguments='{"x"')],
        [call(1, arguments="{}")],
        [call(0, arguments=":1}")],
    ],
    "id repeated on every delta": [[call(0, "a", "f", '{"x"')], [call(0, "a", "f", ":1}")], [call(1, "b", "g", "{}")]],
    "everything under index 0": [[call(0, "a", "f", '{"x":1}')], [call(0, "b", "g", "{}")]],
    "no index, ids": [[call(None, "a", "f", '{"x":')], [call(None, None, None, "1}")], [call(None, "b", "g", "{}")]],
    "late name": [[call(0, "a")], [call(0, None, "f")], [call(0, None, None, '{"x":1}')], [call(1, "b", "g", "{}")]],
    "late id": [[call(0, None, "f", '{"x"')], [call(0, "a", None, ":1}")], [call(1, "b", "g", "{}")]],
    "a new id for every delta": [[call(0, "a", "f", '{"x"')], [call(0, "zz", None, ":1}")], [call(1, "b", "g", "{}")]],
    "both at once": [[call(0, "a", "f", '{"x":1}'), call(1, "b", "g", "{}")]],
    "index as digits": [[call("0", "a", "f", '{"x"')], [call("0", None, None, ":1}")], [call("1", "b", "g", "{}")]],  # type: ignore[arg-type]
}


@pytest.mark.parametrize("deltas", CALLS.values(), ids=CALLS.keys())
def test_two_calls_however_they_are_numbered(deltas: list[list[Any]]):
    last, _ = answered(*(chunk({"tool_calls": delta}) for delta in deltas), chunk({}, "tool_calls"))
    assert isinstance(last, Done)
    assert [(part.name, part.arguments) for part in last.message.calls] == [("f", '{"x":1}'), ("g", "{}")]
    assert last.message.calls[1].id == "b"
    assert last.message.stop == "calls"


@pytest.mark.parametrize(
    ("names", "whole"),
    [
        (["read", "_file"], "read_file"),
        (["read_file", "read_file"], "read_file"),
        (["read", "read_", "read_file"], "read_file"),
        (["", "read_file"], "read_file"),
    ],
    ids=["pieces", "repeated", "growing", "late"],
)
def test_a_name_in_any_spelling_of_the_wire(names: list[str], whole: str):
    last, _ = answered(*(chunk({"tool_calls": [call(0, "a", name)]}) for name in names), chunk({}, "tool_calls"))
    assert isinstance(last, Done)
    assert last.message.parts == (ToolCall("a", whole, ""),)


def test_calls_with_neither_index_nor_id():
    both = [call(None, None, "f", '{"a":1}'), call(None, None, "f", '{"a":2}')]
    last, _ = answered(chunk({"tool_calls": both}), chunk({}, "stop"))
    assert isinstance(last, Done)
    assert last.message.parts == (ToolCall("", "f", '{"a":1}'), ToolCall("", "f", '{"a":2}'))
    assert last.message.stop == "calls"


def test_reasoning_comes_in_three_spellings_and_details_go_back_to_their_model_only():
    last, _ = answered(
        chunk({"reasoning_content": "a"}),
        chunk({"reasoning": "b", "reasoning_details": [{"type": "reasoning.text", "text": "b", "index": 0, "signature": None}]}),
        chunk({"reasoning_details": [{"type": "reasoning.text", "text": "c", "index": 0, "signature": "sig"}]}),
        chunk({"content": "done"}, "stop"),
    )
    kept = Opaque("openai", "m-1", '{"reasoning_details":[{"type":"reasoning.text","text":"bc","index":0,"signature":"sig"}]}')
    assert isinstance(last, Done)
    assert last.message.parts == (Reasoning("ab", kept), Text("done"))

    history = Request((), (last.message,))
    assert sent(history)["messages"][0]["reasoning_details"] == json.loads(kept.data)["reasoning_details"]
    foreign = Assistant((Reasoning("ab", Opaque("openai", "m-2", kept.data)), Text("done")), "end", "openai/m-2")
    assert sent(Request((), (foreign,)))["messages"] == [{"role": "assistant", "content": "done"}]


def test_a_signature_on_a_call_goes_back_with_it():
    extra = {"extra_content": {"google": {"thought_signature": "s"}}}
    last, _ = answered(chunk({"tool_calls": [call(0, "a", "f", "{}") | extra]}), chunk({}, "tool_calls"))
    assert isinstance(last, Done)
    assert sent(Request((), (last.message,)))["messages"][0]["tool_calls"] == [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}} | extra
    ]


@pytest.mark.parametrize(
    ("finish", "stop"),
    [("stop", "end"), ("length", "length"), ("content_filter", "refusal"), ("function_call", "end"), ("eos", "end")],
)
def test_finish_reasons(finish: str, stop: str):
    last, _ = answered(chunk({"content": "x"}), chunk({}, finish))
    assert isinstance(last, Done)
    assert last.message.stop == stop


def test_a_refusal_is_text_with_its_own_stop_reason():
    last, _ = answered(chunk({"refusal": "I will "}), chunk({"refusal": "not."}), chunk({}, "stop"))
    assert last == Done(Assistant((Text("I will not."),), "refusal", "openai/m-1"), Usage())


def test_the_old_function_call_and_arguments_as_an_object():
    last, _ = answered(chunk({"function_call": {"name": "f", "arguments": {"x": 1}}}), chunk({}, "function_call"))
    assert isinstance(last, Done)
    assert last.message.parts == (ToolCall("", "f", '{"x":1}'),)


def test_an_error_inside_the_stream_ends_it_with_what_had_arrived():
    last, _ = answered(
        chunk({"content": "par"}), {"error": {"message": "busy", "type": "overloaded_error"}}, chunk({"content": "x"})
    )
    assert last == Failed(Fault("overloaded", "busy"), (Text("par"),), Usage())
