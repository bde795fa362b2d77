"""The vendors' SDKs as witnesses: their own types for the parameters of a request, read strictly.

The TypedDicts of openai and anthropic are walked here rather than by pydantic, which checks an `Iterable` only when somebody
iterates it, converts values, and lets unknown keys pass. google-genai's models are pydantic models that forbid unknown keys.
"""

import collections.abc
import json
import types
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

import typing_extensions
from pydantic import TypeAdapter, ValidationError

from .body import Json, objects, read
from .names import camel

SEQUENCES = (list, collections.abc.Iterable, collections.abc.Sequence, tuple)
MAPPINGS = (dict, collections.abc.Mapping)
PLAIN: dict[object, tuple[type, ...]] = {str: (str,), bool: (bool,), int: (int,), float: (int, float), type(None): (type(None),)}


def complaints(dialect: str, body: Json | bytes) -> list[str]:
    decoded, _ = read(body)
    if not isinstance(decoded, dict):
        return ["body: not an object"]
    if dialect == "google":
        return list(_google(decoded))
    if dialect == "openai-responses":
        decoded = _completed(decoded)
    return list(check(_params(dialect, streaming=decoded.get("stream") is True), decoded, "body"))


def _completed(body: Json) -> Json:
    """With an id and a status for each message of the assistant that lacks them: the API takes output parts without, the types
    do not describe it (issue openai-python 3544)."""
    if not isinstance(body.get("input"), list):
        return body
    return body | {"input": [_with_id(item) for item in body["input"]]}


def _with_id(item: Any) -> Any:
    said = isinstance(item, dict) and item.get("role") == "assistant" and isinstance(item.get("content"), list)
    if not said or "id" in item:
        return item
    parts = [{"annotations": []} | part if part.get("type") == "output_text" else part for _, part in objects(item["content"])]
    return {"type": "message", "id": "msg_0", "status": "completed"} | item | {"content": parts}


@cache
def _params(dialect: str, *, streaming: bool) -> Any:
    match dialect:
        case "openai":
            from openai.types.chat import completion_create_params as chat

            return chat.CompletionCreateParamsStreaming if streaming else chat.CompletionCreateParamsNonStreaming
        case "openai-responses":
            from openai.types.responses import response_create_params as responses

            return responses.ResponseCreateParamsStreaming if streaming else responses.ResponseCreateParamsNonStreaming
        case "anthropic":
            from anthropic.types import message_create_params as messages

            return messages.MessageCreateParamsStreaming if streaming else messages.MessageCreateParamsNonStreaming
    raise ValueError(f"no dialect {dialect!r}")


def check(annotation: Any, value: object, where: str) -> Iterator[str]:
    """Why `value` is not of the type `annotation`; nothing if it is."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in (Any, object):
        return
    if origin in (typing_extensions.Required, typing_extensions.NotRequired, typing_extensions.Annotated):
        yield from check(arguments[0], value, where)
    elif origin in (Union, types.UnionType):
        yield from _any_of(arguments, value, where)
    elif origin is Literal:
        if not any(value == allowed and type(value) is type(allowed) for allowed in arguments):
            yield f"{where}: {value!r} is not one of {', '.join(map(repr, arguments))}"
    elif typing_extensions.is_typeddict(annotation):
        yield from _typed_dict(annotation, value, where)
    elif origin in SEQUENCES or getattr(origin, "__name__", "") == "SequenceNotStr":
        if not isinstance(value, list):
            yield f"{where}: not a list"
        else:
            for index, item in enumerate(value):
                yield from check(arguments[0], item, f"{where}[{index}]")
    elif origin in MAPPINGS or annotation is dict:
        if not isinstance(value, dict):
            yield f"{where}: not an object"
        elif arguments:
            for key, item in value.items():
                yield from check(arguments[1], item, f"{where}.{key}")
    else:
        yield from _plain(annotation, value, where)


def _plain(annotation: Any, value: object, where: str) -> Iterator[str]:
    if annotation is None:
        annotation = type(None)
    if not isinstance(value, PLAIN.get(annotation, ())) or (isinstance(value, bool) and annotation is not bool):
        yield f"{where}: {str(value)[:40]!r} is not {getattr(annotation, '__name__', annotation)}"


def _any_of(alternatives: tuple[Any, ...], value: object, where: str) -> Iterator[str]:
    """Nothing if one alternative fits; otherwise the objections of the one that comes closest."""
    closest: list[str] | None = None
    for alternative in alternatives:
        found = list(check(alternative, value, where))
        if not found:
            return
        if closest is None or _distance(found, where) < _distance(closest, where):
            closest = found
    yield from closest or []


def _distance(found: list[str], where: str) -> tuple[bool, int]:
    wrong_kind = any(line.startswith((f"{where}:", f"{where}.type:", f"{where}.role:")) for line in found)
    return wrong_kind, len(found)


@cache
def _hints(annotation: Any) -> dict[str, Any]:
    return typing_extensions.get_type_hints(annotation, include_extras=True)


def _typed_dict(annotation: Any, value: object, where: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{where}: not an object"
        return
    hints = _hints(annotation)
    required = {name for name, hint in hints.items() if get_origin(hint) is typing_extensions.Required}
    for name in sorted((required | annotation.__required_keys__) - value.keys()):
        yield f"{where}.{name}: missing"
    open_to_more = getattr(annotation, "__pydantic_config__", {}).get("extra") == "allow"
    for name, item in value.items():
        if name in hints:
            yield from check(hints[name], item, f"{where}.{name}")
        elif not open_to_more:
            yield f"{where}.{name}: not a parameter"


def _google(body: Json) -> Iterator[str]:
    from google.genai import types as genai

    models: dict[str, Any] = {
        "contents": list[genai.Content],
        "systemInstruction": genai.Content,
        "tools": list[genai.Tool],
        "toolConfig": genai.ToolConfig,
        "generationConfig": genai.GenerationConfig,
        "safetySettings": list[genai.SafetySetting],
        "cachedContent": str,
        "model": str,
        "labels": dict[str, str],
        "serviceTier": str,
        "store": bool,
    }
    for key, value in camel(body).items():
        if key not in models:
            yield f"body.{key}: not a parameter"
            continue
        try:
            TypeAdapter(models[key]).validate_json(json.dumps(value))
        except ValidationError as error:
            for problem in error.errors(include_url=False, include_input=False):
                yield f"body.{key}.{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
        except AttributeError as error:  # google-genai's enums expect every wrong value to be text
            yield f"body.{key}: {error}"
