"""What guidance brings into a task."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from ferrule.task.config.trusting import is_trusted
from ferrule.task.kind import Opening
from ferrule.tools.base import Tool

from .gathering import Guidance, gather
from .places import Where
from .telling import told


class Guided(Struct, frozen=True):
    """Sections of the prompt, tools, the prompt with its slash command expanded, and a remark for the person."""

    sections: tuple[str, ...]
    tools: tuple[Tool, ...]
    prompt: str | None
    remark: str


def surroundings(folder: Path, user_folder: Path, environ: Mapping[str, str], extra: tuple[Path, ...] = ()) -> Guidance:
    """What counts in a folder that is free of links. Raises UsageError where the user's configuration cannot be read."""
    home = Path(environ.get("HOME") or Path.home()).resolve()
    return gather(Where(folder, user_folder, home, lambda project: is_trusted(project, environ), extra))


def guide(opening: Opening) -> Guided:
    """Raises UsageError where the user's configuration or the command that was typed cannot be read."""
    options = opening.options
    guidance = surroundings(opening.place.root, options.user_folder, options.environ, opening.place.extra)
    remarks = [guidance.remark]
    tools: list[Tool] = []
    if guidance.named("skills"):
        from .skill_tool import skill_tool

        tools.append(skill_tool(guidance))
    if guidance.named("commands"):
        from .slash_tool import slash_tool

        tools.append(slash_tool(guidance))
    prompt = options.prompt
    if prompt is not None and prompt.lstrip().startswith("/") and opening.conversation.waiting is None:
        from .typed import expanded

        prompt, remark = expanded(prompt, guidance)
        remarks.append(remark)
    return Guided(told(guidance), tuple(tools), prompt, " ".join(remark for remark in remarks if remark))
