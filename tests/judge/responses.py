"""The rules of OpenAI Responses (docs/wire-rules.md)."""

import re
from collections.abc import Iterator

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
    "model input",
    "background context_management conversation include instructions max_output_tokens max_tool_calls metadata"
    " parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning"
    " safety_identifier"
    " service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user",
)
ITEMS = {
    "message": fields("role content", "type id status phase"),
    "function_call": fields("type call_id name arguments", "id status caller namespace"),
    "function_call_output": fields("type call_id output", "id status caller name namespace"),
    "reasoning": fields("type id summary", "content encrypted_content status"),
    "item_reference": fields("id", "type"),
}
INPUT_PARTS = {
    "input_text": fields("type text", "prompt_cache_breakpoint"),
    "input_image": fields("type", "detail file_id image_url prompt_cache_breakpoint"),
    "input_file": fields("type", "detail file_data file_id file_url filename prompt_cache_breakpoint"),
}
OUTPUT_PARTS = {"output_text": fields("type text", "annotations logprobs"), "refusal": fields("type refusal")}
INCLUDES = {
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
}
CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
PREFIXES = {"function_call": "fc", "reasoning": "rs", "function_call_output": "fc", "message": "msg"}


def items(body: Json) -> list[tuple[int, Json]]:
    return objects(body.get("input"))


def kind_of(item: Json) -> str:
    return text_of(item.get("type", "message" if "role" in item else None))


def of_kind(body: Json, kind: str) -> list[tuple[int, Json]]:
    return [(index, item) for index, item in items(body) if kind_of(item) == kind]


def top_fields(body: Json) -> Iterator[str]:
    yield from TOP.problems(body, "body")
    if not text_of(body.get("model")):
        yield "model: not a name"
    if not isinstance(body.get("instructions", ""), str | None):
        yield "instructions: not a string"


def input_shape(body: Json) -> Iterator[str]:
    given = body.get("input")
    if isinstance(given, str) and given:
        return
    if not filled(given) or len(body["input"]) != len(items(body)):
        yield "input: neither a text nor a list of at least one item"


def item_shape(body: Json) -> Iterator[str]:
    for index, item in items(body):
        shape = ITEMS.get(kind_of(item))
        if shape is None:
            yield f"input[{index}]: {item.get('type')!r} is not a known type of item"
        else:
            yield from shape.problems(item, f"input[{index}]")


def message_role(body: Json) -> Iterator[str]:
    for index, item in of_kind(body, "message"):
        if item.get("role") not in ("user", "assistant", "system", "developer"):
            yield f"input[{index}]: role {item.get('role')!r} is not user, assistant, system or developer"


def part_problems(content: object, known: dict[str, object], where: str) -> Iterator[str]:
    if isinstance(content, str):
        return
    if not filled(content) or not isinstance(content, list) or len(content) != len(objects(content)):
        yield f"{where}: neither a text nor a list of at least one part"
    for at, part in objects(content):
        if text_of(part.get("type")) not in known:
            yield f"{where}[{at}]: {part.get('type')!r} is not one of {', '.join(known)}"


def message_parts(body: Json) -> Iterator[str]:
    for index, item in of_kind(body, "message"):
        known = OUTPUT_PARTS if item.get("role") == "assistant" else INPUT_PARTS
        where = f"input[{index}].content"
        yield from part_problems(item.get("content"), dict(known), where)
        for at, part in objects(item.get("content")):
            if shape := known.get(text_of(part.get("type"))):
                yield from shape.problems(part, f"{where}[{at}]")


def something_said(body: Json) -> Iterator[str]:
    for index, item in of_kind(body, "message"):
        if item.get("content") == "" or any(part.get("text") == "" for _, part in objects(item.get("content"))):
            yield f"input[{index}].content: nothing is said"


def output_parts(body: Json) -> Iterator[str]:
    for index, item in of_kind(body, "function_call_output"):
        where = f"input[{index}].output"
        yield from part_problems(item.get("output"), dict(INPUT_PARTS), where)
        for at, part in objects(item.get("output")):
            if shape := INPUT_PARTS.get(text_of(part.get("type"))):
                yield from shape.problems(part, f"{where}[{at}]")


def images(body: Json) -> Iterator[str]:
    for index, item in items(body):
        for key in ("content", "output"):
            for at, part in objects(item.get(key)):
                if part.get("type") != "input_image":
                    continue
                where = f"input[{index}].{key}[{at}]"
                if part.get("detail", "auto") not in ("low", "high", "auto", "original"):
                    yield f"{where}.detail: {part['detail']!r} is not low, high, auto or original"
                if text_of(part.get("file_id")):
                    continue
                yield from image_url_problems(part.get("image_url"), IMAGES, where)


