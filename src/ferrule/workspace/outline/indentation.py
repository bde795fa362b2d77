"""Blocks by indentation alone, for every language."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from .base import Frame, Outline
from .imports import imports
from .indents import Unit, unit
from .words import DECORATION, comment, continues, leads_back, passing

SAMPLED = 2_000
"""Lines on either side of the anchor by which the unit is told."""
SIGNATURE = 50
"""Lines that a signature may have."""


def outline(lines: Sequence[str], anchor: int, ends: bool = True) -> Outline:
    """The blocks around a line of `lines`, both counted from 1. `ends`: the last line is that of the file."""
    reader = Reader(lines, unit(lines[max(0, anchor - SAMPLED) : anchor + SAMPLED]), ends)
    meant = reader.meant(anchor - 1)
    if meant is None:
        return Outline(anchor, (), False, (), "indentation", ends)
    frames, own = reader.frames(meant)
    return Outline(meant + 1, frames, own, imports(lines), f"indentation ({reader.unit.label})", ends)


class Reader:
    """Lines by index, from 0."""

    def __init__(self, lines: Sequence[str], unit: Unit, ends: bool) -> None:
        self.unit = unit
        self._lines = lines
        self._ends = ends

    def meant(self, at: int) -> int | None:
        """A blank line stands for what follows it, as do a comment no deeper and a decoration; the last for what precedes."""
        following = next(self._significant(range(at, len(self._lines))), None)
        if not self._lines[at].strip():
            before = next(self._written(range(at, -1, -1)), None)
            return before if following is None else self._decorated(following)
        if passing(self._lines[at]) and following is not None and self._level(at) <= self._level(following):
            return self._decorated(following)
        return self._decorated(at)

    def _decorated(self, at: int) -> int:
        """What the decoration at `at` belongs to; itself where it is none."""
        if not DECORATION.match(self._lines[at]):
            return at
        level = self._level(at)
        for below in self._significant(range(at + 1, len(self._lines))):
            line = self._lines[below]
            if self._level(below) <= level and not DECORATION.match(line) and line.lstrip()[0] not in ")]":
                return below if self._level(below) == level else at
        return at

    def frames(self, anchor: int) -> tuple[tuple[Frame, ...], bool]:
        """Outermost first, and whether the last one is headed or closed by the anchor's own line."""
        found: list[Frame] = []
        at: int | None = anchor
        while at is not None:
            head = self._head(at)
            frame = self._frame(head)
            if frame.end > frame.start and frame.start <= anchor + 1 <= frame.end:
                found.append(frame)
            at = self._parent(head)
        own = bool(found) and (self._head(anchor) + 1 == found[0].start or found[0].start <= anchor + 1 < found[0].body)
        return tuple(reversed(found)), own

    def _level(self, at: int) -> int:
        return self.unit.level(self._lines[at])

    def _written(self, span: range) -> Iterator[int]:
        return (at for at in span if self._lines[at].strip())

    def _significant(self, span: range) -> Iterator[int]:
        return (at for at in self._written(span) if not passing(self._lines[at]))

    def _parent(self, head: int) -> int | None:
        level = self._level(head)
        if level == 0:
            return None
        return next((at for at in self._significant(range(head - 1, -1, -1)) if self._level(at) < level), None)

    def _head(self, at: int) -> int:
        """The line that opens the block which the line at `at` continues; itself where it continues none."""
        if not leads_back(self._lines[at]):
            return at
        level = self._level(at)
        for above in self._significant(range(at - 1, -1, -1)):
            depth = self._level(above)
            if depth < level:
                break
            if depth == level and not leads_back(self._lines[above]):
                before = next(self._written(range(at - 1, -1, -1)), above)
                return above if continues(self._lines[at], self._lines[above], self._lines[before]) else at
        return at

    def _frame(self, head: int) -> Frame:
        if (decorated := self._decorated(head)) != head:
            return replace(self._frame(decorated), start=head + 1)
        last, reached = self._last(head)
        level = self._level(head)
        closed = last > head and self._level(last) == level
        tail = next(self._written(range(last - 1, head, -1)), head) if closed else last
        return Frame(head + 1, min(self._body(head, last), last) + 1, tail + 1, last + 1, not reached)

    def _last(self, head: int) -> tuple[int, bool]:
        """The last line of the block, and whether its end was seen."""
        level, line = self._level(head), self._lines[head]
        last = head
        for at in self._written(range(head + 1, len(self._lines))):
            depth = self._level(at)
            if depth > level:
                last = at
            elif passing(self._lines[at]):
                continue
            elif depth == level and continues(self._lines[at], line, self._lines[last]):
                last = at
            else:
                return last, True
        return last, self._ends

    def _body(self, head: int, last: int) -> int:
        """The first line behind the signature, whose parentheses may stand on several lines."""
        depth = 0
        for at in range(head, min(head + SIGNATURE, last + 1)):
            depth += self._lines[at].count("(") - self._lines[at].count(")")
            if depth <= 0:
                opened = at < last and self._lines[at + 1].strip() == "{"
                return at + 1 + opened if at < last else head + 1
        return head + 1


def attached(lines: Sequence[str], first: int, comments: bool) -> int:
    """The first of the decorations and comments that stand directly above line `first`, both counted from 1."""
    at = first - 1
    indent = _indent(lines[at]) if at < len(lines) else ""
    while at > 0 and lines[at - 1].strip():
        above = lines[at - 1]
        if DECORATION.match(above) or (comments and comment(above)):
            if not _indent(above).startswith(indent):
                break
            at -= 1
        elif above.strip() in (")", ")]") and (opener := _opened(lines, at - 1)) is not None:
            at = opener
        else:
            break
    return at + 1


def _opened(lines: Sequence[str], closing: int) -> int | None:
    """The decoration that ends with the lone parenthesis at `closing`."""
    indent = _indent(lines[closing])
    for at in range(closing - 1, max(-1, closing - SIGNATURE), -1):
        if lines[at].strip() and len(_indent(lines[at])) <= len(indent):
            return at if DECORATION.match(lines[at]) else None
    return None


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
