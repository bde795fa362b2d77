"""What all four judges share: reading a body, walking it, and the checks of text, images and base64.

Everything here takes any JSON value and never raises: a value of the wrong shape simply yields nothing, because the rule
that is about its shape has already spoken.
"""

import base64
import binascii
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
SURROGATE = re.compile("[\ud800-\udfff]")
URL = re.compile(r"https?://[^\s/]+\S*")
DATA_URL = re.compile(r"data:([^;,]*);base64,(.*)", re.DOTALL)


@dataclass(frozen=True)
class Fields:
    """The keys that an object must and may have."""

    required: frozenset[str]
    optional: frozenset[str] = frozenset()

    def problems(self, value: Json, where: str) -> Iterator[str]:
        for key in sorted(self.required - value.keys()):
            yield f"{where}: {key!r} is missing"
        for key in sorted(value.keys() - self.required - self.optional):
            yield f"{where}: {key!r} is not a known field"


def fields(required: str, optional: str = "") -> Fields:
    return Fields(frozenset(required.split()), frozenset(optional.split()))


def read(body: object) -> tuple[Any, list[str]]:
    """The decoded body, and what is wrong with it as JSON text. Bytes are what would be sent; a dict is what was decoded."""
    if not isinstance(body, bytes):
        return body, list(value_problems(body))
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        return None, [f"the body is not UTF-8: {error}"]
    twice: list[str] = []

    def unique(pairs: list[tuple[str, Any]]) -> Json:
        seen = dict(pairs)
        if len(seen) != len(pairs):
            twice.append(f"an object has a key twice: {sorted(key for key, _ in pairs)}")
        return seen

    try:
        value = json.loads(text, object_pairs_hook=unique, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        return None, [f"the body is not JSON: {error}"]
    return value, [*twice, *value_problems(value)]


def _finite(number: str) -> float:
    """JSON text may hold a number that is too large for a float; it is a number all the same."""
    return max(-sys.float_info.max, min(float(number), sys.float_info.max))


def value_problems(value: object, where: str = "body") -> Iterator[str]:
    """Values that JSON text in UTF-8 cannot hold."""
    match value:
        case str():
            if SURROGATE.search(value):
                yield f"{where}: a half surrogate pair"
        case bool() | int() | None:
            pass
        case float():
            if not math.isfinite(value):
                yield f"{where}: {value} is not a JSON number"
        case list():
            for index, item in enumerate(value):
                yield from value_problems(item, f"{where}[{index}]")
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    yield f"{where}: the key {key!r} is not a string"
                elif SURROGATE.search(key):
                    yield f"{where}: a half surrogate pair in a key"
                yield from value_problems(item, f"{where}.{key}")
        case _:
            yield f"{where}: a {type(value).__name__} is not a JSON value"


def objects(value: object) -> list[tuple[int, Json]]:
    """The objects in a list, with their positions."""
    if not isinstance(value, list):
        return []
    return [(index, item) for index, item in enumerate(value) if isinstance(item, dict)]


def filled(value: object) -> bool:
    """A list with something in it."""
    return isinstance(value, list) and len(value) > 0


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    """The strings in a list."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def repeated(values: Iterable[str]) -> list[str]:
    """Each value that occurs more than once, in the order of its second occurrence."""
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for value in values:
        if value in seen:
            twice[value] = None
        seen.add(value)
    return list(twice)


def name_problems(value: object, pattern: re.Pattern[str], where: str) -> Iterator[str]:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        yield f"{where}: {value!r} does not match {pattern.pattern}"


def base64_bytes(data: object) -> bytes | None:
    """The bytes behind canonical base64 text without line breaks; None if it isn't that."""
    if not isinstance(data, str) or not data:
        return None
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None


def proto_bytes(data: object) -> bool:
    """Base64 as protocol buffers read it in JSON: either alphabet, with or without padding."""
    if not isinstance(data, str) or not data:
        return False
    standard = data.replace("-", "+").replace("_", "/").rstrip("=")
    return base64_bytes(standard + "=" * (-len(standard) % 4)) is not None


def sniffed(data: bytes) -> str | None:
    """The image type that the first bytes say."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:12] in (b"ftypheic", b"ftypheix", b"ftypmif1", b"ftypheif"):
        return "image/heic"
    return None


def image_problems(media_type: object, data: object, allowed: frozenset[str], where: str) -> Iterator[str]:
    if text_of(media_type) not in allowed:
        yield f"{where}: {media_type!r} is not one of {', '.join(sorted(allowed))}"
    content = base64_bytes(data)
    if content is None:
        yield f"{where}: the data is not base64"
        return
    found = sniffed(content)
    same = {found, "image/heif"} if found == "image/heic" else {found}
    if found is None:
        yield f"{where}: the data is not an image"
    elif text_of(media_type) not in same:
        yield f"{where}: declared as {media_type!r}, but the data is {found}"


def image_url_problems(url: object, allowed: frozenset[str], where: str) -> Iterator[str]:
    """An image given as `https:` or `data:` URL."""
    if not isinstance(url, str):
        yield f"{where}: the URL is not a string"
    elif match := DATA_URL.fullmatch(url):
        yield from image_problems(match[1], match[2], allowed, where)
    elif not URL.fullmatch(url):
        yield f"{where}: {url[:40]!r} is neither an http nor a base64 data URL"


def json_object_problems(value: object, where: str) -> Iterator[str]:
    """Arguments that have to be the text of a JSON object."""
    if not isinstance(value, str):
        yield f"{where}: the arguments are not a string"
        return
    try:
        decoded = json.loads(value, parse_float=_finite)
    except (ValueError, RecursionError):
        yield f"{where}: the arguments are not JSON"
        return
    if not isinstance(decoded, dict):
        yield f"{where}: the arguments are JSON, but not an object"
    yield from value_problems(decoded, f"{where} arguments")
