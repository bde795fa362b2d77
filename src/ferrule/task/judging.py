"""A terminal action is judged by the gates of its contract, in order; the first that fails answers it."""

from ferrule.tools.base import ToolContext
from ferrule.types.messages import Text
from ferrule.types.outcome import Outcome
from ferrule.types.tools import End, GateResult, ToolOutput

from .contracts import Contract
from .gates import GATES, Checks, Verdict


async def judge(contract: Contract, checks: Checks, context: ToolContext, result: str, accepted: str) -> ToolOutput:
    """The end of the task with `result`, or a refusal that says what to do; too many refusals end it as unverified."""
    evidence: list[GateResult] = []
    for name in contract.gates:
        verdict = await GATES[name](checks, context)
        evidence += verdict.results
        if not verdict.passed:
            return _refuse(contract, checks, result, tuple(evidence), verdict)
    ends = End(Outcome.FINISHED, result, tuple(evidence))
    return ToolOutput("ok", (Text(accepted),), ends=ends, gates=ends.gates)


def _refuse(contract: Contract, checks: Checks, result: str, gates: tuple[GateResult, ...], verdict: Verdict) -> ToolOutput:
    refused = checks.conversation.refusals + 1
    if refused < contract.refusals and not verdict.final:
        return ToolOutput("error", (Text(f"Not accepted. {verdict.advice}"),), gates=gates)
    text = f"Not accepted, for the {refused}th time. The task ends as unverified."
    return ToolOutput("error", (Text(text),), ends=End(Outcome.UNVERIFIED, result, gates), gates=gates)
