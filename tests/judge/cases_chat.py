"""Bodies that break and keep each rule of OpenAI Chat Completions."""

from typing import Any

from .body import Json
from .case import GIF, PNG, Case, but

SCHEMA: Json = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
CLOSED: Json = SCHEMA | {"additionalProperties": False}
TOOL: Json = {"type": "function", "function": {"name": "read_file", "description": "Reads a file.", "parameters": SCHEMA}}
SYSTEM = {"role": "system", "content": "Be brief."}
ASK = {"role": "user", "content": "Read x."}
SAY = {"role": "assistant", "content": "Done."}
PLAIN: Json = {"model": "gpt-x", "messages": [SYSTEM, ASK]}


def call(identifier: str = "a", name: str = "read_file", arguments: Any = '{"path": "x"}') -> Json:
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*made: Json, content: Any = None) -> Json:
    return {"role": "assistant", "content": content, "tool_calls": list(made)}


def result(identifier: str = "a", content: Any = "seen") -> Json:
    return {"role": "tool", "tool_call_id": identifier, "content": content}


def talk(*messages: Json, **more: Any) -> Json:
    return {"model": "gpt-x", "messages": [SYSTEM, *messages], "tools": [TOOL], **more}


def image(url: str = f"data:image/png;base64,{PNG}") -> Json:
    return {"type": "image_url", "image_url": {"url": url}}


def user(*parts: Json) -> Json:
    return {"role": "user", "content": list(parts)}


def tool(**changes: Any) -> Json:
    return PLAIN | {"tools": [{"type": "function", "function": TOOL["function"] | changes}]}


def answer(**changes: Any) -> Json:
    form = {"name": "call", "strict": True, "schema": CLOSED} | changes
    return PLAIN | {"response_format": {"type": "json_schema", "json_schema": form}}


LOOP = talk(ASK, calls(call()), result())

