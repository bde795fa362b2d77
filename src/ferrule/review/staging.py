"""`review_comment`: stages one finding, checked against the diff at once; `submit_review` and `abort_task`: the two ends."""

from itertools import count
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from ferrule.store.folds import Conversation
from ferrule.task.contracts import Contract
from ferrule.task.gates import Checks
from ferrule.task.judging import judge
from ferrule.tools.base import Tool, ToolContext, no_actions
from ferrule.types.errors import ToolError
from ferrule.types.messages import Text
from ferrule.types.outcome import Outcome
from ferrule.types.review import Finding, Severity, reaches
from ferrule.types.tools import Effect, End, GateResult, ToolOutput
from ferrule.workspace.diff.anchors import Anchor, Problem, anchored, check, fingerprint
from ferrule.workspace.diff.model import Diff


class Comment(Struct, frozen=True):
    path: Annotated[str, Meta(description="File, as the diff names it.")]
    severity: Annotated[Severity, Meta(description="How much it matters.")]
    text: Annotated[str, Meta(description="What is wrong, when it shows, and what to do.")]
    line: Annotated[int | None, Meta(description="Line, or the last of several. Left out: the file as a whole.")] = None
    start_line: Annotated[int | None, Meta(description="First of several lines.")] = None
    side: Annotated[Literal["LEFT", "RIGHT"], Meta(description="RIGHT: numbers of the new file; LEFT: of the old one.")] = "RIGHT"
    suggestion: Annotated[str | None, Meta(description="Text that replaces exactly these lines.")] = None
    source: Annotated[str, Meta(description="checker/rule that found it, if a check did.")] = ""


def comment_tool(diff: Diff, conversation: Conversation) -> Tool:
    async def run(params: Comment, context: ToolContext) -> ToolOutput:
        if not params.text.strip():
            raise ToolError("`text` is empty. Say what is wrong.")
        anchor = check(diff, params.path, params.line, params.start_line, params.side)
        if isinstance(anchor, Problem):
            raise ToolError(f"Not staged. {anchor.text}")
        if params.suggestion is not None and (anchor.line is None or anchor.side == "LEFT"):
            raise ToolError("Not staged. A `suggestion` needs lines of the new file (side RIGHT) that it replaces.")
        key, twin = _fingerprint(diff, anchor, params.text, conversation)
        if twin is not None:
            said = f"Already staged, as {twin.severity}: the same finding at {anchor}. It stays as it was."
            return ToolOutput("ok", (Text(said),))
        finding = _finding(anchor, params, key)
        return ToolOutput("ok", (Text(f"Staged at {anchor}. {len(conversation.staged) + 1} staged."),), staged=(finding,))

    return Tool(
        name="review_comment",
        description=(
            "Stage one finding of the review on the lines that it is about; they must be in the diff, inside one hunk. "
            "Nothing is published before submit_review."
        ),
        params=Comment,
        effect=Effect.IDEMPOTENT,
        actions=no_actions,
        run=run,
    )


def _fingerprint(diff: Diff, anchor: Anchor, text: str, conversation: Conversation) -> tuple[str, Finding | None]:
    """The finding's own fingerprint, and the same finding at the same place where it is staged already.

    The same words on equal lines elsewhere in the file are another finding, told apart by their number.
    """
    lines = anchored(diff, anchor)
    for ordinal in count():
        key = fingerprint(diff, anchor, text, ordinal)
        staged = conversation.staged.get(key)
        if staged is None:
            return key, None
        there = check(diff, staged.path, staged.line, staged.start_line, staged.side)
        if isinstance(there, Anchor) and anchored(diff, there) == lines:
            return key, staged
    raise AssertionError  # count() has no end


def _finding(anchor: Anchor, params: Comment, key: str) -> Finding:
    return Finding(
        path=anchor.path,
        side=anchor.side,
        line=anchor.line,
        start_line=anchor.start_line,
        severity=params.severity,
        text=params.text.strip(),
        suggestion=params.suggestion,
        source=params.source,
        fingerprint=key,
    )


class Summary(Struct, frozen=True):
    summary: Annotated[
        str, Meta(description="Two to five lines: what the change does, whether it can be merged, what stands in the way.")
    ]


def submit_tool(contract: Contract, checks: Checks, fail_on: Severity | None) -> Tool:
    """With `fail_on`, the accepted end says in its gates whether a finding is as severe as that; it is accepted all the same."""

    async def run(params: Summary, context: ToolContext) -> ToolOutput:
        if not params.summary.strip():
            raise ToolError("`summary` is empty. Say whether the change can be merged and why.")
        staged = len(checks.conversation.staged)
        accepted = f"Submitted with {staged} finding{'' if staged == 1 else 's'}."
        output = await judge(contract, checks, context, params.summary, accepted)
        if fail_on is None or output.ends is None or output.kind != "ok":
            return output
        gates = (*output.gates, findings_gate(tuple(checks.conversation.staged.values()), fail_on))
        return replace(output, gates=gates, ends=replace(output.ends, gates=gates))

    return Tool(
        name="submit_review",
        description=(
            "End the review: all staged findings and this summary are its result. Call it once, alone, also without findings."
        ),
        params=Summary,
        effect=Effect.IDEMPOTENT,
        actions=no_actions,
        run=run,
        terminal=True,
    )


def findings_gate(findings: tuple[Finding, ...], fail_on: Severity) -> GateResult:
    reached = reaches(findings, fail_on)
    return GateResult("findings", not reached, f"{fail_on} or worse: {'yes' if reached else 'none'}")


class Reason(Struct, frozen=True):
    reason: Annotated[str, Meta(description="Why the task can't be done.")]


def abort_tool() -> Tool:
    async def run(params: Reason, context: ToolContext) -> ToolOutput:
        if not params.reason.strip():
            raise ToolError("`reason` is empty. Say why the task can't be done.")
        return ToolOutput("ok", (Text("The task is given up."),), ends=End(Outcome.ABORTED, params.reason))

    return Tool(
        name="abort_task",
        description="Give the task up, with the reason. Only when it can't be done.",
        params=Reason,
        effect=Effect.IDEMPOTENT,
        actions=no_actions,
        run=run,
        terminal=True,
    )
