"""`apply_diff`: several SEARCH/REPLACE blocks in one file."""

from functools import partial
from typing import Annotated

from msgspec import Meta, Struct

from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.messages import Text
from ferrule.types.names import spell
from ferrule.types.tools import Action, Effect, ToolOutput, ok
from ferrule.workspace import blocks
from ferrule.workspace.blocks import SHAPE, Malformed, Refused, apply, locate, parse_blocks
from ferrule.workspace.diagnostics.edited import Edited

from .editing import Editing
from .failing import explained
from .matchless import no_match


class ApplyDiff(Struct, frozen=True):
    path: Annotated[str, Meta(description="File, relative to the workspace or absolute.")]
    diff: Annotated[str, Meta(description="One or more SEARCH/REPLACE blocks.")]


def apply_diff(editing: Editing | None = None) -> Tool:
    return Tool(
        name="apply_diff",
        description="Change several places of a file at once with blocks of whole lines:\n"
        f"{SHAPE}\nLINE is the line number before any change. A line that looks like one of these markers gets a backslash "
        "before it.",
        params=ApplyDiff,
        effect=Effect.MUTATING,
        actions=_actions,
        run=partial(_run, editing or Editing()),
    )


def _actions(params: ApplyDiff, place: Place) -> tuple[Action, ...]:
    path = spell(str(place.resolve(params.path)))
    return Action("read", (path,)), Action("write", (path,))


async def _run(editing: Editing, params: ApplyDiff, context: ToolContext) -> ToolOutput:
    try:
        parsed = parse_blocks(params.diff)
    except Malformed as problem:
        raise ToolError(f"`diff` is malformed: {problem} Nothing was changed. A block looks like this:\n{SHAPE}") from problem
    path = context.place.resolve(params.path)
    shown = context.place.shown(path)
    document = editing.opened(path, context.place)
    placed, refused = locate(document.text, parsed)
    failures = [_failure(refusal, document.text, shown) for refusal in refused]
    if not placed:
        raise ToolError("\n\n".join([f"No block could be applied to {shown}; it was not changed.", *failures]))
    text = apply(document.text, placed)
    if text == document.text:
        raise ToolError(f"{shown} already is as the blocks would make it; nothing was changed.")
    with explained("edit", path, context.place):
        change = document.write(text, shown)
    editing.seen.wrote(path, change.after)
    applied = "\n".join(_applied(place) for place in sorted(placed, key=lambda place: place.block.number))
    wrong = await editing.look((Edited(path, shown, document.text, text),), context)
    if not failures:
        return ok(f"Edited {shown}; there is no need to read it again.\n{applied}{wrong}", (change,))
    told = f"{len(placed)} of {len(parsed)} blocks were applied to {shown}, the others were not. Repeat only those."
    return ToolOutput("error", (Text("\n\n".join([f"{told}\n{applied}", *failures]) + wrong),), changes=(change,))


def _applied(place: blocks.Place) -> str:
    note = "" if place.level == "exact" else f" ({place.level} differed; the file's own was kept)"
    first, count = place.at + 1, len(place.block.search)
    where = f"line {first}" if count == 1 else f"lines {first}-{first + count - 1}"
    return f"Block {place.block.number} replaced {where}{note}."


def _failure(refusal: Refused, text: str, shown: str) -> str:
    if not refusal.missing:
        return f"Block {refusal.block.number}: {refusal.reason}"
    nearest = no_match(text, "\n".join(refusal.block.search) + "\n", "SEARCH", shown)
    return f"Block {refusal.block.number}: {nearest}"
