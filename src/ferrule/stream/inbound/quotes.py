"""Objects whose strings stand in typographic quotes, as some models write them: one flat object of known parameters."""

import re
from collections.abc import Sequence
from typing import Any

from ferrule.types import json

_OPEN, _CLOSE = '“„‟«”＂"', '”“»‟＂"'
_STRING = re.compile(rf"[{_OPEN}](.*)[{_CLOSE}]", re.DOTALL)
_HIDDEN_KEY = re.compile(rf"[{_CLOSE}]\s*,\s*[{_OPEN}][^{_OPEN}{_CLOSE}]{{1,64}}[{_CLOSE}]\s*:")
_TO_ESCAPE = re.compile(r'\\.|["\x00-\x1f]', re.DOTALL)


def straightened(text: str, known: Sequence[str]) -> str | None:
    """The text of the same object in straight quotes; None where it is doubtful what is meant.

    A string ends only where a known parameter or the end of the object follows, so that quotes inside a text stay as they are. A
    parameter that comes twice and one that is unknown are doubtful.
    """
    if not known or not text.startswith("{") or not text.endswith("}"):
        return None
    names = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    key = rf"\s*[{_OPEN}](?P<key>{names})[{_CLOSE}]\s*:\s*"
    first = re.compile(key).match(text, 1)
    if first is None:
        return None
    found = [first, *re.compile(f",{key}").finditer(text, first.end())]
    ends = [*(match.start() for match in found[1:]), len(text) - 1]
    read: dict[str, Any] = {}
    for match, end in zip(found, ends, strict=True):
        value = _value(text[match.end() : end].strip())
        if isinstance(value, json.BadJson) or match["key"] in read:
            return None
        read[match["key"]] = value
    return json.encode(read).decode()


def _value(written: str) -> Any:
    string = _STRING.fullmatch(written)
    if string is None:
        return json.loads(written)[0]
    if _HIDDEN_KEY.search(string[1]):
        return json.BadJson("a parameter that is not known")
    escaped = _TO_ESCAPE.sub(lambda found: found[0] if found[0][0] == "\\" else json.encode(found[0]).decode()[1:-1], string[1])
    return json.loads(f'"{escaped}"')[0]
