"""What the vendors' APIs refuse in a request, as rules over `Request`; each rule names who enforces it.

A request that passes here is one that OpenAI, Anthropic and Google would take after translation into their dialect.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from ferrule.types.messages import Assistant, Image, Message, Opaque, Reasoning, Results, Text, ToolCall, ToolResult, User
from ferrule.types.request import Request, ToolSchema

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""Tool names: the pattern of OpenAI and Anthropic; Google is wider. Ids of calls: Anthropic's pattern, OpenAI's length."""
MEDIA_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The four that all of them take."""
MOST_TOOLS = 128
"""OpenAI: `tools` has at most 128 items."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def violations(request: Request, model: str) -> tuple[str, ...]:
    """All rules that the request to the scripted model `model` breaks, one sentence each with the place."""
    return (
        *_system(request),
        *_tools(request.tools),
        *_order(request.messages),
        *_pairing(request.messages),
        *(found for index, message in enumerate(request.messages) for found in _message(f"messages[{index}]", message, model)),
    )


def _system(request: Request) -> Iterator[str]:
    for index, section in enumerate(request.system):
        yield from _text(f"system[{index}]", section)
    if request.max_output is not None and request.max_output < 1:
        yield f"max_output is {request.max_output}; all vendors want at least 1"


def _order(messages: tuple[Message, ...]) -> Iterator[str]:
    """First a user message (Anthropic, Google), last something to answer (Anthropic refuses prefilled answers)."""
    if not messages:
        yield "messages is empty"
        return
    if not isinstance(messages[0], User):
        yield f"messages[0] is {_kind(messages[0])}; the first message must be the user's"
    if isinstance(messages[-1], Assistant) and not messages[-1].calls:
        yield f"messages[{len(messages) - 1}] is the assistant's; the last message must be the user's or results"


def _pairing(messages: tuple[Message, ...]) -> Iterator[str]:
    """Each call is answered once by the very next message, and nothing else is answered (all three)."""
    seen: set[str] = set()
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if isinstance(message, Assistant):
            for call in message.calls:
                if call.id in seen:
                    yield f"{where}: the id {call.id!r} is used by more than one call"
                seen.add(call.id)
            after = messages[index + 1] if index + 1 < len(messages) else None
            if message.calls and not isinstance(after, Results):
                ids = ", ".join(repr(call.id) for call in message.calls)
                yield f"{where}: no result right after it for the calls {ids}"
        elif isinstance(message, Results):
            before = messages[index - 1] if index else None
            yield from _answers(where, before.calls if isinstance(before, Assistant) else (), message.parts)


def _answers(where: str, calls: tuple[ToolCall, ...], results: tuple[ToolResult, ...]) -> Iterator[str]:
    if not results:
        yield f"{where}: results without a part"
    answered: set[str] = set()
    names = {call.id: call.name for call in calls}
    for part in results:
        if part.call_id not in names:
            yield f"{where}: a result for {part.call_id!r}, which is no call of the message before it"
        elif part.call_id in answered:
            yield f"{where}: the call {part.call_id!r} has more than one result"
        elif part.name != names[part.call_id]:
            yield f"{where}: the result of {part.call_id!r} is named {part.name!r}, its call {names[part.call_id]!r}"
        answered.add(part.call_id)
    for id in names:
        if id not in answered:
            yield f"{where}: no result for the call {id!r}"
    order = [part.call_id for part in results]
    if order != list(names) and sorted(order) == sorted(names):
        yield f"{where}: the results are not in the order of the calls"


def _message(where: str, message: Message, model: str) -> Iterator[str]:
    if not message.parts:
        yield f"{where}: {_kind(message)} message without content"
    if isinstance(message, Assistant) and all(isinstance(part, Reasoning) for part in message.parts) and message.parts:
        yield f"{where}: reasoning alone is no answer (OpenAI wants the item that it belongs to)"
    for index, part in enumerate(message.parts):
        place = f"{where}.parts[{index}]"
        match part:
            case Text(text=text, opaque=opaque):
                yield from _text(place, text)
                yield from _opaque(place, opaque, model)
            case Image():
                yield from _image(place, part)
            case Reasoning(text=text, opaque=opaque):
                yield from _unicode(place, text)
                yield from _opaque(place, opaque, model)
            case ToolCall():
                yield from _call(place, part)
                yield from _opaque(place, part.opaque, model)
            case ToolResult():
                for inner, piece in enumerate(part.parts):
                    yield from _result_part(f"{place}.parts[{inner}]", piece)


