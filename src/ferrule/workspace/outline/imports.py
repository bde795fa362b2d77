"""The lines by which a file says what it uses from elsewhere."""

from collections.abc import Sequence

from .base import Span
from .words import IMPORT

LOOKED_AT = 400
"""Lines from the start of a file; imports further down serve one place only."""
LONGEST = 100


def imports(lines: Sequence[str]) -> tuple[Span, ...]:
    """Runs of imports at the margin, each with the lines up to its closing bracket; blank lines between two do not part them."""
    spans: list[Span] = []
    at = 0
    while at < min(LOOKED_AT, len(lines)):
        if IMPORT.match(lines[at].lstrip("\ufeff")) is None:
            at += 1
            continue
        end = _end(lines, at)
        if spans and not any(line.strip() for line in lines[spans[-1].last : at]):
            spans[-1] = Span(spans[-1].first, end + 1)
        else:
            spans.append(Span(at + 1, end + 1))
        at = end + 1
    return tuple(spans)


def _end(lines: Sequence[str], start: int) -> int:
    """The last line of the import that begins at `start`: its brackets are closed there and no backslash goes on."""
    depth = 0
    for at in range(start, min(start + LONGEST, len(lines))):
        depth += sum((character in "([{") - (character in ")]}") for character in lines[at])
        if depth <= 0 and not lines[at].rstrip().endswith("\\"):
            return at
    return start