CASES = [
    Case("C1", "half a surrogate pair", but(PLAIN, ("messages.1.content", "\udc00")), but(PLAIN, ("messages.1.content", "𐀀"))),
    Case(
        "C1",
        "bytes that are not UTF-8",
        b'{"model": "\xff"}',
        b'{"model": "m", "messages": [{"role": "user", "content": "\xc3\xbf"}]}',
    ),
    Case("C2", "unknown field", PLAIN | {"system": "Be brief."}, PLAIN | {"temperature": 0.5}, sdk=True),
    Case("C2", "no model", but(PLAIN, ("model", ...)), PLAIN, sdk=True),
    Case("C3", "role model", talk(ASK, {"role": "model", "content": "x"}, ASK), talk(ASK, SAY, ASK), sdk=True),
    Case(
        "C3",
        "a result without its call",
        talk(ASK, calls(call()), {"role": "tool", "content": "x"}),
        LOOP,
        also=frozenset({"C14", "C15"}),
        sdk=True,
    ),
    Case("C3", "reasoning in a message", talk(ASK, SAY | {"reasoning_content": "hm"}, ASK), talk(ASK, SAY, ASK), sdk=True),
    Case("C4", "a user without content", talk({"role": "user", "content": None}), talk(ASK), sdk=True),
    Case(
        "C4",
        "an assistant without anything",
        talk(ASK, {"role": "assistant", "content": None}, ASK),
        talk(ASK, calls(call()), result()),
    ),
    Case("C4", "no parts", talk(user()), talk(user({"type": "text", "text": "x"}))),
    Case(
        "C5",
        "an image in a result",
        talk(ASK, calls(call()), result(content=[image()])),
        talk(ASK, calls(call()), result(content=[{"type": "text", "text": "x"}])),
        sdk=True,
    ),
    Case(
        "C5", "input_text", talk(user({"type": "input_text", "text": "x"})), talk(user({"type": "text", "text": "x"})), sdk=True
    ),
    Case("C6", "empty text", talk({"role": "user", "content": ""}), talk(ASK)),
    Case(
        "C7",
        "a gif called png",
        talk(user(image(f"data:image/png;base64,{GIF}"))),
        talk(user(image(f"data:image/gif;base64,{GIF}"))),
    ),
    Case("C7", "a bare path", talk(user(image("shot.png"))), talk(user(image("https://example.org/shot.png")))),
    Case("C8", "an empty list of calls", talk(ASK, SAY | {"tool_calls": []}, ASK), talk(ASK, SAY, ASK)),
    Case("C8", "a call with its index", talk(ASK, calls(call() | {"index": 0}), result()), LOOP, sdk=True),
    Case(
        "C9",
        "an id of 41 characters",
        talk(ASK, calls(call("x" * 41)), result("x" * 41)),
        talk(ASK, calls(call("x" * 40)), result("x" * 40)),
    ),
    Case("C10", "a colon in an id", talk(ASK, calls(call("f:0")), result("f:0")), talk(ASK, calls(call("f-0")), result("f-0"))),
    Case(
        "C11",
        "an id used again later",
        talk(ASK, calls(call()), result(), calls(call()), result()),
        talk(ASK, calls(call()), result(), calls(call("b")), result("b")),
    ),
    Case(
        "C12",
        "a dot in a name",
        talk(ASK, calls(call(name="mcp.read")), result()),
        talk(ASK, calls(call(name="mcp__read")), result()),
    ),
    Case(
        "C12",
        "a name of 65 characters",
        talk(ASK, calls(call(name="n" * 65)), result()),
        talk(ASK, calls(call(name="n" * 64)), result()),
    ),
    Case("C13", "cut arguments", talk(ASK, calls(call(arguments='{"path": "x')), result()), LOOP),
    Case(
        "C13",
        "arguments are a list",
        talk(ASK, calls(call(arguments="[]")), result()),
        talk(ASK, calls(call(arguments="{}")), result()),
    ),
    Case(
        "C13",
        "arguments are an object",
        talk(ASK, calls(call(arguments={})), result()),
        talk(ASK, calls(call(arguments="{}")), result()),
        sdk=True,
    ),
    Case(
        "C14",
        "a call without result",
        talk(ASK, calls(call(), call("b")), result()),
        talk(ASK, calls(call(), call("b")), result("b"), result()),
    ),
    Case(
        "C14",
        "the result after somebody spoke",
        talk(ASK, calls(call()), ASK, result()),
        talk(ASK, calls(call()), result(), ASK),
        also=frozenset({"C15"}),
    ),
    Case("C15", "a result nobody asked for", talk(ASK, SAY, result()), talk(ASK, SAY, ASK)),
    Case("C16", "two results", talk(ASK, calls(call()), result(), result()), LOOP),
    Case("C17", "system in the middle", talk(ASK, SAY, SYSTEM, ASK), talk({"role": "developer", "content": "x"}, ASK, SAY, ASK)),
    Case("C18", "two users", talk(ASK, ASK), talk(ASK, SAY, ASK)),
    Case("C18", "the assistant is last", talk(ASK, SAY), talk(ASK, SAY, ASK)),
    Case("C19", "no tools in the list", PLAIN | {"tools": []}, PLAIN),
    Case("C19", "a tool as Responses has it", PLAIN | {"tools": [{"type": "function", "name": "a"}]}, tool(), sdk=True),
    Case("C19", "parameters of no type", tool(parameters={}), tool(parameters={"type": "object", "properties": {}})),
    Case(
        "C19",
        "an object without properties",
        tool(parameters={"type": "object"}),
        but(tool(), ("tools.0.function.parameters", ...)),
    ),
    Case(
        "C19",
        "an array without items",
        tool(parameters=but(SCHEMA, ("properties.path", {"type": "array"}))),
        tool(parameters=but(SCHEMA, ("properties.path", {"type": "array", "items": {}}))),
    ),
    Case("C19", "a strict tool that is open", tool(strict=True), tool(strict=True, parameters=CLOSED)),
    Case(
        "C20",
        "two tools of one name",
        PLAIN | {"tools": [TOOL, TOOL]},
        PLAIN | {"tools": [TOOL, but(TOOL, ("function.name", "b"))]},
    ),
    Case("C21", "a long description", tool(description="x" * 1025), tool(description="x" * 1024)),
    Case("C22", "a choice without tools", PLAIN | {"tool_choice": "auto"}, tool() | {"tool_choice": "auto"}),
    Case("C22", "parallel calls without tools", PLAIN | {"parallel_tool_calls": False}, tool() | {"parallel_tool_calls": False}),
    Case(
        "C22",
        "an unknown tool is forced",
        tool() | {"tool_choice": {"type": "function", "function": {"name": "x"}}},
        tool() | {"tool_choice": {"type": "function", "function": {"name": "read_file"}}},
    ),
    Case("C23", "a dot in the name", answer(name="a.b"), answer(name="a-b")),
    Case("C23", "open", answer(schema=SCHEMA), answer()),
    Case("C23", "not every property required", answer(schema=CLOSED | {"required": []}), answer()),
    Case(
        "C23",
        "anyOf at the root",
        answer(schema={"anyOf": [CLOSED]}),
        answer(schema=but(CLOSED, ("properties.path", {"anyOf": [CLOSED, {"type": "null"}]}))),
    ),
    Case(
        "C23",
        "a nested object that is open",
        answer(schema=but(CLOSED, ("properties.path", SCHEMA))),
        answer(schema=but(CLOSED, ("properties.path", CLOSED))),
    ),
    Case(
        "C23",
        "json_object without the word",
        PLAIN | {"response_format": {"type": "json_object"}},
        but(PLAIN, ("messages.0.content", "Answer in JSON.")) | {"response_format": {"type": "json_object"}},
    ),
    Case("C24", "a pattern", answer(schema=but(CLOSED, ("properties.path.pattern", "a+"))), answer()),
    Case("C25", "both limits", PLAIN | {"max_tokens": 5, "max_completion_tokens": 5}, PLAIN | {"max_completion_tokens": 5}),
    Case("C25", "no room at all", PLAIN | {"max_tokens": 0}, PLAIN | {"max_tokens": 1}),
    Case(
        "C25",
        "stream options without a stream",
        PLAIN | {"stream_options": {"include_usage": True}},
        PLAIN | {"stream": True, "stream_options": {"include_usage": True}},
    ),
    Case("C25", "an unknown effort", PLAIN | {"reasoning_effort": "huge"}, PLAIN | {"reasoning_effort": "low"}, sdk=True),
    Case("C26", "a key of 65 characters", PLAIN | {"prompt_cache_key": "k" * 65}, PLAIN | {"prompt_cache_key": "k" * 64}),
]
