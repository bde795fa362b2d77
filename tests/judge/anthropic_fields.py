"""The rules of Anthropic Messages that are about fields, caching, images and tools, and the table of all of them."""

import re
from collections.abc import Iterator

from .anthropic import (
    NAME,
    all_of_type,
    alternation,
    block_place,
    block_shape,
    content_filled,
    every_block,
    first_is_user,
    last_is_user,
    message_shape,
    result_content,
    results_asked,
    results_first,
    results_once,
    roles,
    system_placement,
    text_filled,
    thinking_config,
    thinking_first,
    thinking_not_last,
    thinking_shape,
    trailing_whitespace,
    use_id,
    use_id_once,
    use_input,
    use_name,
    uses_answered,
    uses_last,
)
from .body import Json, fields, image_problems, image_url_problems, name_problems, objects, repeated, text_of, whole
from .rule import Rule
from .schema import COMPOSED, object_problems, property_name_problems, strict_problems

TOP = fields(
    "model max_tokens messages",
    "cache_control container inference_geo metadata output_config service_tier speed stop_sequences stream system thinking"
    " tool_choice tools user_profile_id",
)
TOOL = fields(
    "name input_schema",
    "allowed_callers cache_control defer_loading description eager_input_streaming input_examples strict type",
)
IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def top_fields(body: Json) -> Iterator[str]:
    yield from TOP.problems(body, "body")


def limits(body: Json) -> Iterator[str]:
    if not text_of(body.get("model")):
        yield "model: not a name"
    if not whole(body.get("max_tokens")) or body["max_tokens"] < 1:
        yield f"max_tokens: {body.get('max_tokens')!r} is not a number of tokens"
    if "stream" in body and not isinstance(body["stream"], bool):
        yield "stream: not a boolean"


def marks(body: Json) -> Iterator[tuple[str, Json]]:
    """Everything that may carry a cache mark, in the order in which the API caches: tools, system, messages."""
    for index, tool in objects(body.get("tools")):
        yield f"tools[{index}]", tool
    for index, block in objects(body.get("system")):
        yield f"system[{index}]", block
    yield from every_block(body)


def cache_marks(body: Json) -> Iterator[str]:
    marked = [(where, block) for where, block in marks(body) if block.get("cache_control") is not None]
    count = len(marked) + (body.get("cache_control") is not None)
    if count > 4:
        yield f"cache_control: {count} blocks have one, 4 may"
    short = ""
    for where, block in [*marked, ("body", body)]:
        control = block.get("cache_control")
        if control is None:
            continue
        if not isinstance(control, dict) or control.get("type") != "ephemeral" or control.get("ttl", "5m") not in ("5m", "1h"):
            yield f"{where}.cache_control: {control!r} is not {{'type': 'ephemeral'}} with an optional ttl of 5m or 1h"
            continue
        yield from fields("type", "ttl").problems(control, f"{where}.cache_control")
        if control.get("ttl") == "1h" and short:
            yield f"{where}.cache_control: a ttl of 1h comes after one of 5m at {short}"
        if control.get("ttl", "5m") == "5m":
            short = where


def cache_place(body: Json) -> Iterator[str]:
    for where, block in marks(body):
        if block.get("cache_control") is None:
            continue
        if block.get("type") in ("thinking", "redacted_thinking"):
            yield f"{where}.cache_control: not on a thinking block"
        if block.get("type") == "text" and not text_of(block.get("text")):
            yield f"{where}.cache_control: not on an empty text block"


def images(body: Json) -> Iterator[str]:
    for where, block in every_block(body):
        if block.get("type") != "image":
            continue
        source = block.get("source")
        kind = source.get("type") if isinstance(source, dict) else None
        match source:
            case dict() if kind == "base64":
                yield from fields("type media_type data").problems(source, f"{where}.source")
                yield from image_problems(source.get("media_type"), source.get("data"), IMAGES, f"{where}.source")
            case dict() if kind == "url":
                yield from image_url_problems(source.get("url"), frozenset(), f"{where}.source")
            case _:
                yield f"{where}.source: neither base64 nor url"


def tools(body: Json) -> Iterator[str]:
    if "tools" in body and not isinstance(body["tools"], list):
        yield "tools: not a list"
    for index, tool in objects(body.get("tools")):
        yield from TOOL.problems(tool, f"tools[{index}]")
        yield from name_problems(tool.get("name"), NAME, f"tools[{index}].name")
        if not isinstance(tool.get("description", ""), str):
            yield f"tools[{index}].description: not a string"
    for twice in repeated(text_of(tool.get("name")) for _, tool in objects(body.get("tools"))):
        yield f"tools: the name {twice!r} more than once"


