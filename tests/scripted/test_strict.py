"""Every rule of strictness, broken once."""

import json
from typing import Any

import pytest

from ferrule.providers.scripted.strict import violations
from ferrule.types.messages import Assistant, Image, Message, Opaque, Reasoning, Results, Text, ToolCall, ToolResult, User
from ferrule.types.request import Request, ToolSchema
from tests.scripted.playing import GO, play, provider, write

OWN = Opaque("scripted", "m", '{"step":0}')
PIXEL = "aGk="


def says(*parts: Any) -> Assistant:
    return Assistant(parts, "end", "scripted/m")


def call(id: str = "c1", name: str = "f", arguments: str = "{}", opaque: Opaque | None = None) -> ToolCall:
    return ToolCall(id, name, arguments, opaque=opaque)


def result(id: str = "c1", name: str = "f", *parts: Text | Image) -> ToolResult:
    return ToolResult(id, name, "ok", parts or (Text("r"),))


def tool(schema: Any = None, name: str = "f", description: str = "d") -> ToolSchema:
    return ToolSchema(name, description, json.dumps({"type": "object"} if schema is None else schema))


def test_a_rich_request_breaks_no_rule() -> None:
    array = {"type": "array", "items": {"type": "string", "enum": ["a"]}}
    schema = {"type": "object", "properties": {"a": array, "b": {"anyOf": [{"type": "null"}, array]}}, "required": ["a"]}
    history = (
        User((Text("go"), Image("image/png", PIXEL))),
        says(Reasoning("", OWN), Text("both", OWN), call(opaque=OWN), call("c2", "g", '{"a": [1, null]}')),
        Results((result(), result("c2", "g", Text("r"), Image("image/webp", PIXEL)))),
        GO,
        says(Text("fine")),
        GO,
        GO,
    )
    assert violations(Request(("be good",), history, (tool(schema), tool(name="g")), max_output=1), "m") == ()


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((), ["messages is empty"]),
        ((says(Text("x")), GO), ["messages[0] is an assistant; the first message must be the user's"]),
        ((GO, says(Text("x"))), ["messages[1] is the assistant's; the last message must be the user's or results"]),
        ((User(()),), ["messages[0]: a user message without content"]),
        ((User((Text(" \n"),)),), ["messages[0].parts[0]: empty text"]),
        ((GO, says(), GO), ["messages[1]: an assistant message without content"]),
        ((GO, says(Text("")), GO), ["messages[1].parts[0]: empty text"]),
        (
            (GO, says(Reasoning("x")), GO),
            ["messages[1]: reasoning alone is no answer (OpenAI wants the item that it belongs to)"],
        ),
        ((GO, says(call())), ["messages[1]: no result right after it for the calls 'c1'"]),
        (
            (GO, says(call()), GO, Results((result(),))),
            [
                "messages[1]: no result right after it for the calls 'c1'",
                "messages[3]: a result for 'c1', which is no call of the message before it",
            ],
        ),
        ((GO, says(call(), call("c2")), Results((result(),))), ["messages[2]: no result for the call 'c2'"]),
        ((GO, says(call()), Results((result(), result()))), ["messages[2]: the call 'c1' has more than one result"]),
        (
            (GO, says(call()), Results((result(), result("c9")))),
            ["messages[2]: a result for 'c9', which is no call of the message before it"],
        ),
        (
            (GO, says(call(), call("c2")), Results((result("c2"), result()))),
            ["messages[2]: the results are not in the order of the calls"],
        ),
        ((GO, says(call()), Results((result(name="g"),))), ["messages[2]: the result of 'c1' is named 'g', its call 'f'"]),
        (
            (GO, says(call()), Results(())),
            [
                "messages[2]: results without a part",
                "messages[2]: no result for the call 'c1'",
                "messages[2]: a results message without content",
            ],
        ),
        (
            (GO, says(call()), Results((result(),)), says(call()), Results((result(),))),
            ["messages[3]: the id 'c1' is used by more than one call"],
        ),
        ((GO, says(call()), Results((result("c1", "f", Text("")),))), ["messages[2].parts[0].parts[0]: empty text"]),
        ((User((Text("a\udc00"),)),), ["messages[0].parts[0]: half a surrogate pair at character 1"]),
        ((User((Image("image/bmp", PIXEL),)),), ["the media type 'image/bmp' is none of"]),
        ((User((Image("image/png", "a b"),)),), ["messages[0].parts[0]: the image is not base64"]),
        ((User((Image("image/png", ""),)),), ["messages[0].parts[0]: the image is empty"]),
        (
            (GO, says(Text("x", Opaque("anthropic", "m", "{}"))), GO),
            ["messages[1].parts[0]: opaque data of anthropic/m sent to scripted/m"],
        ),
        (
            (GO, says(Reasoning("x", Opaque("scripted", "n", "{}")), Text("x")), GO),
            ["messages[1].parts[0]: opaque data of scripted/n sent to scripted/m"],
        ),
    ],
)
def test_a_conversation_that_the_vendors_refuse(messages: tuple[Message, ...], expected: list[str]) -> None:
    found = violations(Request((), messages), "m")
    assert len(found) == len(expected)
    assert all(words in sentence for words, sentence in zip(expected, found, strict=True))


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        (call("", "f"), "the id '' does not match"),
        (call("a b"), "the id 'a b' does not match"),
        (call("x" * 65), "does not match"),
        (call(name="functions.f"), "the tool name 'functions.f' does not match"),
        (call(name=""), "the tool name '' does not match"),
        (call(name="f\n"), "the tool name 'f\\n' does not match"),
        (call(name="x" * 65), "does not match"),
        (call(arguments=""), "are not the text of a JSON object: ''"),
        (call(arguments='{"a": '), "are not the text of a JSON object"),
        (call(arguments='"{}"'), "are not the text of a JSON object"),
        (call(arguments="[]"), "are not the text of a JSON object"),
        (call(arguments='{"a": NaN}'), "are not the text of a JSON object"),
        (call(arguments='{"a": "\n"}'), "are not the text of a JSON object"),
    ],
)
def test_a_call_that_the_vendors_refuse(bad: ToolCall, expected: str) -> None:
    (found,) = violations(Request((), (GO, says(bad), Results((result(bad.id, bad.name),)))), "m")
    assert found.startswith("messages[1].parts[0]: ")
    assert expected in found


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ((tool(), tool()), "tools[1]: more than one tool is named 'f'"),
        ((tool(name="a b"),), "tools[0]: the tool name 'a b' does not match"),
        ((tool(description=""),), "tools[0].description: empty text"),
        ((tool([]),), 'tools[0]: the parameters are not a JSON Schema of type "object"'),
        ((tool({"type": "array", "items": {}}),), 'not a JSON Schema of type "object"'),
        ((ToolSchema("f", "d", "{"),), 'not a JSON Schema of type "object"'),
        ((tool({"type": "object", "anyOf": [{}]}),), "tools[0]: anyOf at the top of the parameters"),
        ((tool({"type": "object", "properties": []}),), "tools[0].parameters: properties is not an object"),
        ((tool({"type": "object", "required": ["a"]}),), "tools[0].parameters: required names 'a', which is no property"),
        ((tool({"type": "object", "required": "a"}),), "tools[0].parameters: required is not a list of names"),
        ((tool({"type": "object", "properties": {"a": {"type": "array"}}}),), "tools[0].parameters.a: an array without items"),
        ((tool({"type": "object", "properties": {"a": {"enum": []}}}),), "tools[0].parameters.a: an enum without values"),
        ((tool({"type": "object", "properties": {"a": "string"}}),), "tools[0].parameters.a: 'string' is no schema"),
        (
            (tool({"type": "object", "properties": {"a": {"type": "array", "items": {"anyOf": [{"type": "array"}]}}}}),),
            "tools[0].parameters.a[].anyOf: an array without items",
        ),
        (tuple(tool(name=f"f{number}") for number in range(129)), "tools: 129 tools, more than 128"),
    ],
)
def test_a_tool_that_the_vendors_refuse(tools: tuple[ToolSchema, ...], expected: str) -> None:
    (found,) = violations(Request((), (GO,), tools), "m")
    assert expected in found


def test_a_system_prompt_and_a_limit_that_the_vendors_refuse() -> None:
    found = violations(Request(("fine", "", "\ud800"), (GO,), max_output=0), "m")
    assert found == (
        "system[1]: empty text",
        "system[2]: half a surrogate pair at character 0",
        "max_output is 0; all vendors want at least 1",
    )


def test_the_provider_refuses_with_the_rules_and_uses_up_no_step(tmp_path: Any) -> None:
    player = provider(write(tmp_path, {"text": "fine"}))
    refused = play(player, GO, says(call()))
    assert repr(refused) == repr(play(player, GO, says(call())))
    assert "rules that the request breaks: messages[1]: no result right after it for the calls 'c1'" in repr(refused)
    assert "fine" in repr(play(player))
