"""`run_slash_command`: a prepared prompt, run by the model."""

from typing import Annotated

from msgspec import Meta, Struct

from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.tools import Action, Effect, ToolOutput, ok

from .gathering import Guidance
from .reading import Unusable
from .skill_tool import reading
from .typed import find, text_of


class RunSlashCommand(Struct, frozen=True):
    command: Annotated[str, Meta(description="Name of the command, without the slash.")]
    args: Annotated[str, Meta(description="What would be typed behind it.")] = ""


def slash_tool(guidance: Guidance) -> Tool:
    def actions(params: RunSlashCommand, place: Place) -> tuple[Action, ...]:
        item = find(_bare(params.command), guidance)
        return () if item is None else reading(item.file, place)

    async def run(params: RunSlashCommand, context: ToolContext) -> ToolOutput:
        item = find(_bare(params.command), guidance)
        if item is None:
            raise ToolError(f"There is no command {params.command}. There are: {', '.join(guidance.named('commands'))}.")
        try:
            return ok(text_of(item, params.args, guidance))
        except Unusable as problem:
            raise ToolError(f"{guidance.where.shown(item.file)} {problem}.") from problem

    return Tool(
        name="run_slash_command",
        description="Get the text of a slash command with your arguments put in, and do what it says. The commands are listed in "
        "the section on them.",
        params=RunSlashCommand,
        effect=Effect.READ,
        actions=actions,
        run=run,
    )


def _bare(name: str) -> str:
    return name.strip().removeprefix("/")
