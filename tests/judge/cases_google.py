"""Bodies that break and keep each rule of Google generateContent."""

from typing import Any

from .body import Json
from .case import GIF, PNG, Case, but

SCHEMA: Json = {"type": "OBJECT", "properties": {"path": {"type": "STRING"}}, "required": ["path"]}
DECLARATION: Json = {"name": "read_file", "description": "Reads a file.", "parameters": SCHEMA}
PLAIN: Json = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}


def user(*parts: Json) -> Json:
    return {"role": "user", "parts": list(parts)}


def model(*parts: Json) -> Json:
    return {"role": "model", "parts": list(parts)}


def text(words: str) -> Json:
    return {"text": words}


def call(name: str = "read_file", signature: str | None = None, **more: Any) -> Json:
    part: Json = {"functionCall": {"name": name, "args": {"path": "x"}} | more}
    return part if signature is None else part | {"thoughtSignature": signature}


def response(name: str = "read_file", **more: Any) -> Json:
    return {"functionResponse": {"name": name, "response": {"output": "seen"}} | more}


def talk(*contents: Json, **more: Any) -> Json:
    return {"systemInstruction": {"parts": [text("Be brief.")]}, "contents": list(contents), **more}


def blob(kind: str = "image/png", data: str = PNG) -> Json:
    return {"inlineData": {"mimeType": kind, "data": data}}


def declare(**changes: Any) -> Json:
    return PLAIN | {"tools": [{"functionDeclarations": [DECLARATION | changes]}]}


def parameter(**schema: Any) -> Json:
    return declare(parameters={"type": "OBJECT", "properties": {"p": schema}})


def config(**values: Any) -> Json:
    return PLAIN | {"generationConfig": values}


def calling(**values: Any) -> Json:
    return declare() | {"toolConfig": {"functionCallingConfig": values}}


ASK = user(text("Read x."))
LOOP = talk(ASK, model(call()), user(response()))
ANSWER = {"responseMimeType": "application/json", "responseSchema": SCHEMA}

