"""`read_diff`: the part of the change that the prompt had no room for."""

from typing import Annotated

from msgspec import Meta, Struct

from ferrule.tools.base import Tool, ToolContext, no_actions
from ferrule.types.errors import ToolError
from ferrule.types.tools import Effect, ToolOutput, ok
from ferrule.workspace.diff.model import Diff

from .subject import Part, Place, file_part

PAGE_CHARACTERS = 48_000


class ReadDiff(Struct, frozen=True):
    path: Annotated[str, Meta(description="File, as the diff names it.")]
    hunk: Annotated[int, Meta(description="First hunk to show, counted from 1.")] = 1
    line: Annotated[int, Meta(description="First line of that hunk to show, counted from 1.")] = 1


def diff_tool(diff: Diff) -> Tool:
    async def run(params: ReadDiff, context: ToolContext) -> ToolOutput:
        page = page_of(diff, params)
        return ok(page.text if page.following is None else f"{page.text}\nMore follows. Go on with {page.following}.")

    return Tool(
        name="read_diff",
        description="Show the change of one file, hunk by hunk, with the line numbers of both sides.",
        params=ReadDiff,
        effect=Effect.READ,
        actions=no_actions,
        run=run,
    )


def page_of(diff: Diff, params: ReadDiff) -> Part:
    """Raises ToolError for what is not in the diff."""
    file = diff.by_path.get(params.path)
    if file is None:
        raise ToolError(f"{params.path} is not in the diff. Its files: {', '.join(list(diff.by_path)[:50])}.")
    if not file.hunks:
        raise ToolError(f"{params.path} has no lines in the diff.")
    if not 1 <= params.hunk <= len(file.hunks):
        raise ToolError(f"`hunk` counts from 1 to {len(file.hunks)} here, got {params.hunk}.")
    lines = len(file.hunks[params.hunk - 1].lines)
    if not 1 <= params.line <= lines:
        raise ToolError(f"`line` counts from 1 to {lines} in hunk {params.hunk}, got {params.line}.")
    return file_part(file, PAGE_CHARACTERS, Place(params.hunk - 1, params.line - 1))
