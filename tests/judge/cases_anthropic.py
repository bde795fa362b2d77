"""Bodies that break and keep each rule of Anthropic Messages."""

from typing import Any

from .body import Json
from .case import GIF, PNG, Case, but

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOL: Json = {"name": "read_file", "description": "Reads a file.", "input_schema": SCHEMA}
MARK = {"cache_control": {"type": "ephemeral"}}
THOUGHT = {"type": "thinking", "thinking": "I should look.", "signature": "c2ln"}
THINKING = ("thinking", {"type": "enabled", "budget_tokens": 2048})


def text(words: str, **more: Any) -> Json:
    return {"type": "text", "text": words, **more}


def use(identifier: str = "a", **more: Any) -> Json:
    return {"type": "tool_use", "id": identifier, "name": "read_file", "input": {"path": "x"}, **more}


def result(identifier: str = "a", content: Any = "seen", **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": identifier, "content": content, **more}


def user(*blocks: Any) -> Json:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> Json:
    return {"role": "assistant", "content": list(blocks)}


def image(**source: Any) -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG} | source}


PLAIN: Json = {"model": "claude-x", "max_tokens": 8192, "messages": [{"role": "user", "content": "Hello"}]}
ASK = user(text("Read x."))


def talk(*messages: Json, **more: Any) -> Json:
    return {**PLAIN, "system": [text("Be brief.")], "tools": [TOOL], "messages": list(messages), **more}


LOOP = talk(ASK, assistant(text("I look."), use()), user(result()))


def tool(**changes: Any) -> Json:
    return {**PLAIN, "tools": [TOOL | changes]}


def choice(value: Any) -> Json:
    return but(LOOP, ("tool_choice", value))


STRICT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}