CASES = [
    Case(
        "G1",
        "half a surrogate pair",
        but(PLAIN, ("contents.0.parts.0.text", "\ud83d")),
        but(PLAIN, ("contents.0.parts.0.text", "😀")),
    ),
    Case("G1", "a list", b"[]", b'{"contents": [{"parts": [{"text": "a"}]}]}'),
    Case("G2", "messages", PLAIN | {"messages": []}, PLAIN | {"system_instruction": {"parts": [text("x")]}}, sdk=True),
    Case("G2", "no contents", {"tools": [{"functionDeclarations": [DECLARATION]}]}, PLAIN, also=frozenset({"G3"})),
    Case("G3", "no parts", talk(ASK, model(), ASK), talk(ASK, model(text("x")), ASK)),
    Case("G3", "a string for parts", talk({"role": "user", "parts": "x"}), talk(ASK), sdk=True),
    Case("G4", "role assistant", talk(ASK, {"role": "assistant", "parts": [text("x")]}, ASK), talk(ASK, model(text("x")), ASK)),
    Case(
        "G4",
        "role function",
        talk(ASK, model(call()), {"role": "function", "parts": [response()]}),
        talk(ASK, model(call()), user(response())),
    ),
    Case(
        "G4",
        "no role among several contents",
        talk(ASK, model(text("x")), {"parts": [text("y")]}),
        {"contents": [{"parts": [text("y")]}]},
    ),
    Case("G5", "an empty part", talk(ASK, model({}), ASK), talk(ASK, model(text("x")), ASK)),
    Case("G5", "two kinds in a part", talk(user(text("x") | blob())), talk(user(text("x"), blob()))),
    Case("G5", "a type", talk(user(text("x") | {"type": "text"})), talk(user(text("x"))), sdk=True),
    Case("G6", "empty text", talk(ASK, model(text("")), ASK), talk(ASK, model(text("") | {"thoughtSignature": "c2ln"}), ASK)),
    Case("G7", "the user calls", talk(user(call())), LOOP, also=frozenset({"G11", "G13"})),
    Case(
        "G7",
        "the user thinks",
        talk(user(text("x") | {"thought": True})),
        talk(ASK, model(text("x") | {"thought": True}, text("y")), ASK),
    ),
    Case("G8", "the model begins", talk(model(text("x")), ASK), talk(ASK, model(text("x")), ASK)),
    Case("G9", "the model is last", talk(ASK, model(text("x"))), talk(ASK, model(text("x")), ASK)),
    Case("G10", "two users", talk(ASK, ASK), talk(user(text("a"), text("b")))),
    Case(
        "G11",
        "a call after the model spoke",
        talk(ASK, model(text("x")), model(call()), user(response())),
        talk(ASK, model(text("x"), call()), user(response())),
        also=frozenset(),
    ),
    Case("G12", "a response out of nowhere", talk(ASK, model(text("x")), user(response())), LOOP),
    Case(
        "G13",
        "a response is missing",
        talk(ASK, model(call(), call()), user(response())),
        talk(ASK, model(call(), call()), user(response(), response())),
    ),
    Case("G13", "a response too many", talk(ASK, model(call()), user(response(), response())), LOOP),
    Case("G13", "a call at the end", talk(ASK, model(call())), LOOP, also=frozenset({"G9"})),
    Case("G14", "another name", talk(ASK, model(call()), user(response("edit"))), LOOP),
    Case(
        "G14",
        "another order",
        talk(ASK, model(call("a"), call("b")), user(response("b"), response("a"))),
        talk(ASK, model(call("a"), call("b")), user(response("a"), response("b"))),
    ),
    Case(
        "G14",
        "another id",
        talk(ASK, model(call(id="1")), user(response(id="2"))),
        talk(ASK, model(call(id="1")), user(response(id="1"))),
    ),
    Case(
        "G15",
        "text before the response",
        talk(ASK, model(call()), user(text("x"), response())),
        talk(ASK, model(call()), user(response(), text("x"))),
    ),
    Case(
        "G16",
        "args as text",
        talk(ASK, model(call(args="{}")), user(response())),
        talk(ASK, model(call(args={})), user(response())),
        sdk=True,
    ),
    Case("G16", "response as a list", talk(ASK, model(call()), user(response(response=["seen"]))), LOOP, sdk=True),
    Case(
        "G16",
        "a name that starts with a digit",
        talk(ASK, model(call("1a")), user(response("1a"))),
        talk(ASK, model(call("_1a")), user(response("_1a"))),
    ),
    Case(
        "G17",
        "a signature that is not base64",
        talk(ASK, model(call(signature="%")), user(response())),
        talk(ASK, model(call(signature="c2ln")), user(response())),
        sdk=True,
    ),
    Case(
        "G18",
        "the second step lost its signature",
        talk(ASK, model(call(signature="c2ln")), user(response()), model(call()), user(response())),
        talk(
            ASK,
            model(call(signature="c2ln"), call()),
            user(response(), response()),
            model(call(signature="c2ln")),
            user(response()),
        ),
    ),
    Case("G19", "a gif", talk(user(blob("image/gif", GIF))), talk(user(blob()))),
    Case("G19", "broken base64", talk(user(blob(data="a\nb"))), talk(user(blob())), sdk=True),
    Case(
        "G19",
        "a broken image in a response",
        talk(ASK, model(call()), user(response(parts=[blob(data="AAAA")]))),
        talk(ASK, model(call()), user(response(parts=[blob()]))),
    ),
    Case(
        "G20",
        "a string",
        PLAIN | {"systemInstruction": "Be brief."},
        PLAIN | {"systemInstruction": {"role": "user", "parts": [text("Be brief.")]}},
        sdk=True,
    ),
    Case("G20", "empty text", PLAIN | {"systemInstruction": {"parts": [text("")]}}, PLAIN),
    Case("G21", "a bare declaration", PLAIN | {"tools": [DECLARATION]}, declare(), sdk=True),
    Case("G21", "a space in a name", declare(name="read file"), declare(name="ns.read:file-1")),
    Case(
        "G21",
        "two schemas",
        declare(parametersJsonSchema={"type": "object"}),
        but(declare(parametersJsonSchema={"type": "object"}), ("tools.0.functionDeclarations.0.parameters", ...)),
    ),
    Case(
        "G22",
        "declared twice",
        PLAIN | {"tools": [{"functionDeclarations": [DECLARATION, DECLARATION]}]},
        PLAIN | {"tools": [{"functionDeclarations": [DECLARATION, DECLARATION | {"name": "b"}]}]},
    ),
    Case(
        "G23",
        "additionalProperties",
        declare(parameters=SCHEMA | {"additionalProperties": False}),
        but(
            declare(parametersJsonSchema={"type": "object", "additionalProperties": False}),
            ("tools.0.functionDeclarations.0.parameters", ...),
        ),
    ),
    Case(
        "G23",
        "an object without properties",
        declare(parameters={"type": "OBJECT"}),
        but(declare(), ("tools.0.functionDeclarations.0.parameters", ...)),
    ),
    Case("G23", "an array without items", parameter(type="ARRAY"), parameter(type="ARRAY", items={"type": "STRING"})),
    Case("G23", "a list of types", parameter(type=["STRING", "NULL"]), parameter(type="STRING", nullable=True), sdk=True),
    Case("G23", "a format", parameter(type="STRING", format="uri"), parameter(type="STRING", format="date-time")),
    Case("G23", "an enum of numbers", parameter(type="INTEGER", enum=[1]), parameter(type="STRING", enum=["1"]), sdk=True),
    Case("G23", "oneOf", parameter(oneOf=[{"type": "STRING"}]), parameter(anyOf=[{"type": "STRING"}]), sdk=True),
    Case("G24", "an unknown mode", calling(mode="REQUIRED"), calling(mode="ANY")),
    Case(
        "G24",
        "names with AUTO",
        calling(mode="AUTO", allowedFunctionNames=["read_file"]),
        calling(mode="ANY", allowedFunctionNames=["read_file"]),
    ),
    Case("G25", "an unknown field", config(maxTokens=5), config(maxOutputTokens=5), sdk=True),
    Case(
        "G25",
        "two ways to think",
        config(thinkingConfig={"thinkingBudget": 5, "thinkingLevel": "LOW"}),
        config(thinkingConfig={"thinkingBudget": -1, "includeThoughts": True}),
    ),
    Case("G26", "a schema of nothing", config(responseSchema=SCHEMA), config(**ANSWER)),
    Case("G26", "a schema beside functions", declare() | {"generationConfig": ANSWER}, config(**ANSWER)),
]