def call_id(body: Json) -> Iterator[str]:
    for kind in ("function_call", "function_call_output"):
        for index, item in of_kind(body, kind):
            if not 1 <= len(text_of(item.get("call_id"))) <= 64:
                yield f"input[{index}].call_id: {item.get('call_id')!r} does not have 1 to 64 characters"


def call_id_charset(body: Json) -> Iterator[str]:
    for index, item in of_kind(body, "function_call"):
        yield from name_problems(item.get("call_id"), CALL_ID, f"input[{index}].call_id")


def item_id(body: Json) -> Iterator[str]:
    for index, item in items(body):
        prefix = PREFIXES.get(kind_of(item))
        if prefix and item.get("id") is not None and not text_of(item["id"]).startswith(prefix):
            yield f"input[{index}].id: {item['id']!r} does not begin with {prefix!r}"


def ids_once(body: Json) -> Iterator[str]:
    for twice in repeated(item["id"] for _, item in items(body) if isinstance(item.get("id"), str)):
        yield f"input: the item id {twice!r} more than once"
    for twice in repeated(text_of(item.get("call_id")) for _, item in of_kind(body, "function_call")):
        yield f"input: the call_id {twice!r} more than once"


def call_name(body: Json) -> Iterator[str]:
    for index, item in of_kind(body, "function_call"):
        yield from name_problems(item.get("name"), NAME, f"input[{index}].name")


def call_arguments(body: Json) -> Iterator[str]:
    for index, item in of_kind(body, "function_call"):
        yield from json_object_problems(item.get("arguments"), f"input[{index}]")


