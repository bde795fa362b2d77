"""Takes off arguments what a model or its server put around a whole JSON object, or straightens the quotes of one.

Never done: closing what is open, guessing a value, choosing between two readings. Bounds after OpenClaw's repair of arguments.
"""

import re
from collections.abc import Sequence
from typing import Any

LONGEST = 64_000
"""Characters; what is longer is not looked at."""
LEADING, TRAILING = 96, 3
"""Characters that may stand before and behind the object."""

_FENCE = re.compile(r"\s*```[a-z]{0,10}[ \t]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)
_LEADING = re.compile(
    r"(?:[^\w\s\"'“”{}\[\],]|functions?\b|tools?\b|json\b|arguments\b|call\b)[\w\s.:<>|/=#*()\-]*", re.IGNORECASE
)
_TRAILING = re.compile(r"[\s}\]);,.`>|]*")
_SMART = "“”„‟«»＂"


def mend(text: str, known: Sequence[str] = ()) -> tuple[str, str] | None:
    """The text of the one object in `text`, and what was done; None where there is none that is whole.

    `known` are the parameters of the tool, which tell quotes around a key from quotes in a text.
    """
    if len(text) > LONGEST:
        return None
    body, done = text, []
    if fenced := _FENCE.fullmatch(body):
        body = fenced[1]
        done.append("a code fence was taken off")
    if (found := _prefix(body)) is not None:
        start, end = found
        around = [f"{count} {where} character(s) dropped" for count, where in _around(body, start, end) if count]
        return body[start:end], "; ".join([*done, *around]) or "white space taken off"
    if any(quote in body for quote in _SMART):
        from .quotes import straightened

        if (straight := straightened(body.strip(), known)) is not None:
            return straight, "; ".join([*done, "typographic quotes straightened"])
    return None


def _around(body: str, start: int, end: int) -> tuple[tuple[int, str], tuple[int, str]]:
    return (len(body[:start].strip()), "leading"), (len(body[end:].strip()), "trailing")


def _prefix(text: str) -> tuple[int, int] | None:
    """Where the object that begins at the first brace stands, if it is whole and little else is around it."""
    import json

    start = text.find("{")
    if start < 0:
        return None
    leading = text[:start].strip()
    if len(leading) > LEADING or (leading and not _LEADING.fullmatch(leading)):
        return None
    try:
        value, end = json.JSONDecoder(strict=False, parse_constant=_refused).raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    trailing = text[end:].strip()
    if not isinstance(value, dict) or len(trailing) > TRAILING or not _TRAILING.fullmatch(trailing):
        return None
    return start, end


def _refused(constant: str) -> Any:
    raise ValueError(constant)
