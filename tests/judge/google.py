"""The rules of Google generateContent (docs/wire-rules.md) on contents and their pairing; the rest is in google_fields."""

import re
from collections.abc import Iterator
from itertools import pairwise

from .body import Json, base64_bytes, fields, filled, image_problems, name_problems, objects, proto_bytes, text_of
from .names import camel

NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
DATA = ("text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult")
PART = fields("", " ".join(DATA) + " thought thoughtSignature videoMetadata mediaResolution partMetadata")
CALL = fields("name", "args id")
RESPONSE = fields("name response", "id parts willContinue scheduling")
IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
OTHER_MEDIA = ("audio/", "video/", "text/", "application/pdf")


def contents(body: Json) -> list[tuple[int, Json]]:
    return [(index, camel(content)) for index, content in objects(body.get("contents"))]


def parts(content: Json) -> list[tuple[int, Json]]:
    return objects(content.get("parts"))


def every_part(body: Json) -> Iterator[tuple[str, Json]]:
    for index, content in contents(body):
        for at, part in parts(content):
            yield f"contents[{index}].parts[{at}]", part


def of_kind(content: Json, kind: str) -> list[Json]:
    return [part[kind] for _, part in parts(content) if isinstance(part.get(kind), dict)]


def content_shape(body: Json) -> Iterator[str]:
    if not filled(body.get("contents")) or len(body["contents"]) != len(contents(body)):
        yield "contents: not a list of at least one content"
    for index, content in contents(body):
        yield from fields("parts", "role").problems(content, f"contents[{index}]")
        if not filled(content.get("parts")) or len(content["parts"]) != len(parts(content)):
            yield f"contents[{index}].parts: not a list of at least one part"


def roles(body: Json) -> Iterator[str]:
    alone = len(contents(body)) == 1
    for index, content in contents(body):
        if content.get("role", "user" if alone else None) not in ("user", "model"):
            yield f"contents[{index}]: role {content.get('role')!r} is not user or model"


def part_shape(body: Json) -> Iterator[str]:
    for where, part in every_part(body):
        yield from PART.problems(part, where)
        given = [key for key in DATA if key in part]
        if len(given) != 1:
            yield f"{where}: {len(given)} of text, inlineData, functionCall … are set, exactly one has to be"
        if "text" in part and not isinstance(part["text"], str):
            yield f"{where}.text: not a string"


def text_filled(body: Json) -> Iterator[str]:
    for where, part in every_part(body):
        if part.get("text") == "" and not text_of(part.get("thoughtSignature")):
            yield f"{where}: the text is empty"


def part_place(body: Json) -> Iterator[str]:
    for index, content in contents(body):
        owner = "model" if content.get("role") == "model" else "user"
        for at, part in parts(content):
            if "functionCall" in part and owner != "model":
                yield f"contents[{index}].parts[{at}]: only the model calls functions"
            if "functionResponse" in part and owner == "model":
                yield f"contents[{index}].parts[{at}]: the model does not answer functions"
            if (part.get("thought") or "thoughtSignature" in part) and owner != "model":
                yield f"contents[{index}].parts[{at}]: only the model thinks"


def first_is_user(body: Json) -> Iterator[str]:
    if contents(body) and contents(body)[0][1].get("role", "user") != "user":
        yield "contents[0]: the first content has to be the user's"


def last_is_user(body: Json) -> Iterator[str]:
    if contents(body) and contents(body)[-1][1].get("role") == "model":
        yield "contents: the last content is the model's"


def alternation(body: Json) -> Iterator[str]:
    found = [content.get("role", "user") == "model" for _, content in contents(body)]
    for index, (before, role) in enumerate(pairwise(found), 1):
        if before == role:
            yield f"contents[{index}]: two contents of one role in a row"


def calls_after_user(body: Json) -> Iterator[str]:
    before: Json | None = None
    for index, content in contents(body):
        if of_kind(content, "functionCall") and (before is None or before.get("role") == "model"):
            yield f"contents[{index}]: a function call has to come right after the user or a function response"
        before = content


def responses_after_calls(body: Json) -> Iterator[str]:
    before: Json = {}
    for index, content in contents(body):
        if of_kind(content, "functionResponse") and not of_kind(before, "functionCall"):
            yield f"contents[{index}]: a function response has to come right after its function call"
        before = content