def positions(body: Json, kind: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for index, item in of_kind(body, kind):
        found.setdefault(text_of(item.get("call_id")), []).append(index)
    return found


def calls_answered(body: Json) -> Iterator[str]:
    outputs = positions(body, "function_call_output")
    for identifier, at in positions(body, "function_call").items():
        if not any(output > at[0] for output in outputs.get(identifier, [])):
            yield f"input[{at[0]}]: no output for call {identifier!r}"


def outputs_asked(body: Json) -> Iterator[str]:
    called = positions(body, "function_call")
    for identifier, at in positions(body, "function_call_output").items():
        for index in at:
            if not any(call < index for call in called.get(identifier, [])):
                yield f"input[{index}]: an output for {identifier!r}, which nothing before it calls"


def outputs_once(body: Json) -> Iterator[str]:
    for identifier, at in positions(body, "function_call_output").items():
        if len(at) > 1:
            yield f"input[{at[1]}]: another output for {identifier!r}"


def outputs_next(body: Json) -> Iterator[str]:
    """Between a call and its output stand only other calls and outputs and what belongs to the same answer."""
    waiting: set[str] = set()
    for index, item in items(body):
        kind = kind_of(item)
        if kind == "function_call":
            waiting.add(text_of(item.get("call_id")))
        elif kind == "function_call_output":
            waiting.discard(text_of(item.get("call_id")))
        elif waiting and kind == "message" and item.get("role") != "assistant":
            yield f"input[{index}]: a message of role {item.get('role')!r} before the output of {sorted(waiting)}"


def reasoning_followed(body: Json) -> Iterator[str]:
    for index, _ in of_kind(body, "reasoning"):
        following = next((item for at, item in items(body) if at > index and kind_of(item) != "reasoning"), {})
        answer = kind_of(following) == "message" and following.get("role") == "assistant"
        if not answer and kind_of(following) not in ("function_call", "item_reference"):
            yield f"input[{index}]: reasoning without the item that followed it"


def reasoning_kept(body: Json) -> Iterator[str]:
    for index, item in of_kind(body, "reasoning"):
        if not isinstance(item.get("summary"), list):
            yield f"input[{index}].summary: not a list"
        for at, part in objects(item.get("summary")):
            yield from fields("type text").problems(part, f"input[{index}].summary[{at}]")
            if part.get("type") != "summary_text":
                yield f"input[{index}].summary[{at}]: {part.get('type')!r} is not 'summary_text'"
        if body.get("store") is False and not text_of(item.get("encrypted_content")):
            yield f"input[{index}]: store is off and the reasoning has no encrypted_content"


def references(body: Json) -> Iterator[str]:
    if body.get("store") is False and (found := of_kind(body, "item_reference")):
        yield f"input[{found[0][0]}]: a reference to an item, but store is off"
    if body.get("previous_response_id") is not None and body.get("conversation") is not None:
        yield "previous_response_id and conversation at once"


def tools(body: Json) -> Iterator[str]:
    yield from tool_list_problems(body)
    for index, tool in objects(body.get("tools")):
        shape = fields("type name", "description parameters strict allowed_callers defer_loading output_schema")
        yield from shape.problems(tool, f"tools[{index}]")
        yield from function_problems(tool, f"tools[{index}]")


def tool_names_once(body: Json) -> Iterator[str]:
    for twice in repeated(text_of(tool.get("name")) for _, tool in objects(body.get("tools"))):
        yield f"tools: the name {twice!r} more than once"


def tool_choice(body: Json) -> Iterator[str]:
    yield from only_with_tools(body)
    choice = body.get("tool_choice")
    names = [tool.get("name") for _, tool in objects(body.get("tools"))]
    yield from choice_problems(choice, choice.get("name") if isinstance(choice, dict) else None, names)


def text_format(body: Json) -> Iterator[str]:
    text = body.get("text")
    if text is None:
        return
    if not isinstance(text, dict):
        yield "text: not an object"
        return
    yield from fields("", "format verbosity").problems(text, "text")
    form = text.get("format")
    kind = form.get("type") if isinstance(form, dict) else None
    if isinstance(form, dict) and kind == "json_schema":
        yield from fields("type name schema", "description strict").problems(form, "text.format")
        yield from format_problems(form, "text.format")
    elif form is not None and kind not in ("text", "json_object"):
        yield f"text.format: {form!r} is not text, json_object or json_schema"


def text_grammar(body: Json) -> Iterator[str]:
    form = body["text"].get("format") if isinstance(body.get("text"), dict) else None
    if isinstance(form, dict):
        yield from grammar_problems(form.get("schema"), "text.format.schema")


def limits(body: Json) -> Iterator[str]:
    limit = body.get("max_output_tokens")
    if limit is not None and (not whole(limit) or limit < 16):
        yield f"max_output_tokens: {limit!r} is less than 16"
    reasoning = body.get("reasoning")
    if isinstance(reasoning, dict):
        yield from fields("", "effort summary context mode generate_summary").problems(reasoning, "reasoning")
        if reasoning.get("effort") not in EFFORTS:
            yield f"reasoning.effort: {reasoning['effort']!r} is not a level"
        if reasoning.get("summary") not in (None, "auto", "concise", "detailed"):
            yield f"reasoning.summary: {reasoning['summary']!r} is not auto, concise or detailed"
    elif reasoning is not None:
        yield "reasoning: not an object"
    include = body.get("include")
    if include is not None and (not isinstance(include, list) or any(text_of(value) not in INCLUDES for value in include)):
        yield f"include: {include!r} is not a list of what can be included"
    yield from stream_problems(body)


RULES = (
    Rule("R2", "no unknown top-level field, none missing", top_fields),
    Rule("R3", "input is a text or a list of items", input_shape),
    Rule("R4", "items have a known type and only its fields", item_shape),
    Rule("R5", "roles are user, assistant, system and developer", message_role),
    Rule("R6", "the assistant's parts are output, everybody else's are input", message_parts),
    Rule("R7", "no empty text", something_said, portable=True),
    Rule("R8", "outputs are text or input parts", output_parts),
    Rule("R9", "images are what they say they are", images),
    Rule("R10", "call_id has 1 to 64 characters", call_id),
    Rule("R11", "call_id matches [a-zA-Z0-9_-]+", call_id_charset, portable=True),
    Rule("R12", "the id of an item begins as its type demands", item_id),
    Rule("R13", "ids of items and of calls are unique", ids_once),
    Rule("R14", "names of calls match [a-zA-Z0-9_-]{1,64}", call_name),
    Rule("R15", "arguments are the text of a JSON object", call_arguments),
    Rule("R16", "each call has an output after it", calls_answered),
    Rule("R17", "each output answers a call before it", outputs_asked),
    Rule("R18", "one output a call", outputs_once),
    Rule("R19", "outputs come before anybody speaks again", outputs_next),
    Rule("R20", "reasoning is followed by its item", reasoning_followed),
    Rule("R21", "reasoning has a summary, and its encrypted content where store is off", reasoning_kept),
    Rule("R22", "no reference to what is not stored", references),
    Rule("R23", "tools are well formed, their schema an object", tools),
    Rule("R24", "names of tools are unique", tool_names_once),
    Rule("R25", "tool_choice and parallel_tool_calls fit the tools", tool_choice),
    Rule("R26", "text.format is well formed, a strict schema closed", text_format),
    Rule("R27", "the schema of the answer has nothing that grammars can't express", text_grammar, portable=True),
    Rule("R28", "limits, reasoning, include and stream options are what they should be", limits),
    Rule("R29", "prompt_cache_key has at most 64 characters", cache_key_problems),
)
