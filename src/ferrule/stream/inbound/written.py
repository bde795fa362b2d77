"""Calls that a model wrote as text, in the five spellings that models were taught:

    [NAME] {…} [END_TOOL_REQUEST]                also closed by [/NAME]
    [tool:NAME] {…}                              closed by [/tool:NAME], [/tool] or nothing
    commentary to=NAME code {…}                  Harmony, with or without its marks
    <function=NAME><parameter=KEY>…</parameter></function>     also <parameter name="KEY">, also in square brackets
    {"name": NAME, "arguments": {…}}             also `parameters` or `input`; also inside <tool_call>

Only a text that is nothing but calls is read. No value is guessed: parameters written as XML stay text.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ferrule.types import json

LONGEST_NAME = 120
LONGEST = 256_000
"""Bytes of the arguments of one call."""
MOST = 32

_NAME = rf"(?P<name>[A-Za-z0-9_.:-]{{1,{LONGEST_NAME}}})"
_HARMONY = re.compile(
    r"(?:<\|start\|>assistant|<\|start\|>)?(?:<\|channel\|>)?(?:commentary|analysis|final)?\s*to=" + _NAME + r"\s*"
    r"(?:<\|channel\|>(?:commentary|analysis|final))?\s*(?:<\|constrain\|>)?\s*(?:code|json)?\s*(?:<\|message\|>)?\s*(?=\{)"
)
_HARMONY_END = re.compile(r"\s*<\|(?:call|end)\|>")
_TOOL = re.compile(r"\[tool:" + _NAME + r"\]\s*(?=\{)")
_BRACKET = re.compile(r"\[" + _NAME + r"\]\s*(?=\{)")
_XML = re.compile(r"(?P<open>[<\[])function=" + _NAME + r"[>\]]")
_PARAMETER = re.compile(
    r"\s*[<\[]parameter(?:=(?P<key>[\w.-]{1,120})|\s+name=\"(?P<named>[\w.-]{1,120})\")[>\]](?P<value>.*?)[<\[]/parameter[>\]]",
    re.DOTALL,
)
_XML_END = re.compile(r"\s*[<\[]/function[>\]]")
_ARGUMENTS = ("arguments", "parameters", "input")
_KEYS = frozenset({"name", "id", "type", "function", *_ARGUMENTS})
_OPENERS = ("<function=", "<tool_call>", "<|start|>", "<|channel|>", "commentary to=", "analysis to=", "final to=", "to=")


class Written(NamedTuple):
    """`arguments` is the text of a JSON object."""

    name: str
    arguments: str


def read(text: str) -> tuple[Written, ...]:
    """The calls that the whole text consists of; none where there is anything else in it."""
    found: list[Written] = []
    at = _blanks(text, 0)
    while at < len(text):
        item = next((item for item in _readings(text, at) if item is not None), None)
        if item is None or len(found) == MOST or len(item[0].arguments.encode()) > LONGEST:
            return ()
        found.append(item[0])
        at = _blanks(text, item[1])
    return tuple(found)


def may_become(text: str) -> bool:
    """Whether a text that begins like this may turn out to be calls. Once false, false for whatever follows."""
    head = text.lstrip()[:200]
    if not head:
        return True
    match head[0]:
        case "{":
            key = re.match(r'\{\s*(?:"([A-Za-z_]*)("?))?', head)
            if key is None or (key[1] is None and head[1:].strip()):
                return False
            whole = bool(key[2])
            return key[1] is None or (key[1] in _KEYS if whole else any(known.startswith(key[1]) for known in _KEYS))
        case "[":
            named = re.match(r"\[[A-Za-z0-9_.:=-]{0,130}", head)
            behind = head[named.end() :] if named else ""
            if not behind:
                return len(head) < 132
            following = behind[1:].lstrip()
            return behind[0] == "]" and (not following or following[0] in "{[<")
        case _:
            return any(head.startswith(opener) or opener.startswith(head) for opener in _OPENERS)


def _readings(text: str, at: int) -> Iterator[tuple[Written, int] | None]:
    """What stands at `at` in each spelling, and where it ends."""
    yield _object(text, at)
    yield _wrapped(text, at)
    yield _xml(text, at)
    if (head := _TOOL.match(text, at)) is not None:
        name = re.escape(head["name"])
        yield _payload(text, head, re.compile(rf"\s*\[(?:/tool:{name}|/tool|END_TOOL_REQUEST)\]"), required=False)
    elif (head := _BRACKET.match(text, at)) is not None:
        name = re.escape(head["name"])
        yield _payload(text, head, re.compile(rf"\s*\[(?:/{name}|END_TOOL_REQUEST)\]"), required=True)
    if (head := _HARMONY.match(text, at)) is not None:
        yield _payload(text, head, _HARMONY_END, required=False)


def _payload(text: str, head: re.Match[str], closing: re.Pattern[str], required: bool) -> tuple[Written, int] | None:
    value, end = _decoded(text, head.end())
    if not isinstance(value, dict):
        return None
    closed = closing.match(text, end)
    if closed is None and required:
        return None
    return Written(head["name"], text[head.end() : end]), closed.end() if closed else end


def _object(text: str, at: int) -> tuple[Written, int] | None:
    if not text.startswith("{", at):
        return None
    value, end = _decoded(text, at)
    if not isinstance(value, dict) or not value.keys() <= _KEYS:
        return None
    named = (
        value["function"] if value.get("type", "function") == "function" and isinstance(value.get("function"), dict) else value
    )
    name = named.get("name")
    given = [named[key] for key in _ARGUMENTS if key in named]
    if not isinstance(name, str) or not re.fullmatch(_NAME, name) or len(given) != 1:
        return None
    arguments = json.loads(given[0])[0] if isinstance(given[0], str) else given[0]
    return (Written(name, json.encode(arguments).decode()), end) if isinstance(arguments, dict) else None


def _wrapped(text: str, at: int) -> tuple[Written, int] | None:
    """What stands inside <tool_call>, by one of the spellings that are written so."""
    opened = re.compile(r"<tool_call>\s*").match(text, at)
    if opened is None:
        return None
    inner = _object(text, opened.end()) or _xml(text, opened.end())
    closed = re.compile(r"\s*</tool_call>").match(text, inner[1]) if inner else None
    return (inner[0], closed.end()) if inner and closed else None


def _xml(text: str, at: int) -> tuple[Written, int] | None:
    head = _XML.match(text, at)
    if head is None:
        return None
    values: dict[str, str] = {}
    at = head.end()
    while (parameter := _PARAMETER.match(text, at)) is not None:
        key = parameter["key"] or parameter["named"]
        if key in values:
            return None
        values[key] = re.sub(r"\A\n|\n\Z", "", parameter["value"])
        at = parameter.end()
    closed = _XML_END.match(text, at)
    return (Written(head["name"], json.encode(values).decode()), closed.end()) if closed else None


def _decoded(text: str, at: int) -> tuple[Any, int]:
    from json import JSONDecoder

    try:
        return JSONDecoder(strict=False).raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at


def _blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
