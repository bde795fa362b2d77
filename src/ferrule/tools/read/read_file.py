"""`read_file`: numbered lines of files, the block around a line, the text of documents, pictures."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.tools.seen import SeenFiles
from ferrule.types.errors import ToolError
from ferrule.types.messages import Image, Text
from ferrule.types.names import spell
from ferrule.types.tools import Action, Effect, ToolOutput
from ferrule.workspace.lines import LINE_LIMIT, PAGE_LIMIT, LineReader
from ferrule.workspace.near import near_names
from ferrule.workspace.outline.base import Wanted
from ferrule.workspace.reading.child import Hands, Unshowable
from ferrule.workspace.reading.documents import Documents, sniffed
from ferrule.workspace.reading.regular import Unreadable

from .page import Slice, document_page, text_page

FILES = 50
"""Files of one call."""
PICTURES = 10
PICTURE_BYTES = 6_000_000
"""Encoded bytes of all pictures of one call."""
SEPARATOR = "\n\n---\n\n"

Line = Annotated[int, Meta(description="First line, counted from 1.")]
Count = Annotated[int, Meta(description="Most lines to return.")]
Anchor = Annotated[int | None, Meta(description="Line whose block is returned.")]


class FilePart(Struct, frozen=True, forbid_unknown_fields=True):
    """One of several files."""

    path: str
    offset: int = 1
    limit: int = 2_000
    anchor_line: int | None = None


class ReadFile(Struct, frozen=True):
    path: Annotated[str | None, Meta(description="File, relative to the workspace or absolute.")] = None
    files: Annotated[tuple[FilePart, ...] | None, Meta(description="Several files instead of `path`.")] = None
    offset: Line = 1
    limit: Count = 2_000
    column: Annotated[int, Meta(description="First character of line `offset`, to read on in a cut line.")] = 1
    mode: Annotated[
        Literal["slice", "indentation"] | None,
        Meta(description="Lines from `offset` on, or the block around `anchor_line`."),
    ] = None
    anchor_line: Anchor = None
    max_levels: Annotated[int, Meta(description="Blocks to go outwards; 0 for all.")] = 0
    include_siblings: Annotated[bool, Meta(description="Also what stands beside it.")] = False
    include_header: Annotated[bool, Meta(description="Also imports and signatures around it.")] = True
    max_lines: Annotated[int | None, Meta(description="Most lines of a block.")] = None


@dataclass(frozen=True)
class Readers:
    """What a session keeps of the files that it read."""

    lines: LineReader = field(default_factory=LineReader)
    documents: Documents = field(default_factory=Documents)
    seen: SeenFiles = field(default_factory=SeenFiles)


class Ask(Struct, frozen=True):
    """One file, and either lines or the block around one."""

    path: str
    offset: int
    limit: int
    column: int = 1
    anchor: int | None = None
    wanted: Wanted = Wanted()


class Shown(Struct, frozen=True):
    text: str
    image: Image | None = None


def read_file(seen: SeenFiles | None = None) -> Tool:
    """A tool of its own for each session: it keeps the line indexes and documents of the files that were read.

    `seen` is that of the tools that edit.
    """
    return Tool(
        name="read_file",
        description="Read one file or several as numbered lines `N | text`. Long files come in pages: a notice before the lines "
        f"names the next offset. Lines are cut at {LINE_LIMIT} characters. `anchor_line`, from a search or an error, gives the "
        "whole block around it, such as a function. PDF, Word, Excel and Jupyter files come as text, images as pictures.",
        params=ReadFile,
        effect=Effect.READ,
        actions=_actions,
        run=partial(_run, Readers(seen=seen or SeenFiles())),
    )


def _actions(params: ReadFile, place: Place) -> tuple[Action, ...]:
    paths = (params.path or "",) if params.files is None else tuple(part.path for part in params.files)
    return (Action("read", tuple(spell(str(place.resolve(path))) for path in dict.fromkeys(paths))),)


async def _run(readers: Readers, params: ReadFile, context: ToolContext) -> ToolOutput:
    asks = _asks(params)
    if params.files is None:
        shown = await _read(readers, asks[0], PAGE_LIMIT, context)
        return ToolOutput("ok", (Text(shown.text), *([shown.image] if shown.image else [])))
    return await _several(readers, asks, context)


async def _several(readers: Readers, asks: tuple[Ask, ...], context: ToolContext) -> ToolOutput:
    """Each file or why it was not read; together no more than one page."""
    sections: list[str] = []
    pictures: list[Image] = []
    room, failed = PAGE_LIMIT, 0
    for ask in asks:
        try:
            if room <= 0:
                raise ToolError(f"Not read: the {PAGE_LIMIT} characters of one call are used up. Read it in a call of its own.")
            shown = await _read(readers, ask, room, context)
            if shown.image:
                pictures.append(_fitting(shown.image, pictures))
            sections.append(shown.text + (f"\nIt is picture {len(pictures)} of this result." if shown.image else ""))
        except ToolError as problem:
            failed += 1
            sections.append(f"File: {context.place.shown(context.place.resolve(ask.path))}\nError: {problem}")
        room -= len(sections[-1])
    kind: Literal["ok", "error"] = "error" if failed == len(asks) else "ok"
    return ToolOutput(kind, (Text(SEPARATOR.join(sections)), *pictures))


def _fitting(picture: Image, before: list[Image]) -> Image:
    if len(before) == PICTURES or sum(len(each.data) for each in (*before, picture)) > PICTURE_BYTES:
        raise ToolError("Not shown: the pictures of one call are too many or too large. Read it in a call of its own.")
    return picture


def _asks(params: ReadFile) -> tuple[Ask, ...]:
    """Raises ToolError for numbers that make no sense."""
    if (params.path is None) == (params.files is None):
        raise ToolError("Name one file by `path`, or several by `files`.")
    if params.files is not None and not 1 <= len(params.files) <= FILES:
        raise ToolError(f"`files` must name 1 to {FILES} files, got {len(params.files)}.")
    if params.max_levels < 0:
        raise ToolError(f"`max_levels` must be at least 0, got {params.max_levels}.")
    most = params.limit if params.max_lines is None else min(params.limit, params.max_lines)
    blocks = params.mode == "indentation" or (params.mode is None and params.anchor_line is not None)
    if params.files is None:
        anchor = (params.anchor_line if params.anchor_line is not None else params.offset) if blocks else None
        wanted = Wanted(params.max_levels, params.include_siblings, params.include_header, most)
        asks = [Ask(params.path or "", params.offset, params.limit, params.column, anchor, wanted)]
    else:
        asks = [_part(part, params) for part in params.files]
    if params.max_lines is not None:
        _counted("max_lines", params.max_lines, "must be at least 1")
    for ask in asks:
        _counted("offset", ask.offset, "counts lines from 1")
        _counted("limit", ask.limit, "must be at least 1")
        _counted("column", ask.column, "counts characters from 1")
        _counted("anchor_line", 1 if ask.anchor is None else ask.anchor, "counts lines from 1")
    return tuple(asks)


def _part(part: FilePart, params: ReadFile) -> Ask:
    most = part.limit if params.max_lines is None else min(part.limit, params.max_lines)
    wanted = Wanted(params.max_levels, params.include_siblings, params.include_header, most)
    return Ask(part.path, part.offset, part.limit, 1, part.anchor_line, wanted)


def _counted(name: str, value: int, rule: str) -> None:
    if value < 1:
        raise ToolError(f"`{name}` {rule}, got {value}.")


async def _read(readers: Readers, ask: Ask, room: int, context: ToolContext) -> Shown:
    """Raises ToolError."""
    path = context.place.resolve(ask.path)
    shown = context.place.shown(path)
    try:
        return await _shown(readers, ask, room, path, shown, context)
    except (Unreadable, Unshowable) as problem:
        raise ToolError(f"Cannot read {shown}: {problem}.") from problem
    except (FileNotFoundError, NotADirectoryError) as problem:
        raise ToolError(missing(path, context.place)) from problem
    except OSError as problem:
        raise ToolError(f"Cannot read {shown}: {problem.strerror}.") from problem


async def _shown(readers: Readers, ask: Ask, room: int, path: Path, shown: str, context: ToolContext) -> Shown:
    readers.seen.showing(path)
    kind = sniffed(path)
    place = context.place
    hands = Hands(context.processes, context.environment, place.root, own=not place.holds(path))
    if kind == "image":
        from ferrule.workspace.reading.pictures import picture

        facts, image = await picture(path, hands)
        return Shown(f"File: {shown}\nImage: {facts}", image)
    if kind is not None and ask.anchor is not None:
        raise ToolError(f"{shown} is a document, which has no blocks; read it by `offset` and `limit`.")
    wanted = Slice(ask.offset, ask.limit, ask.column, room)
    if kind is not None:
        return Shown(document_page(await readers.documents.read(path, kind, hands), shown, wanted))
    if ask.anchor is not None:
        from .block import Block, block_page

        return Shown(await block_page(readers.lines, path, shown, Block(ask.anchor, ask.wanted, room), hands))
    return Shown(await text_page(readers.lines, path, shown, wanted))


def missing(path: Path, place: Place) -> str:
    """Says that a file does not exist, and which existing ones have a name like it."""
    near = near_names(path, place.root)
    hint = f" Did you mean {' or '.join(place.shown(name) for name in near)}?" if near else ""
    return f"{place.shown(path)} does not exist.{hint}"
