"""Which lines of a file a reader is shown of the blocks around a line."""

from collections.abc import Sequence

from msgspec import Struct

from .base import Outline, Span, Wanted
from .indentation import attached

HEADED = 4
"""A block that is cut leaves one line of so many to imports and signatures."""


class Choice(Struct, frozen=True):
    """`block` is what was asked for, `shown` the part of it that there is room for, `header` what is shown beside it.

    `open`: the block goes on behind the lines that were looked at.
    """

    block: Span
    shown: Span
    header: tuple[Span, ...]
    open: bool


def choose(outline: Outline, lines: Sequence[str], wanted: Wanted) -> Choice:
    """Of lines that begin with line 1 of the outline."""
    around = outline.frames[:-1] if outline.own else outline.frames
    depth = min(wanted.levels, len(around)) if wanted.levels else len(around)
    frame = around[-depth] if depth else outline.frames[-1] if outline.own else None
    block = Span(frame.start, frame.end) if frame else Span(outline.anchor, outline.anchor)
    cut_off = frame.open if frame else False
    if wanted.siblings:
        outer = around[-depth - 1] if depth < len(around) else None
        block = Span(outer.body, outer.tail) if outer else Span(1, len(lines))
        cut_off = outer.open if outer else not outline.ends
    else:
        block = Span(attached(lines, block.first, wanted.header), block.last)
    block = _trimmed(block, lines, outline.anchor)
    shown, header = _cut(outline, block, wanted)
    return Choice(block, shown, header, cut_off)


def _cut(outline: Outline, block: Span, wanted: Wanted) -> tuple[Span, tuple[Span, ...]]:
    """What there is room for of the block, and of what heads it; room that the one does not need goes to the other."""

    def headed(shown: Span) -> tuple[Span, ...]:
        return _header(outline, shown) if wanted.header else ()

    header = headed(block)
    if len(block) + _size(header) > wanted.most:
        reserved = min(_size(headed(Span(outline.anchor, outline.anchor))), wanted.most // HEADED)
        shown = _around(outline.anchor, block, wanted.most - reserved)
        left = reserved - min(reserved, _size(headed(shown)))
        block = _around(outline.anchor, block, len(shown) + left)
    return block, fitting(headed(block), wanted.most - len(block))


def _trimmed(span: Span, lines: Sequence[str], anchor: int) -> Span:
    first, last = span.first, span.last
    while first < anchor and not lines[first - 1].strip():
        first += 1
    while last > anchor and not lines[last - 1].strip():
        last -= 1
    return Span(first, last)


def _around(anchor: int, block: Span, most: int) -> Span:
    """As much of the block as there is room for, as evenly around the anchor as its ends allow."""
    first = max(block.first, anchor - (most - 1) // 2)
    last = min(block.last, first + most - 1)
    return Span(max(block.first, last - most + 1), last)


def _header(outline: Outline, shown: Span) -> tuple[Span, ...]:
    """Signatures of the blocks around, innermost first, then the imports, without what is shown anyway."""
    spans = (*(frame.signature for frame in reversed(outline.frames)), *outline.imports)
    return tuple(part for span in spans for part in _outside(span, shown))


def _outside(span: Span, shown: Span) -> tuple[Span, ...]:
    before = Span(span.first, min(span.last, shown.first - 1))
    behind = Span(max(span.first, shown.last + 1), span.last)
    return tuple(part for part in (before, behind) if part.first <= part.last)


def fitting(spans: Sequence[Span], most: int) -> tuple[Span, ...]:
    """The first of the spans, the last of these cut where the room ends; in the order of the file."""
    chosen: list[Span] = []
    for span in spans:
        if len(span) > most:
            span = Span(span.first, span.first + most - 1)
        if len(span):
            chosen.append(span)
            most -= len(span)
    return tuple(sorted(chosen, key=lambda span: span.first))


def _size(spans: Sequence[Span]) -> int:
    return sum(map(len, spans))
