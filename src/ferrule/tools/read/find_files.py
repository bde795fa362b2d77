"""`find_files`: files and folders by name."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.found import Found
from ferrule.types.names import spell
from ferrule.types.tools import Action, Effect, ToolOutput, ok

from .read_file import missing

if TYPE_CHECKING:
    from ferrule.workspace.finding.finder import Finder

FOUND = 50
MOST = 1_000
PATIENCE = 20.0
"""Seconds that a first look through a folder may take before the answer is what is known by then."""

Open = Callable[[], "Finder"]


class FindFiles(Struct, frozen=True):
    query: Annotated[
        str,
        Meta(description="Words of the name or path, abbreviated or not: `usrhand` finds `src/user_handler.py`. All must match."),
    ] = ""
    glob: Annotated[str | None, Meta(description="Glob that paths must match, such as `*.py` or `src/**/test_*.{ts,tsx}`.")] = (
        None
    )
    path: Annotated[str, Meta(description="Folder to look in, relative to the workspace or absolute.")] = "."
    limit: Annotated[int, Meta(description="Most results to return.")] = FOUND


def find_files(finder: Open | None = None) -> Tool:
    """`finder` gives the one of the workspace, for who has one; else each call looks through the folder."""
    return Tool(
        name="find_files",
        description="Find files and folders by name: by abbreviated words (best matches first), by glob, or both. Folders end "
        "with `/`. Ignored files are left out. It looks at what a file is called, search_files at what it contains.",
        params=FindFiles,
        effect=Effect.READ,
        actions=_actions,
        run=partial(_run, finder),
    )


def _actions(params: FindFiles, place: Place) -> tuple[Action, ...]:
    return (Action("read", (spell(str(place.resolve(params.path))),)),)


async def _run(finder: Open | None, params: FindFiles, context: ToolContext) -> ToolOutput:
    if not params.query.strip() and not params.glob:
        raise ToolError("Give `query` or `glob`; list_files lists a folder.")
    if not 1 <= params.limit <= MOST:
        raise ToolError(f"`limit` must be from 1 to {MOST}, got {params.limit}.")
    path = context.place.resolve(params.path)
    shown = context.place.shown(path)
    if path in (Path(path.anchor), Path.home().resolve()):
        raise ToolError(f"{shown} is too large a folder to look through; name one below it.")
    if not path.exists():
        raise ToolError(missing(path, context.place))
    if not path.is_dir():
        raise ToolError(f"{shown} is a file; `path` must be a folder.")
    glob = _matching(params.glob) if params.glob else None
    if finder is not None and path == context.place.root:
        return ok(_render(await _ask(finder(), params, glob), params, shown, ""))
    from ferrule.workspace.finding.finder import Finder

    once = Finder.open(path, context.processes, context.environment, follow=False)
    try:
        found = await _ask(once, params, glob)
    finally:
        await once.close()
    return ok(_render(found, params, shown, "" if path == context.place.root else f"{shown}/"))


async def _ask(finder: "Finder", params: FindFiles, keep: Callable[[str], bool] | None) -> Found:
    await finder.settled(PATIENCE)
    return await finder.query(params.query, params.limit, keep=keep)


def _matching(glob: str) -> Callable[[str], bool]:
    """A glob without a slash is for names, any other for paths below the folder."""
    from wcmatch import glob as globs

    from ferrule.workspace.finding.matching import name

    flags = globs.BRACE | globs.DOTGLOB | globs.GLOBSTAR | globs.MATCHBASE
    try:
        wanted, _ = globs.translate(glob.removeprefix("./"), flags=flags)
    except Exception as problem:  # its exceptions are not of its public names
        raise ToolError(f"`glob` cannot be used: {problem}") from problem
    pattern = re.compile("|".join(wanted))
    return lambda path: pattern.match(path) is not None or glob in (path, name(path))


def _render(found: Found, params: FindFiles, shown: str, before: str) -> str:
    wish = " and ".join(
        part
        for part in (f"`{params.query}`" if params.query.strip() else "", f"glob `{params.glob}`" if params.glob else "")
        if part
    )
    remark = f" {found.remark}" if found.remark and not found.complete else ""
    if not found.items:
        return f"Nothing of {found.known} files and folders in {shown}/ matches {wish}.{remark}"
    if found.total > len(found.items):
        count = f"the best {len(found.items)} of {found.total} matches; narrow `query`, `glob` or `path`, or raise `limit`"
    else:
        count = f"{found.total} match{'' if found.total == 1 else 'es'}"
    return "\n".join([f"Found {count}.{remark}", *(before + item.path for item in found.items)])
