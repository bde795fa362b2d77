"""`stop_command`: ends a background command and everything below it."""

from typing import Annotated

from msgspec import Meta, Struct

from ferrule.tools.base import Tool, ToolContext, no_actions
from ferrule.types.records import Process
from ferrule.types.tools import Effect, ToolOutput, ok

from .jobs import Jobs
from .read_command_output import PAGE, Source, page


class StopCommand(Struct, frozen=True):
    id: Annotated[str, Meta(description="Handle such as `cmd_1`.")]


def stop_command(jobs: Jobs) -> Tool:
    async def run(params: StopCommand, context: ToolContext) -> ToolOutput:
        found = jobs.find(params.id)
        if isinstance(found, Process):
            return ok(f"{Source(found, context).status} There was nothing to stop.")
        await jobs.stop(found)
        source = Source(found, context)
        return ok(f"{source.status}\n{page(jobs, source, None, PAGE)}")

    return Tool(
        name="stop_command",
        description="End a background command with all its processes, and return what it has printed since the last look.",
        params=StopCommand,
        effect=Effect.IDEMPOTENT,
        actions=no_actions,
        run=run,
    )
