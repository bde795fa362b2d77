"""A file cut into pieces of a size that can be compared and shown, preferably where something begins. Pure."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

FEWEST, MOST = 15, 60
"""Lines of a piece: from `FEWEST` on it ends where something begins at the margin, at `MOST` it ends anyway."""
WIDEST = 1_000
"""Characters of a line that are looked at."""


class Piece(Struct, frozen=True):
    """Lines from 1, the last one included."""

    first: int
    last: int
    text: str


def pieces(text: str) -> Iterator[Piece]:
    lines = [line[:WIDEST].rstrip() for line in text.split("\n")]
    start = 0
    while start < len(lines):
        end = _end(lines, start)
        piece = "\n".join(lines[start:end])
        if piece.strip():
            yield Piece(start + 1, end, piece)
        start = end


def _end(lines: Sequence[str], start: int) -> int:
    for at in range(start + FEWEST, min(start + MOST, len(lines))):
        if lines[at] and not lines[at - 1] and not lines[at][0].isspace() and lines[at][0] not in ")]}":
            return at
    return min(start + MOST, len(lines))
