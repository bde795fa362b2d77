"""`skill`: what a skill says, and the files that belong to it."""

import os
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.names import spell, unspell
from ferrule.types.tools import Action, Effect, ToolOutput, ok

from .gathering import Guidance
from .reading import Unusable, read, target
from .shelf import Item, body
from .telling import fenced, invoked

FILE_BYTES = 4_000_000
"""Of a file of a skill, in which lines are counted."""
SHOWN = 48_000
"""Characters of one result."""
LISTED = 100


class Skill(Struct, frozen=True):
    name: Annotated[str, Meta(description="Name of the skill, as listed.")]
    file: Annotated[str | None, Meta(description="Another file of the skill, by its path in the skill's folder.")] = None
    first_line: Annotated[int, Meta(description="Line to begin at, for what was cut.", ge=1)] = 1


def skill_tool(guidance: Guidance) -> Tool:
    def actions(params: Skill, place: Place) -> tuple[Action, ...]:
        item = guidance.named("skills").get(params.name)
        if item is None:
            return ()
        return reading(item.file if params.file is None else _inside(item, params.file), place)

    async def run(params: Skill, context: ToolContext) -> ToolOutput:
        skills = guidance.named("skills")
        item = skills.get(params.name)
        if item is None:
            raise ToolError(f"There is no skill {params.name}. There are: {', '.join(skills) or 'none'}.")
        try:
            if params.file is None:
                return ok(_skill(item, params.first_line, guidance))
            return ok(_file(item, params.file, params.first_line))
        except Unusable as problem:
            shown = guidance.where.shown(item.file) if params.file is None else params.file
            raise ToolError(f"{shown} {problem}.") from problem

    return Tool(
        name="skill",
        description="Load a skill: instructions for one kind of work, listed with what each is for. Load it before you begin "
        "such work. The result names its other files; read one of them by giving `file` too.",
        params=Skill,
        effect=Effect.READ,
        actions=actions,
        run=run,
    )


def reading(path: Path, place: Place) -> tuple[Action, ...]:
    """What policy is asked about a file of guidance. The person's own, outside of the workspace, are there to be read."""
    real = path.resolve()
    return (Action("read", (spell(str(place.resolve(spell(str(path))))),)),) if place.holds(real) else ()


def _skill(item: Item, first: int, guidance: Guidance) -> str:
    text, cut = body(item, FILE_BYTES)
    files = _files(item)
    told = invoked(item, _page(text, first, cut), guidance.where)
    if not files:
        return told
    more = f"\n(and more than these {LISTED})" if len(files) > LISTED else ""
    return f"{told}\n\nIts other files, in {item.file.parent}:\n" + "\n".join(files[:LISTED]) + more


def _file(item: Item, name: str, first: int) -> str:
    contents = read(_inside(item, name), item.bounds, FILE_BYTES)
    return fenced("file", (("path", name), ("encoding", contents.encoding)), _page(contents.text, first, contents.cut))


def _inside(item: Item, name: str) -> Path:
    """A file in the skill's folder. Raises ToolError for one that is elsewhere."""
    folder = item.file.parent.resolve()
    try:
        path = target(folder / os.fsdecode(unspell(name)), ())
    except Unusable:
        raise ToolError(f"The skill {item.name} has no file {name}. There are: {', '.join(_files(item)[:LISTED])}.") from None
    except ValueError as error:
        raise ToolError(f"{name!r} is not a usable path: {error}") from error
    if not path.is_relative_to(folder):
        raise ToolError(f"{name} leads out of the skill {item.name}. Read files of the project with read_file.")
    return path


def _files(item: Item) -> list[str]:
    """Of at most one more than `LISTED` files, their paths in the skill's folder. Links are not followed."""
    found: list[str] = []
    for place, folders, names in os.walk(item.file.parent):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        paths = (Path(place, name) for name in sorted(names) if not name.startswith("."))
        found += [spell(str(path.relative_to(item.file.parent))) for path in paths if path != item.file]
        if len(found) > LISTED:
            return found[: LISTED + 1]
    return found


def _page(text: str, first: int, cut: bool) -> str:
    """From line `first` on what fits into one result, and how to see the rest."""
    lines = text.splitlines()
    if first > max(1, len(lines)):
        raise ToolError(f"It has only {len(lines)} lines.")
    page: list[str] = []
    room = SHOWN
    for line in lines[first - 1 :]:
        room -= len(line) + 1
        if room < 0:
            break
        page.append(line)
    last = first - 1 + len(page)
    if last < len(lines) and not page:
        return f"{lines[first - 1][:SHOWN]}\n[cut: line {first} goes on; first_line={first + 1} shows what follows it]"
    if last < len(lines):
        page.append(f"[cut after line {last} of {len(lines)}; go on with first_line={last + 1}]")
    elif cut:
        page.append(f"[only the first {FILE_BYTES} bytes of it can be shown]")
    return "\n".join(page)
