"""`read_diff`: the part of the change that the prompt had no room for."""

import sys
from typing import Annotated

from msgspec import Meta, Struct

from ferrule.tools.base import Tool, ToolContext, no_actions
from ferrule.types.errors import ToolError
from ferrule.types.tools import Effect, ToolOutput, ok
from ferrule.workspace.diff.model import Diff, File

from .subject import file_text

PAGE_CHARACTERS = 48_000


class ReadDiff(Struct, frozen=True):
    path: Annotated[str, Meta(description="File, as the diff names it.")]
    hunk: Annotated[int, Meta(description="First hunk to show, counted from 1.")] = 1


def diff_tool(diff: Diff) -> Tool:
    async def run(params: ReadDiff, context: ToolContext) -> ToolOutput:
        file = diff.by_path.get(params.path)
        if file is None:
            raise ToolError(f"{params.path} is not in the diff. Its files: {', '.join(list(diff.by_path)[:50])}.")
        if not file.hunks:
            raise ToolError(f"{params.path} has no lines in the diff.")
        if not 1 <= params.hunk <= len(file.hunks):
            raise ToolError(f"`hunk` counts from 1 to {len(file.hunks)} here, got {params.hunk}.")
        text, whole, following = _page(file, params.hunk - 1)
        return ok(text if whole else f"{text}\nMore hunks follow. Go on with hunk={following + 1}.")

    return Tool(
        name="read_diff",
        description="Show the change of one file, hunk by hunk, with the line numbers of both sides.",
        params=ReadDiff,
        effect=Effect.READ,
        actions=no_actions,
        run=run,
    )


def _page(file: File, first: int) -> tuple[str, bool, int]:
    """Whole hunks from `first` on, whether that is all, and the next one. A hunk that is too long alone is cut."""
    text, whole = file_text(file, PAGE_CHARACTERS, first)
    if text:
        return text, whole, first + text.count("\n@@ hunk ")
    text, _ = file_text(file, sys.maxsize, first)
    cut = text[:PAGE_CHARACTERS] + "\n[cut here; read_file shows the whole file]"
    return cut, first + 1 == len(file.hunks), first + 1