CASES = [
    Case("A1", "half a surrogate pair", but(PLAIN, ("messages.0.content", "\ud83d")), but(PLAIN, ("messages.0.content", "😀"))),
    Case(
        "A1",
        "a key twice",
        b'{"model": "m", "max_tokens": 1, "max_tokens": 1, "messages": [{"role": "user", "content": "a"}]}',
        b'{"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "a"}]}',
    ),
    Case("A2", "unknown field", PLAIN | {"n": 2}, PLAIN | {"stop_sequences": ["x"]}, sdk=True),
    Case("A2", "no max_tokens", but(PLAIN, ("max_tokens", ...)), PLAIN, also=frozenset({"A3"}), sdk=True),
    Case("A3", "max_tokens is text", PLAIN | {"max_tokens": "8192"}, PLAIN | {"max_tokens": 1}, sdk=True),
    Case("A3", "no model name", PLAIN | {"model": ""}, PLAIN),
    Case("A4", "no messages", PLAIN | {"messages": []}, PLAIN),
    Case("A4", "a message with a name", but(PLAIN, ("messages.0.name", "bob")), PLAIN, sdk=True),
    Case("A5", "role tool", talk(ASK, {"role": "tool", "content": "x"}), talk(ASK), sdk=True),
    Case(
        "A6",
        "system as a message",
        talk({"role": "system", "content": "Be brief."}, ASK),
        talk(ASK),
        also=frozenset({"A5", "A7"}),
    ),
    Case("A6", "empty system", PLAIN | {"system": ""}, PLAIN | {"system": "Be brief."}),
    Case("A6", "an empty block in system", PLAIN | {"system": [text(" ")]}, PLAIN | {"system": [text("Be brief.", **MARK)]}),
    Case("A7", "the assistant begins", talk(assistant(text("Hi")), ASK), talk(ASK, assistant(text("Hi")), ASK)),
    Case("A8", "two users", talk(ASK, ASK), talk(user(text("Read x."), text("Now.")))),
    Case("A9", "a prefill", talk(ASK, assistant(text("It"))), talk(ASK, assistant(text("It")), ASK), also=frozenset()),
    Case(
        "A10",
        "prefill ending in a space",
        talk(ASK, assistant(text("It "))),
        talk(ASK, assistant(text("It ")), ASK),
        also=frozenset({"A9"}),
    ),
    Case("A11", "no blocks", talk(user()), talk(ASK)),
    Case("A11", "an empty string", talk({"role": "user", "content": ""}), PLAIN, also=frozenset({"A12"})),
    Case("A12", "empty text beside a call", but(LOOP, ("messages.1.content.0", text(""))), LOOP),
    Case(
        "A12",
        "only whitespace",
        talk(user(text("\n"))),
        talk(user(text("\n."))),
    ),
    Case(
        "A12",
        "empty text in a result",
        but(LOOP, ("messages.2.content.0", result(content=[text("")]))),
        but(LOOP, ("messages.2.content.0", result(content=""))),
    ),
    Case("A13", "unknown block", talk(user({"type": "video"})), talk(ASK), sdk=True),
    Case("A13", "a call with its index", but(LOOP, ("messages.1.content.1", use(index=0))), LOOP, sdk=True),
    Case("A14", "a call by the user", talk(user(use()), assistant(text("x")), ASK), LOOP, also=frozenset({"A19"})),
    Case("A14", "a result by the assistant", talk(ASK, assistant(result()), ASK), LOOP, also=frozenset({"A20"})),
    Case(
        "A15",
        "a colon in an id",
        talk(ASK, assistant(use("f:0")), user(result("f:0"))),
        talk(ASK, assistant(use("f-0")), user(result("f-0"))),
    ),
    Case(
        "A16",
        "an id used again later",
        talk(ASK, assistant(use()), user(result()), assistant(use()), user(result())),
        talk(ASK, assistant(use()), user(result()), assistant(use("b")), user(result("b"))),
    ),
    Case(
        "A17",
        "a dot in a name",
        but(LOOP, ("messages.1.content.1.name", "mcp.read")),
        but(LOOP, ("messages.1.content.1.name", "mcp__read")),
    ),
    Case(
        "A17",
        "a name of 65 characters",
        but(LOOP, ("messages.1.content.1.name", "n" * 65)),
        but(LOOP, ("messages.1.content.1.name", "n" * 64)),
    ),
    Case("A18", "input as text", but(LOOP, ("messages.1.content.1.input", '{"path": "x"}')), LOOP, sdk=True),
    Case(
        "A18",
        "input null",
        but(LOOP, ("messages.1.content.1.input", None)),
        but(LOOP, ("messages.1.content.1.input", {})),
        sdk=True,
    ),
    Case(
        "A19",
        "a call without result",
        talk(ASK, assistant(use(), use("b")), user(result())),
        talk(ASK, assistant(use(), use("b")), user(result("b"), result())),
    ),
    Case("A19", "a call at the end", talk(ASK, assistant(use())), LOOP, also=frozenset({"A9"})),
    Case("A20", "a result nobody asked for", but(LOOP, ("messages.2.content", [result(), result("b")])), LOOP),
    Case(
        "A20",
        "a result one turn late",
        talk(ASK, assistant(use()), user(result()), assistant(text("x")), user(result())),
        talk(ASK, assistant(use()), user(result()), assistant(text("x")), ASK),
    ),
    Case("A21", "two results", but(LOOP, ("messages.2.content", [result(), result()])), LOOP),
    Case(
        "A22",
        "text before the result",
        but(LOOP, ("messages.2.content", [text("Here:"), result()])),
        but(LOOP, ("messages.2.content", [result(), text("Go on.")])),
    ),
    Case("A23", "text after the call", but(LOOP, ("messages.1.content", [use(), text("I look.")])), LOOP),
    Case(
        "A24",
        "a call in a result",
        but(LOOP, ("messages.2.content.0", result(content=[use()]))),
        but(LOOP, ("messages.2.content.0", result(content=[text("x"), image()]))),
        sdk=True,
    ),
    Case(
        "A24",
        "is_error is text",
        but(LOOP, ("messages.2.content.0", result(is_error="yes"))),
        but(LOOP, ("messages.2.content.0", result(is_error=True))),
        sdk=True,
    ),
    Case(
        "A25",
        "no signature",
        talk(ASK, assistant(THOUGHT | {"signature": ""}, text("x")), ASK),
        talk(ASK, assistant(THOUGHT | {"thinking": ""}, text("x")), ASK),
    ),
    Case(
        "A26",
        "the loop starts with text",
        but(LOOP, THINKING),
        but(LOOP, THINKING, ("messages.1.content", [THOUGHT, text("I look."), use()])),
    ),
    Case(
        "A26",
        "the loop starts with a call",
        but(LOOP, THINKING, ("messages.1.content", [use()])),
        but(LOOP, THINKING, ("messages.2.content", [text("?")]), ("messages.1.content", [text("x")])),
    ),
    Case("A27", "only thinking", talk(ASK, assistant(THOUGHT), ASK), talk(ASK, assistant(THOUGHT, text("x")), ASK)),
    Case(
        "A28", "budget above max_tokens", PLAIN | {"thinking": {"type": "enabled", "budget_tokens": 8192}}, but(PLAIN, THINKING)
    ),
    Case(
        "A28",
        "budget below 1024",
        PLAIN | {"thinking": {"type": "enabled", "budget_tokens": 100}},
        PLAIN | {"thinking": {"type": "adaptive"}},
    ),
    Case(
        "A28",
        "a forced tool while thinking",
        tool() | {"thinking": {"type": "adaptive"}, "tool_choice": {"type": "any"}},
        tool() | {"thinking": {"type": "adaptive"}, "tool_choice": {"type": "auto"}},
    ),
    Case(
        "A29",
        "five marks",
        talk(user(*[text("x", **MARK)] * 4), tools=[TOOL | MARK]),
        talk(user(*[text("x", **MARK)] * 3), tools=[TOOL | MARK]),
    ),
    Case(
        "A29",
        "an unknown kind of mark",
        PLAIN | {"system": [text("x", cache_control={"type": "forever"})]},
        PLAIN | {"system": [text("x", cache_control={"type": "ephemeral", "ttl": "1h"})]},
        sdk=True,
    ),
    Case(
        "A29",
        "an hour after five minutes",
        talk(user(text("x", cache_control={"type": "ephemeral", "ttl": "1h"})), tools=[TOOL | MARK]),
        talk(user(text("x", **MARK)), tools=[TOOL | {"cache_control": {"type": "ephemeral", "ttl": "1h"}}]),
    ),
    Case(
        "A30",
        "a mark on thinking",
        talk(ASK, assistant(THOUGHT | MARK, text("x")), ASK),
        talk(ASK, assistant(THOUGHT, text("x", **MARK)), ASK),
        also=frozenset({"A13"}),
        sdk=True,
    ),
    Case("A31", "svg", talk(user(image(media_type="image/svg+xml"))), talk(user(image())), sdk=True),
    Case("A31", "a gif called png", talk(user(image(data=GIF))), talk(user(image(data=GIF, media_type="image/gif")))),
    Case("A31", "broken base64", talk(user(image(data=PNG[:40] + "\n" + PNG[40:]))), talk(user(image()))),
    Case(
        "A31",
        "a broken image in a result",
        but(LOOP, ("messages.2.content.0", result(content=[image(data="AAAA")]))),
        but(LOOP, ("messages.2.content.0", result(content=[image()]))),
    ),
    Case("A32", "two tools of one name", PLAIN | {"tools": [TOOL, TOOL]}, PLAIN | {"tools": [TOOL, TOOL | {"name": "b"}]}),
    Case("A32", "a space in a name", tool(name="read file"), tool()),
    Case("A32", "parameters as OpenAI has them", tool(parameters=SCHEMA), tool(), sdk=True),
    Case("A33", "no type", tool(input_schema={}), tool(input_schema={"type": "object"})),
    Case(
        "A33",
        "anyOf at the root",
        tool(input_schema=SCHEMA | {"anyOf": []}),
        tool(input_schema=but(SCHEMA, ("properties.path", {"anyOf": [{"type": "string"}, {"type": "null"}]}))),
    ),
    Case("A33", "required names nothing", tool(input_schema=SCHEMA | {"required": ["file"]}), tool()),
    Case(
        "A33",
        "a property with a space",
        tool(input_schema={"type": "object", "properties": {"a b": {}}}),
        tool(input_schema={"type": "object", "properties": {"a.b": {}}}),
    ),
    Case("A34", "calls without tools", but(LOOP, ("tools", ...)), LOOP),
    Case(
        "A35", "an unknown tool is forced", choice({"type": "tool", "name": "x"}), choice({"type": "tool", "name": "read_file"})
    ),
    Case(
        "A35",
        "a choice without tools",
        PLAIN | {"tool_choice": {"type": "auto"}},
        choice({"type": "auto", "disable_parallel_tool_use": True}),
    ),
    Case(
        "A36",
        "an open schema",
        PLAIN | {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        PLAIN | {"output_config": {"format": {"type": "json_schema", "schema": STRICT}}},
    ),
    Case(
        "A36",
        "an unknown effort",
        PLAIN | {"output_config": {"effort": "huge"}},
        PLAIN | {"output_config": {"effort": "low"}},
        sdk=True,
    ),
]
