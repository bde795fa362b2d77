"""One lenient decoder for JSON that a provider or a model wrote, and an encoder that never fails on what it let in.

Accepted beyond the standard, each reported as a note: raw control characters inside strings, `NaN` and infinities (read as
null), halves of surrogate pairs (kept in the value, so that the other half may still come: `mend`), bytes that are not UTF-8, a
byte order mark. The last of duplicate keys wins. Everything else that is not JSON is a `BadJson` value, never an exception.
"""

import re
from typing import Any

import msgspec

MAX_DEPTH = 500

_SURROGATE = re.compile("[\ud800-\udfff]")
_HIGH_AT_END = re.compile("[\ud800-\udbff]\\Z")
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()


class BadJson(msgspec.Struct, frozen=True):
    """Why a text is not JSON, in words that may be shown to whoever wrote it."""

    reason: str


def loads(source: str | bytes) -> tuple[Any, tuple[str, ...]]:
    """The value (or `BadJson`) and one note for every kind of fault that was let through. Strings may hold lone surrogates."""
    opening = (source.count("[") + source.count("{")) if isinstance(source, str) else (source.count(b"[") + source.count(b"{"))
    if opening <= MAX_DEPTH:
        try:
            return _decoder.decode(source), ()
        except (msgspec.DecodeError, UnicodeEncodeError):
            pass
    return _loads_leniently(source)


def _loads_leniently(source: str | bytes) -> tuple[Any, tuple[str, ...]]:
    import json

    notes: list[str] = []
    text = source if isinstance(source, str) else _text(source, notes)
    text = text.removeprefix("\ufeff")
    if _depth(text) > MAX_DEPTH:
        return BadJson(f"nested deeper than {MAX_DEPTH} levels"), tuple(notes)

    def constant(name: str) -> None:
        notes.append(f"{name} read as null")

    def number(digits: str) -> float | None:
        value = float(digits)
        if value not in (float("inf"), float("-inf")):
            return value
        notes.append("a number out of range read as null")
        return None

    try:
        value = json.loads(text, strict=False, parse_constant=constant, parse_float=number)
    except json.JSONDecodeError as error:
        return BadJson(f"{error.msg} at line {error.lineno}, column {error.colno}"), tuple(notes)
    except ValueError as error:
        return BadJson(str(error)), tuple(notes)
    if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", text) or _has_raw_breaks(text):
        notes.append("raw control characters inside a string")
    return value, tuple(dict.fromkeys(notes))


def _text(source: bytes, notes: list[str]) -> str:
    try:
        return source.decode()
    except UnicodeDecodeError:
        notes.append("bytes that are not UTF-8 replaced")
        return source.decode(errors="replace")


def _has_raw_breaks(text: str) -> bool:
    strings = (match[0] for match in _STRING_OR_BRACKET.finditer(text) if match[0].startswith('"'))
    return any(character in string for string in strings for character in "\t\n\r")


def _depth(text: str) -> int:
    depth = deepest = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        token = match[0]
        if token in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token in "]}":
            depth -= 1
    return deepest


def encode(value: Any) -> bytes:
    """Compact JSON. Surrogate halves in strings are mended first, so that every value that `loads` gave can be encoded."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(_mended(value))


def _mended(value: Any) -> Any:
    match value:
        case str():
            return mend(value)
        case dict():
            return {_mended(key): _mended(item) for key, item in value.items()}
        case list() | tuple():
            return [_mended(item) for item in value]
        case msgspec.Struct():
            return _mended(msgspec.to_builtins(value))
        case _:
            return value


def mend(text: str) -> str:
    """Join the halves of surrogate pairs and replace every half that is alone by U+FFFD."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def open_half(text: str) -> str:
    """The first half of a pair that `text` ends with, else the empty string."""
    return text[-1:] if _HIGH_AT_END.search(text) else ""


def member(value: Any, *path: str | int) -> Any:
    """What stands at `path` in decoded JSON, None where anything on the way is missing or of another kind."""
    for key in path:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value


def string(value: Any, *path: str | int) -> str:
    """The string at `path`, empty where there is none."""
    found = member(value, *path)
    return found if isinstance(found, str) else ""


def integer(value: Any, *path: str | int) -> int | None:
    """The whole number at `path`, as a number or as digits; None where there is none."""
    found = member(value, *path)
    match found:
        case bool():
            return None
        case int():
            return found
        case float() if found.is_integer():
            return int(found)
        case str() if found.isascii() and found.isdigit() and len(found) < 19:
            return int(found)
        case _:
            return None


def items(value: Any, *path: str | int) -> list[Any]:
    """The list at `path`, empty where there is none."""
    found = member(value, *path)
    return found if isinstance(found, list) else []
