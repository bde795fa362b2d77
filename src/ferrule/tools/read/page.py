"""Pages of numbered lines, and pieces of lines too long for a page."""

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from ferrule.types.errors import ToolError
from ferrule.workspace.encoding import UTF_8, Encoding
from ferrule.workspace.lines import LINE_LIMIT, PIECE, LineReader, Page, Piece
from ferrule.workspace.reading.documents import Document

LARGE = 1_048_576
"""Bytes from which on a file is read in a thread, so that nothing else waits for it."""
NAMED = 10
"""Cut lines that are named."""


class Slice(Struct, frozen=True):
    """Lines from `offset`, in the first of them from character `column`; at most `limit` lines and `room` characters."""

    offset: int
    limit: int
    column: int
    room: int


async def text_page(reader: LineReader, path: Path, shown: str, wanted: Slice) -> str:
    """Raises ToolError, Unreadable, OSError."""
    large = path.stat().st_size >= LARGE
    if wanted.column > 1:
        piece = partial(reader.piece, path, wanted.offset, wanted.column, min(PIECE, wanted.room))
        return _piece(shown, [], await asyncio.to_thread(piece) if large else piece(), wanted)
    page = partial(reader.page, path, wanted.offset, wanted.limit, wanted.room)
    return _page(shown, [], await asyncio.to_thread(page) if large else page(), wanted)


def document_page(document: Document, shown: str, wanted: Slice) -> str:
    """The same of a document's lines. Raises ToolError."""
    head = [f"Document: {document.facts}"]
    if wanted.column > 1:
        line = "".join(document.lines[wanted.offset - 1 : wanted.offset])[wanted.column - 1 :]
        room = min(PIECE, wanted.room)
        return _piece(shown, head, Piece(line[:room], len(line) > room, UTF_8) if line else None, wanted)
    return _page(shown, head, _fitted(document.lines, wanted), wanted)


def past_the_end(name: str, line: int, shown: str, total: int | None) -> ToolError:
    has = "fewer lines" if total is None else f"{total} line" + ("" if total == 1 else "s")
    return ToolError(f"`{name}` {line} is past the end: {shown} has {has}.")


def header(shown: str, encoding: Encoding) -> list[str]:
    return [f"File: {shown}"] if encoding.plain else [f"File: {shown}", f"Encoding: {encoding.label}"]


def cut_notice(cut: Sequence[int]) -> list[str]:
    if not cut:
        return []
    named = ", ".join(str(number) for number in cut[:NAMED]) + (", …" if len(cut) > NAMED else "")
    return [f"Cut at {LINE_LIMIT} characters: line {named}. Read on in a line with offset=LINE and column={LINE_LIMIT + 1}."]


def numbered(lines: Iterable[tuple[int, str]], width: int) -> list[str]:
    return [f"{number:>{width}} | {line}" for number, line in lines]


def _page(shown: str, head: list[str], page: Page, wanted: Slice) -> str:
    head = [*header(shown, page.encoding), *head]
    if not page.lines:
        if page.total:
            raise past_the_end("offset", wanted.offset, shown, page.total)
        return "\n".join([*head, "The file is empty."])
    if page.more:
        of = "more lines follow" if page.total is None else f"of {page.total}"
        head.append(f"Lines {page.first}-{page.last}, {of}. Go on with offset={page.last + 1} and limit={wanted.limit}.")
    head += cut_notice(page.cut)
    return "\n".join([*head, *numbered(enumerate(page.lines, page.first), len(str(page.last)))])


def _piece(shown: str, head: list[str], piece: Piece | None, wanted: Slice) -> str:
    line, column = wanted.offset, wanted.column
    if piece is None:
        raise ToolError(f"{shown} has no character {column} in line {line}.")
    end = column + len(piece.text) - 1
    on = f"Go on with offset={line} and column={end + 1}." if piece.more else f"The line ends here; go on with offset={line + 1}."
    notice = f"Line {line}, characters {column}-{end}. {on}"
    return "\n".join([*header(shown, piece.encoding), *head, notice, *numbered([(line, piece.text)], len(str(line)))])


def _fitted(lines: Sequence[str], wanted: Slice) -> Page:
    size, count = 0, 0
    for line in lines[wanted.offset - 1 : wanted.offset - 1 + wanted.limit]:
        size += min(len(line), LINE_LIMIT)
        if size > wanted.room and count:
            break
        count += 1
    taken = lines[wanted.offset - 1 : wanted.offset - 1 + count]
    cut = tuple(number for number, line in enumerate(taken, wanted.offset) if len(line) > LINE_LIMIT)
    more = wanted.offset - 1 + count < len(lines)
    return Page(wanted.offset, tuple(line[:LINE_LIMIT] for line in taken), more and count > 0, len(lines), cut, UTF_8)
