"""The rules of Anthropic Messages (docs/wire-rules.md) on messages, pairing and thinking; the rest is in anthropic_fields."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from .body import Json, fields, filled, name_problems, objects, repeated, text_of, whole

IDENTIFIER = re.compile(r"[a-zA-Z0-9_-]+")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
BLOCKS = {
    "text": fields("type text", "cache_control citations"),
    "image": fields("type source", "cache_control"),
    "document": fields("type source", "cache_control citations context title"),
    "thinking": fields("type thinking signature"),
    "redacted_thinking": fields("type data"),
    "tool_use": fields("type id name input", "cache_control"),
    "tool_result": fields("type tool_use_id", "cache_control content is_error"),
}
BELONGS = {
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "tool_use": "assistant",
    "tool_result": "user",
    "image": "user",
    "document": "user",
}
INSIDE_RESULTS = {"text", "image", "document"}


def messages(body: Json) -> list[tuple[int, Json]]:
    return objects(body.get("messages"))


def blocks(content: object) -> list[tuple[int, Json]]:
    """The blocks of a content; a string is shorthand for one text block."""
    if isinstance(content, str):
        return [(0, {"type": "text", "text": content})]
    return objects(content)


def of_type(content: object, kind: str) -> list[tuple[int, Json]]:
    return [(index, block) for index, block in blocks(content) if block.get("type") == kind]


def all_of_type(body: Json, kind: str) -> Iterator[tuple[str, Json]]:
    for index, message in messages(body):
        for at, block in of_type(message.get("content"), kind):
            yield f"messages[{index}].content[{at}]", block


def every_block(body: Json) -> Iterator[tuple[str, Json]]:
    """All blocks of all messages, those inside results too."""
    for index, message in messages(body):
        for at, block in blocks(message.get("content")):
            yield f"messages[{index}].content[{at}]", block
            for inner, part in objects(block.get("content")):
                yield f"messages[{index}].content[{at}].content[{inner}]", part


def message_shape(body: Json) -> Iterator[str]:
    if not filled(body.get("messages")):
        yield "messages: not a list with at least one message"
        return
    if len(body["messages"]) != len(messages(body)):
        yield "messages: not all are objects"
    if len(body["messages"]) > 100_000:
        yield "messages: more than 100000"
    for index, message in messages(body):
        yield from fields("role content").problems(message, f"messages[{index}]")


def roles(body: Json) -> Iterator[str]:
    for index, message in messages(body):
        if message.get("role") not in ("user", "assistant"):
            yield f"messages[{index}]: role {message.get('role')!r} is neither 'user' nor 'assistant'"


def first_is_user(body: Json) -> Iterator[str]:
    if messages(body) and messages(body)[0][1].get("role") != "user":
        yield "messages[0]: the first message has to be the user's"


def alternation(body: Json) -> Iterator[str]:
    found = [message.get("role") for _, message in messages(body)]
    for index, (before, role) in enumerate(pairwise(found), 1):
        if before == role:
            yield f"messages[{index}]: two {role!r} messages in a row"


def last_is_user(body: Json) -> Iterator[str]:
    if messages(body) and messages(body)[-1][1].get("role") == "assistant":
        yield "messages: the last message is the assistant's, which is a prefill"


def trailing_whitespace(body: Json) -> Iterator[str]:
    if not messages(body) or messages(body)[-1][1].get("role") != "assistant":
        return
    content = blocks(messages(body)[-1][1].get("content"))
    if content and (text := text_of(content[-1][1].get("text"))) != text.rstrip():
        yield "messages: the final assistant text ends in whitespace"


def system_placement(body: Json) -> Iterator[str]:
    for index, message in messages(body):
        if message.get("role") == "system":
            yield f"messages[{index}]: the system prompt is a field of its own, not a message"
    system = body.get("system")
    if system is None:
        return
    if not isinstance(system, str | list):
        yield "system: neither a string nor a list of text blocks"
    elif system in ("", []):
        yield "system: empty; leave it out"
    for index, block in blocks(system):
        yield from BLOCKS["text"].problems(block, f"system[{index}]")
        if block.get("type") != "text":
            yield f"system[{index}]: {block.get('type')!r} is not a text block"
        elif not text_of(block.get("text")).strip():
            yield f"system[{index}]: the text is empty"


def content_filled(body: Json) -> Iterator[str]:
    for index, message in messages(body):
        content = message.get("content")
        if not isinstance(content, str | list):
            yield f"messages[{index}].content: neither a string nor a list of blocks"
        elif not content:
            yield f"messages[{index}].content: empty"
        elif isinstance(content, list) and len(content) != len(objects(content)):
            yield f"messages[{index}].content: not all blocks are objects"


def text_filled(body: Json) -> Iterator[str]:
    for index, message in messages(body):
        for at, block in of_type(message.get("content"), "text"):
            if not text_of(block.get("text")).strip():
                yield f"messages[{index}].content[{at}]: the text is empty or only whitespace"
        for at, block in of_type(message.get("content"), "tool_result"):
            for inner, part in objects(block.get("content")):
                if part.get("type") == "text" and not text_of(part.get("text")):
                    yield f"messages[{index}].content[{at}].content[{inner}]: the text is empty"


def block_shape(body: Json) -> Iterator[str]:
    for where, block in every_block(body):
        shape = BLOCKS.get(text_of(block.get("type")))
        if shape is None:
            yield f"{where}: {block.get('type')!r} is not a known block type"
        else:
            yield from shape.problems(block, where)


def block_place(body: Json) -> Iterator[str]:
    for index, message in messages(body):
        for at, block in blocks(message.get("content")):
            owner = BELONGS.get(text_of(block.get("type")))
            if owner and message.get("role") != owner:
                yield f"messages[{index}].content[{at}]: {block['type']!r} blocks can only be in {owner!r} messages"


def use_id(body: Json) -> Iterator[str]:
    for where, block in all_of_type(body, "tool_use"):
        yield from name_problems(block.get("id"), IDENTIFIER, f"{where}.id")
    for where, block in all_of_type(body, "tool_result"):
        yield from name_problems(block.get("tool_use_id"), IDENTIFIER, f"{where}.tool_use_id")


def use_id_once(body: Json) -> Iterator[str]:
    for twice in repeated(text_of(block.get("id")) for _, block in all_of_type(body, "tool_use")):
        yield f"tool_use ids: {twice!r} more than once"


def use_name(body: Json) -> Iterator[str]:
    for where, block in all_of_type(body, "tool_use"):
        yield from name_problems(block.get("name"), NAME, f"{where}.name")


def use_input(body: Json) -> Iterator[str]:
    for where, block in all_of_type(body, "tool_use"):
        if not isinstance(block.get("input"), dict):
            yield f"{where}.input: not an object"


def turns(body: Json) -> list[tuple[int, str, list[Json]]]:
    """The messages as the API reads them: neighbours of one role are one turn. The index is of its first message."""
    merged: list[tuple[int, str, list[Json]]] = []
    for index, message in messages(body):
        content = [block for _, block in blocks(message.get("content"))]
        if merged and merged[-1][1] == message.get("role"):
            merged[-1][2].extend(content)
        else:
            merged.append((index, text_of(message.get("role")), content))
    return merged


def ids(content: list[Json], kind: str, key: str) -> list[str]:
    return [text_of(block.get(key)) for block in content if block.get("type") == kind]


def uses_answered(body: Json) -> Iterator[str]:
    every = turns(body)
    for (index, _, content), following in zip(every, [*every[1:], (0, "", list[Json]())], strict=False):
        answered = ids(following[2], "tool_result", "tool_use_id")
        for identifier in ids(content, "tool_use", "id"):
            if identifier not in answered:
                yield f"messages[{index}]: tool_use {identifier!r} without a tool_result in the next message"


def results_asked(body: Json) -> Iterator[str]:
    every = turns(body)
    for (_, _, asking), (index, _, content) in zip([(0, "", list[Json]()), *every], every, strict=False):
        asked = ids(asking, "tool_use", "id")
        for identifier in ids(content, "tool_result", "tool_use_id"):
            if identifier not in asked:
                yield f"messages[{index}]: tool_result for {identifier!r}, which the message before did not call"


def results_once(body: Json) -> Iterator[str]:
    for index, _, content in turns(body):
        for twice in repeated(ids(content, "tool_result", "tool_use_id")):
            yield f"messages[{index}]: more than one tool_result for {twice!r}"


def results_first(body: Json) -> Iterator[str]:
    for index, _, content in turns(body):
        kinds = [block.get("type") == "tool_result" for block in content]
        if any(kinds) and not all(kinds[: sum(kinds)]):
            yield f"messages[{index}]: tool_result blocks have to come before everything else"


def uses_last(body: Json) -> Iterator[str]:
    for index, _, content in turns(body):
        kinds = [block.get("type") == "tool_use" for block in content]
        if any(kinds) and not all(kinds[-sum(kinds) :]):
            yield f"messages[{index}]: nothing may follow a tool_use block but another one"


def result_content(body: Json) -> Iterator[str]:
    for where, block in all_of_type(body, "tool_result"):
        content: Any = block.get("content", "")
        if not isinstance(content, str | list):
            yield f"{where}.content: neither a string nor a list of blocks"
        for inner, part in objects(content):
            if text_of(part.get("type")) not in INSIDE_RESULTS:
                yield f"{where}.content[{inner}]: a {part.get('type')!r} block can't be in a result"
        if "is_error" in block and not isinstance(block["is_error"], bool):
            yield f"{where}.is_error: not a boolean"


def thinking_shape(body: Json) -> Iterator[str]:
    for where, block in all_of_type(body, "thinking"):
        if not isinstance(block.get("thinking"), str):
            yield f"{where}.thinking: not a string"
        if not text_of(block.get("signature")):
            yield f"{where}.signature: empty"
    for where, block in all_of_type(body, "redacted_thinking"):
        if not text_of(block.get("data")):
            yield f"{where}.data: empty"


def thinking_on(body: Json) -> str:
    thinking = body.get("thinking")
    return text_of(thinking.get("type")) if isinstance(thinking, dict) else ""


def thinking_first(body: Json) -> Iterator[str]:
    """In the tool loop that is still open, the first assistant turn starts with what it thought."""
    if thinking_on(body) != "enabled":
        return
    every = turns(body)
    if not every or not ids(every[-1][2], "tool_result", "tool_use_id"):
        return
    opened = max(
        (at for at, turn in enumerate(every) if turn[1] == "user" and not ids(turn[2], "tool_result", "tool_use_id")), default=-1
    )
    for index, role, content in every[opened + 1 :]:
        if role == "assistant":
            kind = content[0].get("type") if content else None
            if kind not in ("thinking", "redacted_thinking"):
                yield f"messages[{index}]: thinking is on, but the open tool loop starts with {kind!r}"
            return


def thinking_not_last(body: Json) -> Iterator[str]:
    for index, role, content in turns(body):
        if role == "assistant" and content and content[-1].get("type") in ("thinking", "redacted_thinking"):
            yield f"messages[{index}]: the final block of an assistant message can't be thinking"


def thinking_config(body: Json) -> Iterator[str]:
    if "thinking" not in body:
        return
    kind = thinking_on(body)
    shapes = {
        "enabled": fields("type budget_tokens", "display"),
        "adaptive": fields("type", "display"),
        "between_tools": fields("type"),
        "disabled": fields("type"),
    }
    if kind not in shapes:
        yield f"thinking: {body['thinking']!r} is not one of {', '.join(sorted(shapes))}"
        return
    yield from shapes[kind].problems(body["thinking"], "thinking")
    if kind == "enabled":
        budget, limit = body["thinking"].get("budget_tokens"), body.get("max_tokens")
        if not whole(budget) or budget < 1024:
            yield f"thinking.budget_tokens: {budget!r} is less than 1024"
        elif whole(limit) and budget >= limit:
            yield f"thinking.budget_tokens: {budget} is not less than max_tokens {limit}"
    choice = body.get("tool_choice")
    if kind not in ("disabled", "") and isinstance(choice, dict) and choice.get("type") in ("any", "tool"):
        yield "tool_choice: can't force a tool while thinking is on"
