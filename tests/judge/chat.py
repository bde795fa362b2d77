"""The rules of OpenAI Chat Completions (docs/wire-rules.md)."""

import re
from collections.abc import Iterator
from itertools import pairwise

from .body import Json, fields, filled, image_url_problems, json_object_problems, name_problems, objects, repeated, text_of, whole
from .openai_shared import (
    EFFORTS,
    IMAGES,
    NAME,
    cache_key_problems,
    choice_problems,
    format_problems,
    function_problems,
    grammar_problems,
    only_with_tools,
    stream_problems,
    tool_list_problems,
)
from .rule import Rule

TOP = fields(
    "model messages",
    "audio frequency_penalty logit_bias logprobs max_completion_tokens max_tokens metadata modalities moderation n"
    " parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention"
    " reasoning_effort response_format"
    " safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p user"
    " verbosity web_search_options",
)
MESSAGES = {
    "system": fields("role content", "name"),
    "developer": fields("role content", "name"),
    "user": fields("role content", "name"),
    "assistant": fields("role", "content name refusal tool_calls audio"),
    "tool": fields("role content tool_call_id"),
}
PARTS = {
    "system": {"text"},
    "developer": {"text"},
    "user": {"text", "image_url", "input_audio", "file"},
    "assistant": {"text", "refusal"},
    "tool": {"text"},
}
PART = {
    "text": fields("type text", "prompt_cache_breakpoint"),
    "image_url": fields("type image_url", "prompt_cache_breakpoint"),
    "refusal": fields("type refusal"),
    "input_audio": fields("type input_audio", "prompt_cache_breakpoint"),
    "file": fields("type file", "prompt_cache_breakpoint"),
}
CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")


def messages(body: Json) -> list[tuple[int, Json]]:
    return objects(body.get("messages"))


def role_of(message: Json) -> str:
    return text_of(message.get("role"))


def calls(body: Json) -> Iterator[tuple[str, Json]]:
    for index, message in messages(body):
        for at, call in objects(message.get("tool_calls")):
            yield f"messages[{index}].tool_calls[{at}]", call


def functions(body: Json) -> Iterator[tuple[str, Json]]:
    for where, call in calls(body):
        if isinstance(call.get("function"), dict):
            yield f"{where}.function", call["function"]


def top_fields(body: Json) -> Iterator[str]:
    yield from TOP.problems(body, "body")
    if not text_of(body.get("model")):
        yield "model: not a name"


def message_shape(body: Json) -> Iterator[str]:
    if not filled(body.get("messages")) or len(body["messages"]) != len(messages(body)):
        yield "messages: not a list of at least one message"
    for index, message in messages(body):
        shape = MESSAGES.get(role_of(message))
        if shape is None:
            yield f"messages[{index}]: role {message.get('role')!r} is not one of {', '.join(MESSAGES)}"
        else:
            yield from shape.problems(message, f"messages[{index}]")


def content_given(body: Json) -> Iterator[str]:
    for index, message in messages(body):
        content = message.get("content")
        if isinstance(content, str) or filled(content):
            continue
        if content is None and role_of(message) == "assistant" and (message.get("tool_calls") or message.get("refusal")):
            continue
        yield f"messages[{index}].content: {content!r} is neither a string nor a list with a part"


def parts(body: Json) -> Iterator[str]:
    for index, message in messages(body):
        content = message.get("content")
        if isinstance(content, list) and len(content) != len(objects(content)):
            yield f"messages[{index}].content: not all parts are objects"
        for at, part in objects(content):
            where, kind = f"messages[{index}].content[{at}]", text_of(part.get("type"))
            if kind not in PARTS.get(role_of(message), PART.keys()):
                yield f"{where}: {kind!r} is not allowed in a message of role {role_of(message)!r}"
            if kind in PART:
                yield from PART[kind].problems(part, where)


def something_said(body: Json) -> Iterator[str]:
    for index, message in messages(body):
        empty = message.get("content") == "" or any(part.get("text") == "" for _, part in objects(message.get("content")))
        if empty and role_of(message) != "tool" and not message.get("tool_calls"):
            yield f"messages[{index}].content: nothing is said"


