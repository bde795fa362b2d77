"""`apply_patch`: several files changed, added, deleted and moved by one patch, all of it or nothing."""

from functools import partial
from typing import Annotated

from msgspec import Meta, Struct

from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.names import spell
from ferrule.types.tools import Action, Effect, ToolOutput, ok
from ferrule.workspace.patch.model import Malformed
from ferrule.workspace.patch.parse import SHAPE, parse_patch
from ferrule.workspace.together import Unwritten, write_together

from .editing import Editing
from .patching import Planned, Target, plan, targets


class ApplyPatch(Struct, frozen=True):
    patch: Annotated[str, Meta(description="The whole patch.")]


def apply_patch(editing: Editing | None = None) -> Tool:
    return Tool(
        name="apply_patch",
        description="Change several files at once: all of the patch is applied, or nothing. It is a unified diff, or looks like "
        f"this:\n{SHAPE}\nLines of a hunk begin with a blank (as in the file), `-` or `+`. Give about three lines of the file "
        "around a change; `@@ LINE`, which a line before it follows, tells places apart that are alike.",
        params=ApplyPatch,
        effect=Effect.MUTATING,
        actions=_actions,
        run=partial(_run, editing or Editing()),
    )


def _actions(params: ApplyPatch, place: Place) -> tuple[Action, ...]:
    """For each file what is read and what is written; a move writes both names."""
    actions: list[Action] = []
    for target in _targets(params, place):
        path = spell(str(target.path))
        if target.file.kind != "add":
            actions.append(Action("read", (path,)))
        actions.append(Action("write", (path,)))
        if target.move is not None:
            actions.append(Action("write", (spell(str(target.move)),)))
    return tuple(actions)


def _targets(params: ApplyPatch, place: Place) -> tuple[Target, ...]:
    try:
        return targets(parse_patch(params.patch), place)
    except Malformed as problem:
        raise ToolError(f"`patch` is malformed: {problem} Nothing was changed. A patch looks like this:\n{SHAPE}") from problem


async def _run(editing: Editing, params: ApplyPatch, context: ToolContext) -> ToolOutput:
    planned = _planned(_targets(params, context.place), editing, context.place)
    _write(planned, context.place)
    changes = tuple(change for each in planned for change in each.changes)
    for change in changes:
        editing.seen.wrote(context.place.locate(change.path), change.after)
    wrong = await editing.look(tuple(edited for each in planned for edited in each.edited), context)
    told = "\n".join(each.told for each in planned)
    return ok(f"Applied the patch; there is no need to read the files again.\n{told}{wrong}", changes)


def _planned(wanted: tuple[Target, ...], editing: Editing, place: Place) -> list[Planned]:
    """What is to be done for each file; raises ToolError, with everything that is in the way."""
    planned: list[Planned] = []
    failures: list[str] = []
    for target in wanted:
        try:
            planned.append(plan(target, editing, place))
        except ToolError as problem:
            failures.append(str(problem))
    if not failures:
        return planned
    fine = f" The other {len(planned)} could be changed as it says." if planned else ""
    head = f"Nothing was changed: the patch does not fit {len(failures)} of {len(wanted)} files.{fine} Send all of it again."
    raise ToolError("\n\n".join([head, *failures]))


def _write(planned: list[Planned], place: Place) -> None:
    try:
        write_together([step for each in planned for step in each.steps])
    except Unwritten as failed:
        back = "Nothing was changed; what had been written was put back."
        if failed.changed:
            names = ", ".join(place.shown(path) for path in failed.changed)
            back = f"The other files were put back, but this failed too for {names}: look at what holds now."
        raise ToolError(f"Cannot write {place.shown(failed.path)}: {failed}. {back}") from failed