def counts(body: Json) -> Iterator[str]:
    every = [content for _, content in contents(body)]
    for index, (content, following) in enumerate(zip(every, [*every[1:], {}], strict=False)):
        called, answered = len(of_kind(content, "functionCall")), len(of_kind(following, "functionResponse"))
        if called and called != answered:
            yield f"contents[{index}]: {called} function calls, {answered} function responses in the next content"


def pairs(body: Json) -> Iterator[str]:
    """Calls and responses of neighbours match by name in order, and by id where they have one."""
    every = [content for _, content in contents(body)]
    for index, (content, following) in enumerate(pairwise(every), 1):
        called, answered = of_kind(content, "functionCall"), of_kind(following, "functionResponse")
        if [call.get("name") for call in called[: len(answered)]] != [
            response.get("name") for response in answered[: len(called)]
        ]:
            yield f"contents[{index}]: the responses are not named as the calls, in their order"
        given = [[item.get("id") for item in side if item.get("id") is not None] for side in (called, answered)]
        if sorted(map(str, given[0])) != sorted(map(str, given[1])):
            yield f"contents[{index}]: the ids of the responses {given[1]} are not those of the calls {given[0]}"


def alone_with_responses(body: Json) -> Iterator[str]:
    for index, content in contents(body):
        kinds = ["functionResponse" in part for _, part in parts(content)]
        if any(kinds) and not all(kinds[: sum(kinds)]):
            yield f"contents[{index}]: function responses have to come before everything else"


def call_shape(body: Json) -> Iterator[str]:
    for where, part in every_part(body):
        for kind, shape in (("functionCall", CALL), ("functionResponse", RESPONSE)):
            if kind not in part:
                continue
            if not isinstance(part[kind], dict):
                yield f"{where}.{kind}: not an object"
                continue
            yield from shape.problems(part[kind], f"{where}.{kind}")
            yield from name_problems(part[kind].get("name"), NAME, f"{where}.{kind}.name")
            key = "args" if kind == "functionCall" else "response"
            if not isinstance(part[kind].get(key, {}), dict):
                yield f"{where}.{kind}.{key}: not an object"


def signatures(body: Json) -> Iterator[str]:
    for where, part in every_part(body):
        if "thoughtSignature" in part and not proto_bytes(part["thoughtSignature"]):
            yield f"{where}.thoughtSignature: not base64"


def signature_of_step(body: Json) -> Iterator[str]:
    """In the turn that is still open, either every step's first call carries a signature or none does."""
    every = contents(body)
    opened = max((at for at, (_, content) in enumerate(every) if is_spoken(content)), default=-1)
    steps = [(index, first_call(content)) for index, content in every[opened + 1 :] if of_kind(content, "functionCall")]
    if any("thoughtSignature" in call for _, call in steps):
        for index, call in steps:
            if "thoughtSignature" not in call:
                yield f"contents[{index}]: the first function call has no thoughtSignature, those of other steps have"


def is_spoken(content: Json) -> bool:
    return content.get("role", "user") == "user" and not of_kind(content, "functionResponse")


def first_call(content: Json) -> Json:
    return next((part for _, part in parts(content) if "functionCall" in part), {})


def media(body: Json) -> Iterator[str]:
    for where, part in every_part(body):
        yield from blob_problems(part.get("inlineData"), f"{where}.inlineData", given="inlineData" in part)
        response = part.get("functionResponse")
        for at, inner in objects(response.get("parts")) if isinstance(response, dict) else []:
            inner = camel(inner)
            yield from fields("inlineData").problems(inner, f"{where}.functionResponse.parts[{at}]")
            yield from blob_problems(inner.get("inlineData"), f"{where}.functionResponse.parts[{at}].inlineData", given=True)


def blob_problems(blob: object, where: str, *, given: bool) -> Iterator[str]:
    if not given:
        return
    if not isinstance(blob, dict):
        yield f"{where}: not an object"
        return
    yield from fields("mimeType data", "displayName").problems(blob, where)
    if text_of(blob.get("mimeType")).startswith(OTHER_MEDIA):
        if base64_bytes(blob.get("data")) is None:
            yield f"{where}: the data is not base64"
    else:
        yield from image_problems(blob.get("mimeType"), blob.get("data"), IMAGES, where)
