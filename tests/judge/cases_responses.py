"""Bodies that break and keep each rule of OpenAI Responses."""

from typing import Any

from .body import Json
from .case import GIF, PNG, Case, but

SCHEMA: Json = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
CLOSED: Json = SCHEMA | {"additionalProperties": False}
TOOL: Json = {"type": "function", "name": "read_file", "description": "Reads a file.", "parameters": SCHEMA, "strict": False}
ASK: Json = {"role": "user", "content": "Read x."}
SAID: Json = {
    "type": "message",
    "role": "assistant",
    "id": "msg_1",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Done.", "annotations": []}],
}
THOUGHT: Json = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "hm"}],
    "encrypted_content": "c2ln",
}
PLAIN: Json = {"model": "gpt-x", "instructions": "Be brief.", "input": [ASK], "store": False}


def call(identifier: str = "a", **changes: Any) -> Json:
    return {"type": "function_call", "call_id": identifier, "name": "read_file", "arguments": '{"path": "x"}'} | changes


def output(identifier: str = "a", what: Any = "seen") -> Json:
    return {"type": "function_call_output", "call_id": identifier, "output": what}


def talk(*items: Json, **more: Any) -> Json:
    return PLAIN | {"input": list(items), "tools": [TOOL]} | more


def user(*parts: Json) -> Json:
    return {"role": "user", "content": list(parts)}


def image(url: str = f"data:image/png;base64,{PNG}", **more: Any) -> Json:
    return {"type": "input_image", "detail": "auto", "image_url": url} | more


def tool(**changes: Any) -> Json:
    return PLAIN | {"tools": [TOOL | changes]}


def answer(**changes: Any) -> Json:
    return PLAIN | {"text": {"format": {"type": "json_schema", "name": "call", "strict": True, "schema": CLOSED} | changes}}


LOOP = talk(ASK, call(), output())