def _result_part(where: str, part: Text | Image) -> Iterator[str]:
    return _image(where, part) if isinstance(part, Image) else _text(where, part.text)


def _call(where: str, call: ToolCall) -> Iterator[str]:
    if not NAME.fullmatch(call.id):
        yield f"{where}: the id {call.id!r} does not match ^{NAME.pattern}$"
    if not NAME.fullmatch(call.name):
        yield f"{where}: the tool name {call.name!r} does not match ^{NAME.pattern}$"
    yield from _unicode(where, call.arguments)
    if not isinstance(_json(call.arguments), dict):
        yield f"{where}: the arguments of {call.name!r} are not the text of a JSON object: {call.arguments[:80]!r}"


def _opaque(where: str, opaque: Opaque | None, model: str) -> Iterator[str]:
    """Signed data of another vendor or model is refused (Anthropic: thinking signatures; OpenAI: encrypted reasoning)."""
    if opaque and (opaque.dialect, opaque.model) != ("scripted", model):
        yield f"{where}: opaque data of {opaque.dialect}/{opaque.model} sent to scripted/{model}"
    elif opaque and not isinstance(_json(opaque.data), dict):
        yield f"{where}: opaque data was changed: {opaque.data[:80]!r}"


def _text(where: str, text: str) -> Iterator[str]:
    """Anthropic: text blocks must be non-empty and hold more than white space."""
    if not text.strip():
        yield f"{where}: empty text"
    yield from _unicode(where, text)


def _unicode(where: str, text: str) -> Iterator[str]:
    """A lone surrogate cannot be encoded as UTF-8; OpenAI and Anthropic refuse its escape."""
    if found := _SURROGATE.search(text):
        yield f"{where}: half a surrogate pair at character {found.start()}"


def _image(where: str, image: Image) -> Iterator[str]:
    if image.media_type not in MEDIA_TYPES:
        yield f"{where}: the media type {image.media_type!r} is none of {', '.join(MEDIA_TYPES)}"
    try:
        data = base64.b64decode(image.data, validate=True)
    except (binascii.Error, ValueError):
        yield f"{where}: the image is not base64"
    else:
        if not data:
            yield f"{where}: the image is empty"


def _tools(tools: tuple[ToolSchema, ...]) -> Iterator[str]:
    if len(tools) > MOST_TOOLS:
        yield f"tools: {len(tools)} tools, more than {MOST_TOOLS}"
    seen: set[str] = set()
    for index, tool in enumerate(tools):
        where = f"tools[{index}]"
        if not NAME.fullmatch(tool.name):
            yield f"{where}: the tool name {tool.name!r} does not match ^{NAME.pattern}$"
        if tool.name in seen:
            yield f"{where}: more than one tool is named {tool.name!r}"
        seen.add(tool.name)
        yield from _text(f"{where}.description", tool.description)
        yield from _unicode(where, tool.parameters)
        yield from _schema_of(where, _json(tool.parameters))


def _schema_of(where: str, schema: Any) -> Iterator[str]:
    """The root is an object schema without a combinator (OpenAI and Anthropic)."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield f'{where}: the parameters are not a JSON Schema of type "object"'
        return
    for word in ("anyOf", "oneOf", "allOf", "enum", "not"):
        if word in schema:
            yield f"{where}: {word} at the top of the parameters"
    yield from _schema(f"{where}.parameters", schema)


def _schema(where: str, schema: Any) -> Iterator[str]:
    """OpenAI: an array names its items; `required` names properties (Google); properties are schemas."""
    if not isinstance(schema, dict):
        if not isinstance(schema, bool):
            yield f"{where}: {schema!r} is no schema"
        return
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        yield f"{where}: properties is not an object"
        return
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        yield f"{where}: required is not a list of names"
    else:
        yield from (f"{where}: required names {name!r}, which is no property" for name in required if name not in properties)
    if schema.get("type") == "array" and "items" not in schema:
        yield f"{where}: an array without items"
    if schema.get("enum") == []:
        yield f"{where}: an enum without values"
    for name, inner in properties.items():
        yield from _schema(f"{where}.{name}", inner)
    if "items" in schema:
        yield from _schema(f"{where}[]", schema["items"])
    for word in ("anyOf", "oneOf", "allOf"):
        for inner in schema.get(word, []):
            yield from _schema(f"{where}.{word}", inner)


def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def _kind(message: Message) -> str:
    return {User: "a user", Assistant: "an assistant", Results: "a results"}[type(message)]
