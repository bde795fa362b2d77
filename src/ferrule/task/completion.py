"""`attempt_completion`: the terminal action of a coding task. It ends the task only if every gate holds."""

from typing import Annotated

from msgspec import Meta, Struct

from ferrule.tools.base import Tool, ToolContext, no_actions
from ferrule.types.errors import ToolError
from ferrule.types.messages import Text
from ferrule.types.outcome import Outcome
from ferrule.types.tools import Effect, End, GateResult, ToolOutput

from .contracts import Contract
from .gates import GATES, Checks


class Completion(Struct, frozen=True):
    result: Annotated[
        str,
        Meta(description="What was done and how it was checked, complete in itself. No question or offer at its end."),
    ]


def completion_tool(contract: Contract, checks: Checks) -> Tool:
    async def run(params: Completion, context: ToolContext) -> ToolOutput:
        if not params.result.strip():
            raise ToolError("`result` is empty. Say what was done.")
        evidence: list[GateResult] = []
        for name in contract.gates:
            verdict = await GATES[name](checks, context)
            evidence += verdict.results
            if not verdict.passed:
                return _refuse(contract, checks, params, tuple(evidence), verdict.advice)
        ends = End(Outcome.FINISHED, params.result, tuple(evidence))
        return ToolOutput("ok", (Text("Accepted: the task is finished."),), ends=ends, gates=ends.gates)

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


def _refuse(contract: Contract, checks: Checks, params: Completion, gates: tuple[GateResult, ...], advice: str) -> ToolOutput:
    refused = checks.conversation.refusals + 1
    if refused < contract.refusals:
        return ToolOutput("error", (Text(f"Not accepted. {advice}"),), gates=gates)
    text = f"Not accepted, for the {refused}th time. The task ends as unverified."
    return ToolOutput("error", (Text(text),), ends=End(Outcome.UNVERIFIED, params.result, gates), gates=gates)
