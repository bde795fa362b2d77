"""The block around a line, with its closing lines, the signatures around it and the imports of its file."""

import asyncio
from pathlib import Path

from msgspec import Struct

from ferrule.workspace.lines import LINE_LIMIT, LineReader, Window
from ferrule.workspace.outline.base import Outline, Span, Wanted
from ferrule.workspace.outline.choose import Choice, choose, fitting
from ferrule.workspace.outline.imports import LOOKED_AT, imports
from ferrule.workspace.reading.child import Hands

from .page import cut_notice, header, numbered, past_the_end

GAP = "----"


class Block(Struct, frozen=True):
    """`anchor` is a line; `room` are characters."""

    anchor: int
    wanted: Wanted
    room: int


async def block_page(reader: LineReader, path: Path, shown: str, block: Block, hands: Hands) -> str:
    """Raises ToolError, Unreadable, OSError."""
    window = await asyncio.to_thread(reader.window, path, block.anchor)
    if not window.lines:
        raise past_the_end("anchor_line", block.anchor, shown, window.total)
    outline = await _outline(path, window, block.anchor, hands)
    texts = dict(enumerate((line[:LINE_LIMIT] for line in window.lines), window.first))
    choice = _choice(outline, window, block)
    header_spans = choice.header
    if window.first > 1 and block.wanted.header:
        head = reader.page(path, 1, min(LOOKED_AT, window.first - 1))
        texts |= dict(enumerate(head.lines, 1))
        used = len(choice.shown) + sum(map(len, choice.header))
        header_spans += fitting(imports(head.lines), block.wanted.most - used)
    spans = _merged(sorted([*header_spans, choice.shown], key=lambda span: span.first))
    chosen = [number for span in spans for number in range(span.first, span.last + 1)]
    cut = [number for number in chosen if window.first <= number and len(window.lines[number - window.first]) > LINE_LIMIT]
    notices = [_notice(block, choice, window, outline), *cut_notice(cut)]
    width = len(str(spans[-1].last))
    groups = [numbered([(n, texts[n]) for n in range(span.first, span.last + 1)], width) for span in spans]
    body = [line for group in groups for line in (GAP, *group)][1:]
    return "\n".join([*header(shown, window.encoding), *notices, *body])


async def _outline(path: Path, window: Window, anchor: int, hands: Hands) -> Outline:
    """By syntax where the whole file is in the window, is not too large and parses; by indentation elsewhere."""
    from ferrule.workspace.outline.indentation import outline
    from ferrule.workspace.outline.parsed import parsed
    from ferrule.workspace.outline.syntax import PARSED, language_of

    whole = window.first == 1 and window.ends and sum(map(len, window.lines)) <= PARSED
    if whole and language_of(path, window.lines[0]) is not None:
        found = await parsed(path, anchor, hands)
        last = len(window.lines)
        if found is not None and found.anchor <= last and all(frame.end <= last for frame in found.frames):
            return found
    return await asyncio.to_thread(outline, window.lines, anchor - window.first + 1, window.ends)


def _choice(outline: Outline, window: Window, block: Block) -> Choice:
    """In the numbers of the file; of fewer lines where these have too many characters."""
    wanted = block.wanted
    while True:
        choice = choose(outline, window.lines, wanted)
        spans = (choice.shown, *choice.header)
        size = sum(min(len(line), LINE_LIMIT) for span in spans for line in window.lines[span.first - 1 : span.last])
        if size <= block.room or wanted.most == 1:
            break
        most = min(wanted.most, sum(map(len, spans)))
        wanted = Wanted(wanted.levels, wanted.siblings, wanted.header, max(1, min(most - 1, most * block.room // size)))
    by = window.first - 1
    return Choice(_moved(choice.block, by), _moved(choice.shown, by), tuple(_moved(s, by) for s in choice.header), choice.open)


def _moved(span: Span, by: int) -> Span:
    return Span(span.first + by, span.last + by)


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in spans:
        if merged and span.first <= merged[-1].last + 1:
            merged[-1] = Span(merged[-1].first, max(merged[-1].last, span.last))
        else:
            merged.append(span)
    return merged


def _notice(block: Block, choice: Choice, window: Window, outline: Outline) -> str:
    whole, shown = choice.block, choice.shown
    past = " and further" if choice.open else ""
    part = f" of {whole.first}-{whole.last}{past}" if shown != whole or choice.open else ""
    total = "" if window.total is None else f", of {window.total} in the file"
    said = f"Block around line {block.anchor}, by {outline.by}: lines {shown.first}-{shown.last}{part}{total}."
    if shown.last < whole.last:
        said += f" Go on with mode=slice, offset={shown.last + 1} and limit={whole.last - shown.last}."
    elif choice.open:
        said += f" Go on with mode=slice and offset={shown.last + 1}."
    if shown.first > whole.first:
        said += f" What stands before: mode=slice, offset={whole.first} and limit={shown.first - whole.first}."
    if window.first > 1:
        said += f" Blocks that begin before line {window.first} were not looked for."
    return said
