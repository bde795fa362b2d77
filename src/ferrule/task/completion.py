"""`attempt_completion`: the terminal action of a coding task. It ends the task only if every gate holds."""

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from ferrule.tools.base import Tool, ToolContext, no_actions
from ferrule.types.errors import ToolError
from ferrule.types.tools import Effect, ToolOutput

from .contracts import Contract
from .gates import Checks
from .judging import judge


class Completion(Struct, frozen=True):
    result: Annotated[
        str,
        Meta(description="What was done and how it was checked, complete in itself. No question or offer at its end."),
    ]
    keep_running: Annotated[
        tuple[str, ...], Meta(description="Handles of background commands that go on until the session is closed.")
    ] = ()


def completion_tool(contract: Contract, checks: Checks) -> Tool:
    async def run(params: Completion, context: ToolContext) -> ToolOutput:
        if not params.result.strip():
            raise ToolError("`result` is empty. Say what was done.")
        kept = replace(checks, kept=params.keep_running)
        return await judge(contract, kept, context, params.result, "Accepted: the task is finished.")

    return Tool(
        name="attempt_completion",
        description=(
            "End the task. Call it once the work is done and the results of earlier calls have confirmed it. "
            "It is checked; if a check fails, the answer says what to do, and the task goes on."
        ),
        params=Completion,
        effect=Effect.IDEMPOTENT,
        actions=no_actions,
        run=run,
        terminal=True,
    )