def images(body: Json) -> Iterator[str]:
    for index, message in messages(body):
        for at, part in objects(message.get("content")):
            if part.get("type") != "image_url":
                continue
            where, image = f"messages[{index}].content[{at}].image_url", part.get("image_url")
            if not isinstance(image, dict):
                yield f"{where}: not an object with a url"
                continue
            yield from fields("url", "detail").problems(image, where)
            yield from image_url_problems(image.get("url"), IMAGES, where)


def call_shape(body: Json) -> Iterator[str]:
    for index, message in messages(body):
        if "tool_calls" in message and not filled(message["tool_calls"]):
            yield f"messages[{index}].tool_calls: empty; leave it out"
    for where, call in calls(body):
        yield from fields("id type function").problems(call, where)
        if call.get("type") != "function":
            yield f"{where}: type {call.get('type')!r} is not 'function'"
        if isinstance(call.get("function"), dict):
            yield from fields("name arguments").problems(call["function"], f"{where}.function")
        else:
            yield f"{where}.function: not an object"


def call_id(body: Json) -> Iterator[str]:
    for where, call in calls(body):
        if not 1 <= len(text_of(call.get("id"))) <= 40:
            yield f"{where}.id: {call.get('id')!r} does not have 1 to 40 characters"


def call_id_charset(body: Json) -> Iterator[str]:
    for where, call in calls(body):
        yield from name_problems(call.get("id"), CALL_ID, f"{where}.id")


def call_id_once(body: Json) -> Iterator[str]:
    for twice in repeated(text_of(call.get("id")) for _, call in calls(body)):
        yield f"tool_calls: the id {twice!r} more than once"


def call_name(body: Json) -> Iterator[str]:
    for where, function in functions(body):
        yield from name_problems(function.get("name"), NAME, f"{where}.name")


def call_arguments(body: Json) -> Iterator[str]:
    for where, function in functions(body):
        yield from json_object_problems(function.get("arguments"), where)


def spans(body: Json) -> Iterator[tuple[int, list[str], list[str]]]:
    """Each message that isn't a result: its index, the ids that it calls, and the ids that the results after it answer."""
    current: tuple[int, list[str], list[str]] = (0, [], [])
    for index, message in messages(body):
        if role_of(message) == "tool":
            current[2].append(text_of(message.get("tool_call_id")))
            continue
        yield current
        current = (index, [text_of(call.get("id")) for _, call in objects(message.get("tool_calls"))], [])
    yield current


def calls_answered(body: Json) -> Iterator[str]:
    for index, called, answered in spans(body):
        for identifier in called:
            if identifier not in answered:
                yield f"messages[{index}]: call {identifier!r} is not answered by the tool messages right after it"


def results_asked(body: Json) -> Iterator[str]:
    for index, called, answered in spans(body):
        for identifier in answered:
            if identifier not in called:
                yield f"messages[{index}]: a tool message after it answers {identifier!r}, which it does not call"


def results_once(body: Json) -> Iterator[str]:
    for index, _, answered in spans(body):
        for twice in repeated(answered):
            yield f"messages[{index}]: call {twice!r} is answered more than once"


def system_first(body: Json) -> Iterator[str]:
    begun = False
    for index, message in messages(body):
        if role_of(message) not in ("system", "developer"):
            begun = True
        elif begun:
            yield f"messages[{index}]: a {role_of(message)!r} message after the conversation has begun"


def conversation_order(body: Json) -> Iterator[str]:
    said = [(index, role_of(message)) for index, message in messages(body) if role_of(message) not in ("system", "developer")]
    if said and said[0][1] != "user":
        yield f"messages[{said[0][0]}]: the conversation begins with {said[0][1]!r}"
    if said and said[-1][1] == "assistant":
        yield f"messages[{said[-1][0]}]: the last message is the assistant's"
    for (_, before), (index, role) in pairwise(said):
        if before == role and role in ("user", "assistant"):
            yield f"messages[{index}]: two {role!r} messages in a row"


def tools(body: Json) -> Iterator[str]:
    yield from tool_list_problems(body)
    for index, tool in objects(body.get("tools")):
        yield from fields("type function").problems(tool, f"tools[{index}]")
        if not isinstance(tool.get("function"), dict):
            yield f"tools[{index}].function: not an object"
            continue
        yield from fields("name", "description parameters strict").problems(tool["function"], f"tools[{index}].function")
        yield from function_problems(tool["function"], f"tools[{index}].function")


