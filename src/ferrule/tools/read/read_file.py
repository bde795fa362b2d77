"""`read_file`: numbered lines of one text file."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.names import spell
from ferrule.types.tools import Action, Effect, ToolOutput, ok
from ferrule.workspace.lines import LINE_LIMIT, LineReader, Page, Unreadable
from ferrule.workspace.near import near_names

LARGE = 1_048_576
"""Bytes from which on a file is read in a thread, so that nothing else waits for it."""


class ReadFile(Struct, frozen=True):
    path: Annotated[str, Meta(description="File, relative to the workspace or absolute.")]
    offset: Annotated[int, Meta(description="First line, counted from 1.")] = 1
    limit: Annotated[int, Meta(description="Most lines to return.")] = 2_000
    mode: Annotated[Literal["slice"], Meta(description="How to choose lines: from `offset` on.")] = "slice"


def read_file() -> Tool:
    """A tool of its own for each session: it keeps the line indexes of the files that were read."""
    return Tool(
        name="read_file",
        description="Read a text file as numbered lines `N | text`. Long files come in pages: a notice before the lines names "
        f"the next offset. Lines are cut at {LINE_LIMIT} characters. To read several files, call it several times in one turn.",
        params=ReadFile,
        effect=Effect.READ,
        actions=_actions,
        run=partial(_run, LineReader()),
    )


def _actions(params: ReadFile, place: Place) -> tuple[Action, ...]:
    return (Action("read", (spell(str(place.resolve(params.path))),)),)


async def _run(reader: LineReader, params: ReadFile, context: ToolContext) -> ToolOutput:
    if params.offset < 1:
        raise ToolError(f"`offset` counts lines from 1, got {params.offset}.")
    if params.limit < 1:
        raise ToolError(f"`limit` must be at least 1, got {params.limit}.")
    path = context.place.resolve(params.path)
    shown = context.place.shown(path)
    try:
        if path.stat().st_size < LARGE:
            page = reader.page(path, params.offset, params.limit)
        else:
            page = await asyncio.to_thread(reader.page, path, params.offset, params.limit)
    except Unreadable as problem:
        raise ToolError(f"Cannot read {shown}: {problem}.") from problem
    except (FileNotFoundError, NotADirectoryError) as problem:
        raise ToolError(missing(path, context.place)) from problem
    except OSError as problem:
        raise ToolError(f"Cannot read {shown}: {problem.strerror}.") from problem
    if not page.lines and page.total:
        raise ToolError(f"`offset` {params.offset} is past the end: {shown} has {_count(page.total)}.")
    return ok(_render(shown, page, params.limit))


def missing(path: Path, place: Place) -> str:
    """Says that a file does not exist, and which existing ones have a name like it."""
    near = near_names(path, place.root)
    hint = f" Did you mean {' or '.join(place.shown(name) for name in near)}?" if near else ""
    return f"{place.shown(path)} does not exist.{hint}"


def _render(shown: str, page: Page, limit: int) -> str:
    head = [f"File: {shown}"]
    if not page.encoding.plain:
        head.append(f"Encoding: {page.encoding.label}")
    if not page.lines:
        return "\n".join([*head, "The file is empty."])
    if page.more:
        of = "more lines follow" if page.total is None else f"of {page.total}"
        head.append(f"Lines {page.first}-{page.last}, {of}. Go on with offset={page.last + 1} and limit={limit}.")
    if page.cut:
        named = ", ".join(str(number) for number in page.cut[:10]) + (", …" if len(page.cut) > 10 else "")
        head.append(f"Cut at {LINE_LIMIT} characters: line {named}.")
    width = len(str(page.last))
    lines = (f"{number:>{width}} | {line}" for number, line in enumerate(page.lines, page.first))
    return "\n".join([*head, *lines])


def _count(lines: int) -> str:
    return f"{lines} line" if lines == 1 else f"{lines} lines"
