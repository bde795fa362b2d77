import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.providers import schema_calls
from ferrule.types.messages import Assistant, Image, Message, Reasoning, Results, Text, ToolCall, ToolResult, User
from ferrule.types.request import Request, ToolSchema
from ferrule.types.stream import PartBegan, PartDelta
from tests.providers.recorded import delta
from tests.providers.speaking import done, failed, spoken

PARAMETERS = {
    "$ref": "#/$defs/Read",
    "$defs": {
        "Read": {
            "title": "Read",
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Which file.", "maxLength": 4096, "minLength": 1, "pattern": "^\\d+$"},
                "offset": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": None},
                "tags": {"type": "array", "items": {"$ref": "#/$defs/Tag"}, "maxItems": 3000},
            },
            "required": ["path"],
        },
        "Tag": {"enum": ["a", "b"], "format": "x"},
    },
}
READ = ToolSchema("read_file", "Read a file.", json.dumps(PARAMETERS))
DONE = ToolSchema(
    "attempt_completion", "Finish.", '{"type":"object","properties":{"result":{"type":"string"}},"required":["result"]}'
)
TODO = ToolSchema("update_todo_list", "Plan.", '{"type":"object"}')
LOWERED = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "offset": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
    },
    "required": ["path"],
    "additionalProperties": False,
}
GO = Request(("You are Ferrule.",), (User((Text("go"),)),), (READ, TODO, DONE))
SCHEMA: dict[str, Any] = {"tools": "schema"}


def sent(request: Request) -> Any:
    _, asked = spoken("openai", request, delta("stop", content="x"), **SCHEMA)
    return asked.json


def test_the_request_carries_the_union_of_the_small_tools_and_no_tools():
    body = sent(GO)
    done_schema = {
        "type": "object",
        "properties": {"result": {"type": "string"}},
        "required": ["result"],
        "additionalProperties": False,
    }

    def option(name: str, arguments: Any) -> Any:
        properties = {"tool": {"const": name}, "arguments": arguments}
        return {"type": "object", "properties": properties, "required": ["tool", "arguments"], "additionalProperties": False}

    assert "tools" not in body
    assert body["temperature"] == 0
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "call",
            "strict": False,
            "schema": {
                "type": "object",
                "properties": {"call": {"anyOf": [option("read_file", LOWERED), option("attempt_completion", done_schema)]}},
                "required": ["call"],
                "additionalProperties": False,
            },
        },
    }


def test_the_strict_mode_is_asked_for_where_every_parameter_is_required():
    assert sent(Request((), GO.messages, (DONE,)))["response_format"]["json_schema"]["strict"] is True


def test_the_prompt_describes_the_reply_and_the_tools():
    system = sent(GO)["messages"][0]
    assert system["role"] == "system"
    assert system["content"].startswith("You are Ferrule.\n\n# Reply format\n")
    for line in ("## read_file", "- path (string): Which file.", "## attempt_completion", "- result (string): "):
        assert line in system["content"]
    assert "update_todo_list" not in system["content"]


def test_a_described_parameter_tells_its_kind_and_whether_it_is_needed():
    tool = ToolSchema("edit", "Edit.", json.dumps(PARAMETERS["$defs"]["Read"]))  # type: ignore[index]
    section = schema_calls.section((tool,))
    assert "- path (string): Which file.\n" in section
    assert "- offset (integer, optional): \n" in section


def test_a_schema_behind_a_reference_is_described_too():
    assert "- path (string): Which file.\n" in schema_calls.section((READ,))


def test_a_reference_to_itself_ends():
    loop = {"$defs": {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}}, "$ref": "#/$defs/N"}
    assert schema_calls.lower(loop)["type"] == "object"


def test_the_history_is_the_conversation_that_such_replies_would_have_made():
    messages: tuple[Message, ...] = (
        User((Text("go"),)),
        Assistant(
            (Reasoning("hm"), ToolCall("a", "read_file", '{"path":"x"}'), ToolCall("b", "read_file", '{"path":"y"}')),
            "calls",
            "m",
        ),
        Results(
            (
                ToolResult("a", "read_file", "ok", (Text("1 | print('hi')"),)),
                ToolResult("b", "read_file", "error", (Text("no such file"), Image("image/png", "aWs="))),
            )
        ),
        User((Text("and now?"),)),
        Assistant((Text("Done."),), "end", "m"),
    )
    shown = [(message["role"], message["content"]) for message in sent(Request((), messages, (READ,)))["messages"][1:]]
    left_out = "no such file\\n[1 image(s) left out: this model gets text only]"
    assert shown == [
        ("user", "go"),
        ("assistant", '{"call":{"tool":"read_file","arguments":{"path":"x"}}}'),
        ("user", '{"result":{"tool":"read_file","kind":"ok","output":"1 | print(\'hi\')"}}'),
        ("assistant", '{"call":{"tool":"read_file","arguments":{"path":"y"}}}'),
        ("user", '{"result":{"tool":"read_file","kind":"error","output":"' + left_out + '"}}\n\nand now?'),
        ("assistant", "Done."),
    ]


REPLY = '{"call": {"tool": "edit", "arguments": {"new": "\\ud83d\\udc4b", "old": "a\\"b"}}}'


@given(cuts=st.lists(st.integers(0, len(REPLY)), max_size=10))
def test_the_reply_becomes_one_call_however_it_is_cut(cuts: list[int]):
    edges = sorted({0, len(REPLY), *cuts})
    pieces = [delta(content=REPLY[start:end]) for start, end in pairwise(edges)]
    events, _ = spoken("openai", GO, *pieces, delta("stop"), **SCHEMA)
    arguments = '{"new":"👋","old":"a\\"b"}'
    assert done(events).message == Assistant((ToolCall("", "edit", arguments),), "calls", "openai/m")
    assert events[:-1] == [PartBegan(0, "call", "", "edit"), PartDelta(0, arguments)]


@pytest.mark.parametrize("reply", ["Sure, I can help.", '{"call": {}}', '{"call": {"tool": "x"}}', "[]", "", '{"call": 5}'])
def test_a_reply_that_is_no_call_is_text(reply: str):
    events, _ = spoken("openai", GO, delta("stop", content=reply), **SCHEMA)
    assert done(events).message == Assistant((Text(reply),) if reply else (), "end", "openai/m")


def test_a_reply_that_is_too_long_is_no_call():
    events, _ = spoken("openai", GO, delta("length", content=REPLY), **SCHEMA)
    assert done(events).message == Assistant((Text(REPLY),), "length", "openai/m")


@pytest.mark.parametrize("last", [(), ({"error": {"message": "busy", "code": "server_error"}},)], ids=["cut", "error"])
def test_a_reply_that_breaks_off_is_shown_as_it_came(last: tuple[Any, ...]):
    events, _ = spoken("openai", GO, delta(content='{"call": {"to'), *last, **SCHEMA)
    assert failed(events).partial == (Text('{"call": {"to'),)


def test_without_any_of_the_small_tools_the_request_is_an_ordinary_one():
    body = sent(Request((), (User((Text("go"),)),), (TODO,)))
    assert "response_format" not in body
    assert body["tools"][0]["function"]["name"] == "update_todo_list"