def tool_names_once(body: Json) -> Iterator[str]:
    declared = (tool.get("function") for _, tool in objects(body.get("tools")))
    for twice in repeated(text_of(function.get("name")) for function in declared if isinstance(function, dict)):
        yield f"tools: the name {twice!r} more than once"


def description_length(body: Json) -> Iterator[str]:
    for index, tool in objects(body.get("tools")):
        function = tool.get("function")
        if isinstance(function, dict) and len(text_of(function.get("description"))) > 1024:
            yield f"tools[{index}].function.description: longer than 1024 characters"


def tool_choice(body: Json) -> Iterator[str]:
    yield from only_with_tools(body)
    choice = body.get("tool_choice")
    chosen = choice.get("function") if isinstance(choice, dict) else None
    names = [tool["function"].get("name") for _, tool in objects(body.get("tools")) if isinstance(tool.get("function"), dict)]
    yield from choice_problems(choice, chosen.get("name") if isinstance(chosen, dict) else None, names)


def response_format(body: Json) -> Iterator[str]:
    form = body.get("response_format")
    if form is None:
        return
    kind = form.get("type") if isinstance(form, dict) else None
    if kind == "json_schema" and isinstance(form.get("json_schema"), dict):
        yield from fields("type json_schema").problems(form, "response_format")
        yield from fields("name", "description schema strict").problems(form["json_schema"], "response_format.json_schema")
        yield from format_problems(form["json_schema"], "response_format.json_schema")
    elif kind == "json_object":
        if not any("json" in str(message.get("content")).lower() for _, message in messages(body)):
            yield "response_format: json_object without the word 'json' in the messages"
    elif kind != "text":
        yield f"response_format: {form!r} is not text, json_object or json_schema"


def response_grammar(body: Json) -> Iterator[str]:
    form = body.get("response_format")
    schema = form.get("json_schema") if isinstance(form, dict) else None
    if isinstance(schema, dict):
        yield from grammar_problems(schema.get("schema"), "response_format.json_schema.schema")


def limits(body: Json) -> Iterator[str]:
    given = [key for key in ("max_tokens", "max_completion_tokens") if body.get(key) is not None]
    if len(given) == 2:
        yield "max_tokens and max_completion_tokens at once"
    for key in given:
        if not whole(body[key]) or body[key] < 1:
            yield f"{key}: {body[key]!r} is not a number of tokens"
    if body.get("reasoning_effort") not in EFFORTS:
        yield f"reasoning_effort: {body['reasoning_effort']!r} is not a level"
    yield from stream_problems(body)


RULES = (
    Rule("C2", "no unknown top-level field, none missing", top_fields),
    Rule("C3", "messages have a known role and only its fields", message_shape),
    Rule("C4", "content is given; null only beside tool calls", content_given),
    Rule("C5", "each kind of part only in messages of its role", parts),
    Rule("C6", "no empty text", something_said, portable=True),
    Rule("C7", "images are what they say they are", images),
    Rule("C8", "tool calls are well formed, never an empty list", call_shape),
    Rule("C9", "ids of calls have 1 to 40 characters", call_id),
    Rule("C10", "ids of calls match [a-zA-Z0-9_-]+", call_id_charset, portable=True),
    Rule("C11", "ids of calls are unique in the request", call_id_once),
    Rule("C12", "names of calls match [a-zA-Z0-9_-]{1,64}", call_name),
    Rule("C13", "arguments are the text of a JSON object", call_arguments),
    Rule("C14", "each call is answered by the tool messages right after it", calls_answered),
    Rule("C15", "each tool message answers a call right before it", results_asked),
    Rule("C16", "one result a call", results_once),
    Rule("C17", "system messages come first", system_first, portable=True),
    Rule("C18", "the user begins, roles alternate, the assistant is not last", conversation_order, portable=True),
    Rule("C19", "tools are well formed, their schema an object", tools),
    Rule("C20", "names of tools are unique", tool_names_once),
    Rule("C21", "descriptions of tools have at most 1024 characters", description_length, portable=True),
    Rule("C22", "tool_choice and parallel_tool_calls fit the tools", tool_choice),
    Rule("C23", "response_format is well formed, a strict schema closed", response_format),
    Rule("C24", "the schema of the answer has nothing that grammars can't express", response_grammar, portable=True),
    Rule("C25", "limits, effort and stream options are what they should be", limits),
    Rule("C26", "prompt_cache_key has at most 64 characters", cache_key_problems),
)
