"""Tool calls for servers that do not enforce them: the request asks for one JSON object that names a tool and its arguments,
the server's grammar enforces its shape, and the reply becomes the call.

Schemas are lowered to what llama.cpp's grammar takes: it refuses patterns with classes and lengths in the thousands.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ferrule.types.json import encode, items, loads, member, mend, string
from ferrule.types.messages import Assistant, Image, Results, Text, ToolCall, ToolResult, User
from ferrule.types.request import Request, ToolSchema

OFFERED = frozenset(
    """
    read_file list_files search_files edit write_to_file execute_command attempt_completion
    run_checks review_comment submit_review
    """.split()  # noqa: SIM905 one name after the other reads better than a quoted list
)
"""What a small model is offered of a task's tools: with ten it chooses badly, with these seven or six it works."""

_KEPT = frozenset({"type", "properties", "required", "items", "enum", "const", "anyOf", "additionalProperties"})
_MAX_DEPTH = 20

INTRODUCTION = """\
# Reply format

Reply with one JSON object and nothing else: the call of one tool.
You get its result as a JSON object, then you call the next tool.

{"call": {"tool": NAME, "arguments": {...}}}

# Tools
"""


class NamedCall(NamedTuple):
    name: str
    arguments: str


def offered(tools: tuple[ToolSchema, ...]) -> tuple[ToolSchema, ...]:
    return tuple(tool for tool in tools if tool.name in OFFERED)


def section(tools: tuple[ToolSchema, ...]) -> str:
    """The prompt section that describes the reply format and each tool, in few words: such models read slowly."""
    return INTRODUCTION + "".join(_described(tool) for tool in tools)


def response_format(tools: tuple[ToolSchema, ...]) -> dict[str, Any]:
    union = {
        "anyOf": [
            _object({"tool": {"const": tool.name}, "arguments": lower(loads(tool.parameters)[0])}, ["tool", "arguments"])
            for tool in tools
        ]
    }
    schema = _object({"call": union}, ["call"])
    return {"type": "json_schema", "json_schema": {"name": "call", "strict": _is_strict(schema), "schema": schema}}


def _is_strict(schema: Any) -> bool:
    """OpenAI's strict mode wants every property required. Servers with a grammar enforce the schema in either mode."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        named = set(items(schema, "required"))
        return (not isinstance(properties, dict) or named == set(properties)) and all(map(_is_strict, schema.values()))
    return all(map(_is_strict, schema)) if isinstance(schema, list) else True


def lower(schema: Any) -> dict[str, Any]:
    """A schema with references inlined and without every keyword that such servers refuse or ignore."""
    return _lowered(schema, _definitions(schema), 0)


def _definitions(schema: Any) -> dict[str, Any]:
    found = [member(schema, name) for name in ("definitions", "$defs")]
    return {name: value for group in found if isinstance(group, dict) for name, value in group.items()}


def _resolved(schema: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """What a reference leads to; an empty schema where it leads nowhere or round in a circle."""
    for _ in range(_MAX_DEPTH):
        reference = string(schema, "$ref")
        if not reference:
            return schema if isinstance(schema, dict) else {}
        schema = definitions.get(reference.rpartition("/")[2])
    return {}


def _lowered(schema: Any, definitions: dict[str, Any], depth: int) -> dict[str, Any]:
    if depth > _MAX_DEPTH:
        return {}
    schema = _resolved(schema, definitions)
    if isinstance(schema.get("oneOf"), list) and "anyOf" not in schema:
        schema = {**schema, "anyOf": schema["oneOf"]}
    lowered: dict[str, Any] = {key: value for key, value in schema.items() if key in _KEPT}
    if isinstance(schema.get("properties"), dict):
        lowered["properties"] = {name: _lowered(value, definitions, depth + 1) for name, value in schema["properties"].items()}
        lowered.setdefault("additionalProperties", False)
    if isinstance(schema.get("items"), dict):
        lowered["items"] = _lowered(schema["items"], definitions, depth + 1)
    if isinstance(lowered.get("additionalProperties"), dict):
        lowered["additionalProperties"] = _lowered(lowered["additionalProperties"], definitions, depth + 1)
    if "anyOf" in lowered:
        lowered["anyOf"] = [_lowered(value, definitions, depth + 1) for value in items(lowered, "anyOf")]
    return lowered


def call_of(reply: str) -> NamedCall | None:
    """The call that a reply spells, or None where it is something else."""
    value, _ = loads(mend(reply))
    call = value.get("call") if isinstance(value, dict) else None
    name = string(call, "tool")
    if not isinstance(call, dict) or not name or not isinstance(call.get("arguments"), dict):
        return None
    return NamedCall(name, encode(call["arguments"]).decode())


def messages(
    request: Request, tools: tuple[ToolSchema, ...], user_content: Callable[[tuple[Text | Image, ...]], Any]
) -> list[dict[str, Any]]:
    """The whole conversation as plain text: calls as the replies that would have made them, each followed by its result."""
    system = "\n\n".join([*(text for text in request.system if text), section(tools)])
    sent: list[dict[str, Any]] = [{"role": "system", "content": system}]
    waiting: list[ToolCall] = []
    for message in request.messages:
        match message:
            case User(parts=parts):
                _say(sent, "user", user_content(parts))
            case Assistant():
                waiting = list(message.calls)
                first = [_call_text(waiting[0])] if waiting else []
                _say(sent, "assistant", "\n".join([*([message.text] if message.text else []), *first]))
            case Results(parts=results):
                for position, result in enumerate(results):
                    if 0 < position < len(waiting):
                        _say(sent, "assistant", _call_text(waiting[position]))
                    _say(sent, "user", _result_text(result))
    return sent


def _say(sent: list[dict[str, Any]], role: str, content: Any) -> None:
    """Add a message, or more text to the last one of this role: many chat templates demand that roles alternate."""
    if not content:
        return
    last = sent[-1]
    if last["role"] == role and isinstance(content, str) and isinstance(last["content"], str):
        last["content"] += "\n\n" + content
    else:
        sent.append({"role": role, "content": content})


def _call_text(call: ToolCall) -> str:
    arguments, _ = loads(call.arguments)
    return encode({"call": {"tool": call.name, "arguments": arguments if isinstance(arguments, dict) else {}}}).decode()


def _result_text(result: ToolResult) -> str:
    images = sum(isinstance(part, Image) for part in result.parts)
    output = result.text + (f"\n[{images} image(s) left out: this model gets text only]" if images else "")
    return encode({"result": {"tool": result.name, "kind": result.kind, "output": output}}).decode()


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _described(tool: ToolSchema) -> str:
    whole, _ = loads(tool.parameters)
    definitions = _definitions(whole)
    schema = _resolved(whole, definitions)
    required = items(schema, "required")
    properties = schema.get("properties")
    lines = [f"\n## {tool.name}\n{tool.description}\n"]
    for name, value in (properties if isinstance(properties, dict) else {}).items():
        optional = "" if name in required else ", optional"
        lines.append(f"- {name} ({_kind(_resolved(value, definitions))}{optional}): {string(value, 'description')}\n")
    return "".join(lines)


def _kind(schema: Any) -> str:
    kinds = [string(schema, "type"), *(string(option, "type") for option in items(schema, "anyOf"))]
    return " or ".join(kind for kind in kinds if kind and kind != "null") or "value"