def tool_schemas(body: Json) -> Iterator[str]:
    for index, tool in objects(body.get("tools")):
        schema, where = tool.get("input_schema"), f"tools[{index}].input_schema"
        yield from object_problems(schema, where)
        yield from property_name_problems(schema, PROPERTY, where)
        for key in COMPOSED:
            if isinstance(schema, dict) and key in schema:
                yield f"{where}: {key!r} is not supported at the top level"


def tools_defined(body: Json) -> Iterator[str]:
    used = [where for kind in ("tool_use", "tool_result") for where, _ in all_of_type(body, kind)]
    if used and not body.get("tools"):
        yield f"{used[0]}: tool blocks in the messages, but no tools are defined"


def tool_choice(body: Json) -> Iterator[str]:
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not isinstance(choice, dict) or choice.get("type") not in ("auto", "any", "tool", "none"):
        yield f"tool_choice: {choice!r} has no known type"
        return
    if not body.get("tools"):
        yield "tool_choice: may only be given while tools are"
    names = [tool.get("name") for _, tool in objects(body.get("tools"))]
    if choice["type"] == "tool" and choice.get("name") not in names:
        yield f"tool_choice: there is no tool {choice.get('name')!r}"


def output_config(body: Json) -> Iterator[str]:
    config = body.get("output_config")
    if config is None:
        return
    if not isinstance(config, dict):
        yield "output_config: not an object"
        return
    yield from fields("", "effort format").problems(config, "output_config")
    if config.get("effort") not in (None, "low", "medium", "high", "xhigh", "max"):
        yield f"output_config.effort: {config['effort']!r} is not a level"
    form = config.get("format")
    if form is None:
        return
    if not isinstance(form, dict) or form.get("type") != "json_schema":
        yield "output_config.format: not of type 'json_schema'"
        return
    yield from fields("type schema").problems(form, "output_config.format")
    for problem in strict_problems(form.get("schema"), "output_config.format.schema"):
        if "additionalProperties" in problem:
            yield problem


RULES = (
    Rule("A2", "no unknown top-level field, none missing", top_fields),
    Rule("A3", "model, max_tokens and stream are what they should be", limits),
    Rule("A4", "messages is a list of {role, content}", message_shape),
    Rule("A5", "roles are user and assistant", roles),
    Rule("A6", "the system prompt is the top-level field, and not empty", system_placement),
    Rule("A7", "the first message is the user's", first_is_user, portable=True),
    Rule("A8", "user and assistant alternate", alternation, portable=True),
    Rule("A9", "the last message is the user's", last_is_user),
    Rule("A10", "a final assistant message does not end in whitespace", trailing_whitespace),
    Rule("A11", "no message without content", content_filled),
    Rule("A12", "no text block that is empty or only whitespace", text_filled),
    Rule("A13", "blocks have a known type and only its fields", block_shape),
    Rule("A14", "each kind of block only in messages of its role", block_place),
    Rule("A15", "ids of calls match [a-zA-Z0-9_-]+", use_id),
    Rule("A16", "ids of calls are unique in the request", use_id_once),
    Rule("A17", "names of calls match [a-zA-Z0-9_-]{1,64}", use_name),
    Rule("A18", "the input of a call is an object", use_input),
    Rule("A19", "each call is answered in the next message", uses_answered),
    Rule("A20", "each result answers a call of the message before", results_asked),
    Rule("A21", "one result a call", results_once),
    Rule("A22", "results come before everything else in their message", results_first),
    Rule("A23", "calls come after everything else in their message", uses_last),
    Rule("A24", "results hold text, images or documents", result_content),
    Rule("A25", "thinking carries its signature", thinking_shape),
    Rule("A26", "an open tool loop starts with thinking while thinking is enabled", thinking_first),
    Rule("A27", "thinking is not the last block of a message", thinking_not_last),
    Rule("A28", "the thinking configuration fits max_tokens and tool_choice", thinking_config),
    Rule("A29", "at most 4 cache marks, well formed, the longer lifetime first", cache_marks),
    Rule("A30", "no cache mark on thinking or on empty text", cache_place),
    Rule("A31", "images are what they say they are", images),
    Rule("A32", "tools are well formed, their names unique", tools),
    Rule("A33", "the schema of a tool is a plain object at the root", tool_schemas),
    Rule("A34", "tools are defined as long as the messages have tool blocks", tools_defined),
    Rule("A35", "tool_choice fits the tools", tool_choice),
    Rule("A36", "output_config has a known effort and a closed schema", output_config),
)
