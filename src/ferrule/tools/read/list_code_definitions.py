"""`list_code_definitions`: what files define, with the lines where."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.names import spell
from ferrule.types.tools import Action, Effect, ToolOutput, ok
from ferrule.workspace.definitions.base import Defined
from ferrule.workspace.reading.child import Hands, Unshowable, ask

from .read_file import missing

FILES = 200
"""Files of a folder that are looked at."""
LINES = 600
"""Definitions of one result."""


class ListCodeDefinitions(Struct, frozen=True):
    path: Annotated[str, Meta(description="File, or folder for the files directly in it.")]


def list_code_definitions() -> Tool:
    return Tool(
        name="list_code_definitions",
        description="List the classes, functions, methods and types that a source file, or each one directly in a folder, "
        "defines: `FIRST-LAST | signature`, nested ones indented. Use it to see what is where before reading.",
        params=ListCodeDefinitions,
        effect=Effect.READ,
        actions=_actions,
        run=_run,
    )


def _actions(params: ListCodeDefinitions, place: Place) -> tuple[Action, ...]:
    return (Action("read", (spell(str(place.resolve(params.path))),)),)


async def _run(params: ListCodeDefinitions, context: ToolContext) -> ToolOutput:
    path = context.place.resolve(params.path)
    shown = context.place.shown(path)
    if not path.exists():
        raise ToolError(missing(path, context.place))
    try:
        hands = Hands(context.processes, context.environment, context.place.root, own=not context.place.holds(path))
        count, data = await ask("definitions", path, hands, FILES)
    except Unshowable as problem:
        raise ToolError(f"Cannot look through {shown}: {problem}.") from problem
    files = msgspec.json.decode(data, type=tuple[Defined, ...])
    if not count:
        (only,) = files
        if only.trouble:
            raise ToolError(f"No definitions of {shown}: {only.trouble}.")
        if not only.definitions:
            return ok(f"{shown} defines nothing.")
        return ok(_render(files, path.parent, context.place))
    if not files:
        return ok(f"{shown}/ holds no source file of a language that there is a grammar of.")
    more = f"\n({FILES} of {count} files were looked at.)" if int(count) > FILES else ""
    return ok(_render(files, path, context.place) + more)


def _render(files: Sequence[Defined], folder: Path, place: Place) -> str:
    lines: list[str] = []
    left = LINES
    for file in files:
        if left <= 0:
            lines.append(f"(The rest is left out after {LINES} definitions. Name a single file to see its own.)")
            break
        lines.append(f"# {place.shown(folder / file.path)}" + (f" ({file.trouble})" if file.trouble else ""))
        width = max((len(f"{each.first}-{each.last}") for each in file.definitions), default=0)
        lines += [f"{f'{each.first}-{each.last}':>{width}} | {'  ' * each.depth}{each.text}" for each in file.definitions[:left]]
        if len(file.definitions) > left:
            lines.append(
                f"({len(file.definitions) - left} more in this file. Read on behind line {file.definitions[left - 1].first}.)"
            )
        left -= len(file.definitions)
    return "\n".join(lines)
