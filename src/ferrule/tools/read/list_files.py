"""`list_files`: what lies in a folder."""

import asyncio
import re
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.names import spell
from ferrule.types.tools import Action, Effect, ToolOutput, ok
from ferrule.workspace.walk import Entry, walk

from .read_file import missing

LISTED = 200
WALKED = 100_000
LOCK = "\N{LOCK}"


class ListFiles(Struct, frozen=True):
    path: Annotated[str, Meta(description="Folder, relative to the workspace or absolute.")]
    recursive: Annotated[bool, Meta(description="Also list what lies in its folders.")] = False


def list_files() -> Tool:
    return Tool(
        name="list_files",
        description=f"List a folder, at most {LISTED} entries, those nearest the top first. Folders end with `/`. Ignored files "
        f"are left out, or marked {LOCK} where no tool may touch them.",
        params=ListFiles,
        effect=Effect.READ,
        actions=_actions,
        run=_run,
    )


def _actions(params: ListFiles, place: Place) -> tuple[Action, ...]:
    return (Action("read", (spell(str(place.resolve(params.path))),)),)


async def _run(params: ListFiles, context: ToolContext) -> ToolOutput:
    path = context.place.resolve(params.path)
    shown = context.place.shown(path)
    if path in (Path(path.anchor), Path.home().resolve()):
        raise ToolError(f"{shown} is too large a folder to list; name one below it.")
    if not path.exists():
        raise ToolError(missing(path, context.place))
    if not path.is_dir():
        raise ToolError(f"{shown} is a file; use read_file.")
    try:
        next(path.iterdir(), None)
    except OSError as problem:
        raise ToolError(f"Cannot list {shown}: {problem.strerror}.") from problem
    entries = await asyncio.to_thread(walk, path, None if params.recursive else 1, WALKED, context.place.show_ignored)
    return ok(_render(shown, path, entries, context.place))


def _render(shown: str, path: Path, entries: list[Entry], place: Place) -> str:
    if not entries:
        return f"{shown}/ holds nothing that is not ignored."
    nearest = sorted(entries, key=lambda entry: (len(entry.path.parts), _natural(entry.path, path)))[:LISTED]
    lines = [_line(entry, place) for entry in sorted(nearest, key=lambda entry: _natural(entry.path, path))]
    if len(entries) > LISTED:
        count = f"more than {WALKED}" if len(entries) >= WALKED else str(len(entries))
        lines.append(f"({LISTED} of {count} entries, those nearest the top. List a folder below to see more.)")
    return "\n".join(lines)


def _line(entry: Entry, place: Place) -> str:
    if entry.locked:
        return f"{LOCK} {place.shown(entry.path)}{'/' if entry.folder else ''}"
    if entry.target is not None:
        return f"{place.shown(entry.path)} -> {spell(entry.target)}"
    return place.shown(entry.path) + ("/" if entry.folder else "")


def _natural(path: Path, base: Path) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """Numbers in names by their value; a folder before what it holds."""
    return tuple(_name(part) for part in path.relative_to(base).parts)


def _name(part: str) -> tuple[tuple[int, int, str], ...]:
    pieces = re.split(r"([0-9]+)", part.casefold())
    return (*((0, int(piece), "") if piece.isdigit() else (1, 0, piece) for piece in pieces if piece), (0, -1, part))
