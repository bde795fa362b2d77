"""What the two dialects of OpenAI have in common: functions, formats, and the fields around them."""

import re
from collections.abc import Iterator

from .body import Json, name_problems, objects, text_of
from .schema import GRAMMAR_REFUSES, nodes, openai_problems, strict_problems

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
EFFORTS = (None, "none", "minimal", "low", "medium", "high", "xhigh", "max")


def function_problems(function: Json, where: str) -> Iterator[str]:
    """A declared function: `name`, `description`, `parameters`, `strict`."""
    yield from name_problems(function.get("name"), NAME, f"{where}.name")
    if not isinstance(function.get("description", ""), str):
        yield f"{where}.description: not a string"
    if function.get("parameters") is not None:
        yield from openai_problems(function["parameters"], f"{where}.parameters")
    if function.get("strict"):
        yield from strict_problems(function.get("parameters"), f"{where}.parameters")


def tool_list_problems(body: Json) -> Iterator[str]:
    tools = body.get("tools")
    if tools is None:
        return
    if not isinstance(tools, list) or len(tools) != len(objects(tools)):
        yield "tools: not a list of tools"
    elif not 1 <= len(tools) <= 128:
        yield f"tools: {len(tools)} tools, 1 to 128 may be given"
    for index, tool in objects(tools):
        if tool.get("type") != "function":
            yield f"tools[{index}]: type {tool.get('type')!r} is not 'function'"


def only_with_tools(body: Json) -> Iterator[str]:
    for key in ("tool_choice", "parallel_tool_calls"):
        if body.get(key) is not None and not body.get("tools"):
            yield f"{key}: only allowed when tools are given"


def choice_problems(choice: object, chosen: object, names: list[object]) -> Iterator[str]:
    if choice in (None, "auto", "none", "required"):
        return
    if not isinstance(choice, dict):
        yield f"tool_choice: {choice!r} is not auto, none, required or a function"
    elif choice.get("type") == "function" and chosen not in names:
        yield f"tool_choice: there is no tool {chosen!r}"


def format_problems(form: Json, where: str) -> Iterator[str]:
    """A format of type json_schema: `name`, `schema`, `strict`."""
    yield from name_problems(form.get("name"), NAME, f"{where}.name")
    if not isinstance(form.get("schema"), dict):
        yield f"{where}.schema: not an object"
    elif form.get("strict"):
        yield from strict_problems(form["schema"], f"{where}.schema")
    elif form["schema"].get("type") != "object":
        yield f"{where}.schema: type {form['schema'].get('type')!r} is not 'object'"


def grammar_problems(schema: object, where: str) -> Iterator[str]:
    for at, node in nodes(schema, where):
        for key in GRAMMAR_REFUSES:
            if key in node:
                yield f"{at}: {key!r} can't be turned into a grammar everywhere"


def stream_problems(body: Json) -> Iterator[str]:
    if not isinstance(body.get("stream", False), bool):
        yield "stream: not a boolean"
    if body.get("stream_options") is not None and body.get("stream") is not True:
        yield "stream_options: only allowed when stream is on"


def cache_key_problems(body: Json) -> Iterator[str]:
    if (key := body.get("prompt_cache_key")) is not None and not 1 <= len(text_of(key)) <= 64:
        yield f"prompt_cache_key: {key!r} does not have 1 to 64 characters"