CASES = [
    Case("R1", "half a surrogate pair", but(PLAIN, ("input.0.content", "\ud83d")), but(PLAIN, ("input.0.content", "😀"))),
    Case("R1", "an object with a key twice", b'{"model": "m", "model": "m", "input": "a"}', b'{"model": "m", "input": "a"}'),
    Case("R2", "messages", PLAIN | {"messages": []}, PLAIN | {"max_tool_calls": 5}, sdk=True),
    Case("R3", "no items", PLAIN | {"input": []}, PLAIN | {"input": "Hello"}),
    Case("R4", "an unknown type", talk(ASK, {"type": "tool_result", "call_id": "a", "output": "x"}), talk(ASK), sdk=True),
    Case("R4", "a call with its index", talk(ASK, call(index=0), output()), LOOP, sdk=True),
    Case(
        "R5", "role tool", talk(ASK, {"role": "tool", "content": "x"}), talk(ASK, {"role": "developer", "content": "x"}), sdk=True
    ),
    Case(
        "R6",
        "the assistant with input",
        talk(ASK, but(SAID, ("content.0.type", "input_text")), ASK),
        talk(ASK, SAID, ASK),
        also=frozenset(),
        sdk=True,
    ),
    Case(
        "R6",
        "the user with a text part of chat",
        talk(user({"type": "text", "text": "x"})),
        talk(user({"type": "input_text", "text": "x"})),
        sdk=True,
    ),
    Case(
        "R6",
        "the assistant without an id, with annotations only",
        talk(ASK, {"role": "assistant", "content": []}, ASK),
        talk(ASK, {"role": "assistant", "content": [{"type": "output_text", "text": "x"}]}, ASK),
    ),
    Case("R7", "empty text", talk({"role": "user", "content": ""}), talk(ASK)),
    Case(
        "R8",
        "an output of output_text",
        talk(ASK, call(), output(what=[{"type": "output_text", "text": "x"}])),
        talk(ASK, call(), output(what=[{"type": "input_text", "text": "x"}, image()])),
        sdk=True,
    ),
    Case(
        "R8",
        "an output that is an object",
        talk(ASK, call(), output(what={"a": 1})),
        talk(ASK, call(), output(what="")),
        sdk=True,
    ),
    Case(
        "R9",
        "a gif called png",
        talk(user(image(f"data:image/png;base64,{GIF}"))),
        talk(user(image(f"data:image/gif;base64,{GIF}"))),
    ),
    Case(
        "R9",
        "a url in an object",
        talk(user(image() | {"image_url": {"url": "https://example.org/a.png"}})),
        talk(user(image("https://example.org/a.png"))),
        sdk=True,
    ),
    Case(
        "R10",
        "a call_id of 65 characters",
        talk(ASK, call("x" * 65), output("x" * 65)),
        talk(ASK, call("x" * 64), output("x" * 64)),
    ),
    Case("R11", "a bar in a call_id", talk(ASK, call("a|b"), output("a|b")), talk(ASK, call("a_b"), output("a_b"))),
    Case("R12", "a call_id as item id", talk(ASK, call(id="call_1"), output()), talk(ASK, call(id="fc_1"), output())),
    Case("R13", "an item id twice", talk(ASK, SAID, ASK, SAID, ASK), talk(ASK, SAID, ASK, SAID | {"id": "msg_2"}, ASK)),
    Case(
        "R13",
        "a call_id used again",
        talk(ASK, call(), output(), call(), output()),
        talk(ASK, call(), output(), call("b"), output("b")),
        also=frozenset({"R18"}),
    ),
    Case("R14", "a dot in a name", talk(ASK, call(name="mcp.read"), output()), talk(ASK, call(name="mcp__read"), output())),
    Case("R15", "cut arguments", talk(ASK, call(arguments='{"path'), output()), talk(ASK, call(arguments="{}"), output())),
    Case(
        "R15",
        "arguments are an object",
        talk(ASK, call(arguments={}), output()),
        talk(ASK, call(arguments="{}"), output()),
        sdk=True,
    ),
    Case(
        "R16",
        "a call without output",
        talk(ASK, call(), call("b"), output()),
        talk(ASK, call(), call("b"), output("b"), output()),
    ),
    Case("R17", "an output nobody asked for", talk(ASK, output()), talk(ASK)),
    Case("R17", "the output before its call", talk(ASK, output(), call()), LOOP, also=frozenset({"R16"})),
    Case("R18", "two outputs", talk(ASK, call(), output(), output()), LOOP),
    Case("R19", "somebody speaks before the output", talk(ASK, call(), ASK, output()), talk(ASK, call(), SAID, output(), ASK)),
    Case("R20", "reasoning at the end", talk(ASK, THOUGHT), talk(ASK, THOUGHT, call(), output())),
    Case("R20", "reasoning before the user", talk(ASK, THOUGHT, ASK), talk(ASK, THOUGHT, SAID, ASK)),
    Case(
        "R21",
        "reasoning without content while nothing is stored",
        talk(ASK, THOUGHT | {"encrypted_content": None}, SAID, ASK),
        talk(ASK, THOUGHT | {"encrypted_content": None}, SAID, ASK, store=True),
    ),
    Case(
        "R21",
        "a summary of text parts",
        talk(ASK, but(THOUGHT, ("summary.0.type", "text")), SAID, ASK),
        talk(ASK, THOUGHT | {"summary": []}, SAID, ASK),
        sdk=True,
    ),
    Case(
        "R22",
        "a reference while nothing is stored",
        talk(ASK, {"type": "item_reference", "id": "msg_1"}, ASK),
        talk(ASK, {"type": "item_reference", "id": "msg_1"}, ASK, store=True),
    ),
    Case(
        "R22",
        "two ways to go on",
        PLAIN | {"previous_response_id": "resp_1", "conversation": "conv_1"},
        PLAIN | {"previous_response_id": "resp_1"},
    ),
    Case("R23", "a tool as Chat has it", PLAIN | {"tools": [{"type": "function", "function": TOOL}]}, tool(), sdk=True),
    Case("R23", "a strict tool that is open", tool(strict=True), tool(strict=True, parameters=CLOSED)),
    Case("R23", "parameters of no type", tool(parameters={}), tool(parameters={"type": "object", "properties": {}})),
    Case("R24", "two tools of one name", PLAIN | {"tools": [TOOL, TOOL]}, PLAIN | {"tools": [TOOL, TOOL | {"name": "b"}]}),
    Case("R25", "a choice without tools", PLAIN | {"tool_choice": "auto"}, tool() | {"tool_choice": "auto"}),
    Case(
        "R25",
        "an unknown tool is forced",
        tool() | {"tool_choice": {"type": "function", "name": "x"}},
        tool() | {"tool_choice": {"type": "function", "name": "read_file"}},
    ),
    Case("R26", "response_format's shape", answer(json_schema={}), answer(), sdk=True),
    Case("R26", "open", answer(schema=SCHEMA), answer()),
    Case("R26", "a name of 65 characters", answer(name="n" * 65), answer(name="n" * 64)),
    Case("R27", "a length", answer(schema=but(CLOSED, ("properties.path.maxLength", 5))), answer()),
    Case("R28", "less than 16 tokens", PLAIN | {"max_output_tokens": 15}, PLAIN | {"max_output_tokens": 16}),
    Case(
        "R28",
        "an unknown effort",
        PLAIN | {"reasoning": {"effort": "huge"}},
        PLAIN | {"reasoning": {"effort": "low", "summary": "auto"}},
        sdk=True,
    ),
    Case(
        "R28",
        "something unknown is included",
        PLAIN | {"include": ["reasoning"]},
        PLAIN | {"include": ["reasoning.encrypted_content"]},
        sdk=True,
    ),
    Case("R29", "a key of 65 characters", PLAIN | {"prompt_cache_key": "k" * 65}, PLAIN | {"prompt_cache_key": "k" * 64}),
]
