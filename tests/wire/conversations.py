"""Requests as the engine makes them: what a session can hold, before any vendor's dialect."""

import json
from typing import Any

from ferrule.types.messages import (
    Assistant,
    Image,
    Message,
    Opaque,
    Reasoning,
    ResultKind,
    Results,
    Text,
    ToolCall,
    ToolResult,
    User,
)
from ferrule.types.request import Request, ToolSchema
from tests.judge.case import GIF, PNG

JPEG = "/9j/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAf/Z"


def schema(name: str, parameters: dict[str, Any], description: str = "Does it.") -> ToolSchema:
    return ToolSchema(name, description, json.dumps(parameters))


READ = schema(
    "read_file",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": False},
)
EDIT = schema(
    "edit",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where."},
            "old": {"type": "string"},
            "new": {"type": "string"},
            "count": {"type": "integer", "minimum": 1},
            "mode": {"type": "string", "enum": ["exact", "loose"]},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "all": {"type": "boolean", "default": False},
        },
        "required": ["path", "old", "new"],
        "additionalProperties": False,
    },
)
ASK = schema(
    "ask_followup_question",
    {
        "type": "object",
        "properties": {
            "question": {"type": "string"},
            "options": {
                "type": "array",
                "minItems": 1,
                "maxItems": 4,
                "items": {
                    "type": "object",
                    "properties": {"text": {"type": "string"}, "mode": {"type": ["string", "null"]}},
                    "required": ["text"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["question", "options"],
        "additionalProperties": False,
    },
)
NOTHING = schema("list_todos", {"type": "object", "properties": {}, "additionalProperties": False}, "")
TOOLS = (READ, EDIT, ASK, NOTHING)
HELLO = User((Text("Read x and fix it."),))
MODEL = "other/model"


def call(identifier: str = "c1", name: str = "read_file", arguments: str = '{"path":"x"}') -> ToolCall:
    return ToolCall(identifier, name, arguments)


def said(*parts: Text | Reasoning | ToolCall) -> Assistant:
    return Assistant(parts, "calls" if any(isinstance(part, ToolCall) for part in parts) else "end", MODEL)


def result(identifier: str = "c1", *parts: Text | Image, kind: ResultKind = "ok", name: str = "read_file") -> ToolResult:
    return ToolResult(identifier, name, kind, parts)


def request(*messages: Message, tools: tuple[ToolSchema, ...] = TOOLS, **more: Any) -> Request:
    values: dict[str, Any] = {"system": ("You are Ferrule.", "Finish by attempt_completion."), "cache_key": "session-1"} | more
    return Request(messages=messages, tools=tools, **values)


def loop(*parts: Text | Reasoning | ToolCall, answer: tuple[Text | Image, ...] = (Text("seen"),)) -> Request:
    """One turn whose calls are all answered alike."""
    answered = tuple(result(part.id, *answer, name=part.name) for part in parts if isinstance(part, ToolCall))
    return request(HELLO, said(*parts), Results(answered))


def many(turns: int) -> Request:
    messages: list[Message] = [HELLO]
    for turn in range(turns):
        made = tuple(call(f"c{turn}_{number}") for number in range(turn % 3 + 1))
        messages += [said(Text(f"Turn {turn}."), *made), Results(tuple(result(each.id, Text(f"seen {turn}")) for each in made))]
        if turn % 7 == 3:
            messages.append(User((Text("You have not finished."),)))
    return request(*messages)


KINDS: tuple[ResultKind, ...] = ("ok", "error", "denied", "interrupted", "skipped", "unknown")
FOREIGN = Opaque("scripted", "other", '{"signature":"x"}')
UNICODE = (
    "emoji 😀👩\u200d👩\u200d👧, right to left שלום, combining e\u0301, separator \u2028, private \ue000, "
    "delete \x7f, escape \x1b[0m, picture of null \u2400"
)

REQUESTS: dict[str, Request] = {
    "one text": request(HELLO),
    "no tools": request(HELLO, tools=()),
    "no system": request(HELLO, system=()),
    "an empty system section": request(HELLO, system=("You are Ferrule.", "")),
    "two texts of the user": request(User((Text("a"), Text("b")))),
    "an image": request(User((Text("What is this?"), Image("image/png", PNG)))),
    "only an image": request(User((Image("image/jpeg", JPEG),))),
    "a gif": request(User((Text("What is this?"), Image("image/gif", GIF)))),
    "a call": loop(call()),
    "text and a call": loop(Text("I look."), call()),
    "text after a call": loop(call(), Text("I look.")),
    "text between calls": loop(call("a"), Text("And."), call("b")),
    "parallel calls": loop(call("a"), call("b"), call("c")),
    "two calls of other tools": loop(call("a"), call("b", "edit", '{"path":"x","old":"a","new":"b"}')),
    "a call without arguments": loop(call("a", "list_todos", "{}")),
    "a call of an unknown tool": loop(call("a", "no_such_tool", '{"a":1}')),
    "arguments of every shape": loop(call("a", "edit", '{"a": [1, 2.5, null, true], "b": {"c": ""}, "d": "é\\n\\u0000"}')),
    "arguments with a number too large": loop(call("a", "edit", '{"n": 1e400, "m": 123456789012345678901234567890}')),
    "every kind of result": request(
        HELLO,
        said(*(call(kind) for kind in KINDS)),
        Results(tuple(result(kind, Text(f"this is {kind}"), kind=kind) for kind in KINDS)),
    ),
    "a result of nothing": loop(call(), answer=()),
    "a result of empty text": loop(call(), answer=(Text(""),)),
    "a result of whitespace": loop(call(), answer=(Text("\n"),)),
    "a result of two texts": loop(call(), answer=(Text("a"), Text("b"))),
    "a result of text and image": loop(call(), answer=(Text("a"), Image("image/png", PNG))),
    "a result of an image": loop(call(), answer=(Image("image/png", PNG),)),
    "two results with images": loop(call("a"), call("b"), answer=(Text("a"), Image("image/png", PNG))),
    "unicode everywhere": request(
        User((Text(UNICODE),)),
        said(Text(UNICODE), call("a", "edit", json.dumps({"path": UNICODE}))),
        Results((result("a", Text(UNICODE), name="edit"),)),
        system=(UNICODE,),
    ),
    "reasoning that nobody signed": loop(Reasoning("hm"), Text("I look."), call()),
    "reasoning signed elsewhere": loop(Reasoning("hm", FOREIGN), Text("I look."), call()),
    "reasoning without text": loop(Reasoning("", FOREIGN), call()),
    "only reasoning, then a reminder": request(HELLO, said(Reasoning("hm")), User((Text("Go on."),))),
    "an empty answer, then a reminder": request(HELLO, said(), User((Text("Go on."),))),
    "an answer of empty text": request(HELLO, said(Text("")), User((Text("Go on."),))),
    "an answer of whitespace": request(HELLO, said(Text(" \n")), User((Text("Go on."),))),
    "whitespace before a call": loop(Text("\n\n"), call()),
    "an answer ending in whitespace": request(HELLO, said(Text("Done. \n")), User((Text("Go on."),))),
    "a reminder after results": request(HELLO, said(call()), Results((result("c1", Text("seen")),)), User((Text("Finish."),))),
    "two messages of the user": request(HELLO, User((Text("And be quick."),))),
    "a question between": request(
        HELLO, said(Text("Which?")), User((Text("This."),)), said(call()), Results((result("c1", Text("seen")),))
    ),
    "many turns": many(30),
    "calls, but no tools any more": request(HELLO, said(call()), Results((result("c1", Text("seen")),)), tools=()),
    "little room": request(HELLO, max_output=16),
    "little room and much thought": request(HELLO, max_output=1024, effort="high"),
    "much room": request(HELLO, max_output=1_000_000),
    "no thought": request(HELLO, effort="none"),
    "some thought": request(HELLO, effort="low"),
    "thought in a loop": request(HELLO, said(call()), Results((result("c1", Text("seen")),)), effort="medium"),
    "much thought in a loop": request(
        HELLO, said(Text("I look."), call()), Results((result("c1", Text("seen")),)), effort="high"
    ),
    "a long cache key": request(HELLO, cache_key="k" * 100),
    "no cache key": request(HELLO, cache_key=""),
}
