"""Runs the calls of one answer: exactly one result each, in source order, written ahead (laws 2, 3, 4).

The life of a call: validate → `before_tool` → decide → start record → run → `after_tool` → finish record. Arguments that a hook
puts in place are validated again, and what is decided holds for them alone.
"""

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from ferrule.policy.decide import decide
from ferrule.tools.base import Tool, ToolContext, Turn
from ferrule.tools.schema import parse
from ferrule.types.errors import Hidden, ToolError
from ferrule.types.messages import Image, Text, ToolCall, ToolResult
from ferrule.types.names import spell
from ferrule.types.records import Approval, Asked, CallFinished, CallStarted, Entry, Staged, TodosSet
from ferrule.types.result import Denial, Output
from ferrule.types.tools import Action, Effect, End, FileState, Question, ToolOutput, error

from .calls.bounded import TimedOut, within
from .calls.files import look_after, look_before
from .hooks import ToolVerdict
from .setup import Setup

NOT_REACHED = "Not run: the task had already ended or was waiting for an answer. Nothing was done."
STOPPED = "Interrupted while it ran. What it had done by then is unknown: look before doing it again."
NEVER_STARTED = "Not started: the run was interrupted before it. Nothing was done."
UNHEARD = "It ran to its end ({kind}), but the run was interrupted before the hooks had seen its result, which is left out."
TEXTUAL = "It was written as text, and such a call runs only where it only reads. Call {name} through the tool interface."
SHOWN = 2000
"""Characters of changed arguments that the model is told."""


class Settled(Struct, frozen=True):
    """What the calls of one answer led to: the task ended, or waits for an answer, or goes on."""

    ends: End | None = None
    waits: Question | None = None
    denials: tuple[Denial, ...] = ()


class _Parsed(Struct, frozen=True):
    """A call whose tool and arguments are understood; nothing is decided about it yet."""

    call: ToolCall
    tool: Tool
    params: Any


class _Ready(Struct, frozen=True):
    """A call that may run. `changed_by` names the hooks that put its arguments in the place of the model's."""

    call: ToolCall
    tool: Tool
    params: Any
    actions: tuple[Action, ...]
    approval: Approval | None
    changed_by: tuple[str, ...]


class _Refused(Struct, frozen=True):
    """A call that is not run, and its result; `denial` is set where it was not allowed."""

    call: ToolCall
    output: ToolOutput
    approval: Approval | None = None
    denial: Denial | None = None


async def settle(setup: Setup, calls: Sequence[ToolCall]) -> Settled:
    """Answer every call. Read-only calls that stand together run in parallel, all others one after the other.

    Terminal actions are judged after all other calls of the turn, whatever their place; only the first of them is.
    Cancelling records a result for what ran and for what did not, then goes on cancelling.
    """
    turn = _Turn(setup, calls)
    try:
        await _abort_point()
        return await turn.run()
    except asyncio.CancelledError:
        closing = asyncio.ensure_future(turn.interrupted())
        while not closing.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(closing)
        closing.result()
        raise


async def _abort_point() -> None:
    """Lets a cancellation that is due come now: what follows may not wait for anything before it has an effect."""
    current = asyncio.current_task()
    if current is not None and current.cancelling():
        await asyncio.sleep(0)


class _Turn:
    def __init__(self, setup: Setup, calls: Sequence[ToolCall]) -> None:
        self.setup = setup
        self.calls = calls
        self.earlier = setup.log.conversation.last_results
        self.results: dict[str, ToolResult] = {}
        self.started: dict[str, tuple[FileState, ...]] = {}
        self.unheard: dict[str, ToolOutput] = {}
        self.denials: list[Denial] = []

    async def run(self) -> Settled:
        parsed = [self.parse(call) for call in self.calls]
        last = [item for item in parsed if isinstance(item, _Parsed) and item.tool.terminal]
        for group in _groups([item for item in parsed if item not in last]):
            await self.run_group(group)
        settled = Settled()
        for item in last:
            if settled.ends is not None or settled.waits is not None:
                await self.finish(item.call, ToolOutput("skipped", (Text(NOT_REACHED),)), 0.0)
                continue
            output = await self.answer(item)
            settled = Settled(output.ends, output.waits)
        return Settled(settled.ends, settled.waits, tuple(self.denials))

    def parse(self, call: ToolCall) -> _Parsed | _Refused:
        if call.problem is not None:
            return _Refused(call, error(call.problem))
        tool = self.setup.tools.get(call.name)
        if tool is None:
            return _Refused(call, error(f"There is no tool {call.name!r}. Nothing was run."))
        params = parse(tool, call.arguments)
        if isinstance(params, str):
            return _Refused(call, error(f"{call.name}: {params} Nothing was run."))
        return _Parsed(call, tool, params)

    async def run_group(self, group: list[_Parsed | _Refused]) -> None:
        if len(group) == 1:
            await self.answer(group[0])
            return
        try:
            async with asyncio.TaskGroup() as tasks:
                for item in group:
                    tasks.create_task(self.answer(item))
        except BaseExceptionGroup as group_error:
            raise group_error.exceptions[0] from None

    async def answer(self, item: _Parsed | _Refused) -> ToolOutput:
        """Ask the hooks, decide, write ahead, run, ask the hooks again, record."""
        ready = await self.prepare(item) if isinstance(item, _Parsed) else item
        if isinstance(ready, _Ready):
            return await self.carry_out(ready)
        if ready.denial is not None:
            self.denials.append(ready.denial)
        await self.finish(ready.call, ready.output, 0.0, ready.approval)
        return ready.output

    async def prepare(self, item: _Parsed) -> _Ready | _Refused:
        """Paths are resolved only here, after every earlier call of the turn has run."""
        verdict = await self.setup.hooks.before_tool(item.call, item.tool.effect)
        changed = self.parse(verdict.call) if verdict.changed_by else item
        if isinstance(changed, _Refused):
            changer = Text(f"The hook {', '.join(verdict.changed_by)} changed the arguments, and they cannot be used.")
            return _Refused(item.call, ToolOutput("error", (changer, *changed.output.parts)))
        call, tool = changed.call, changed.tool
        try:
            actions = tool.actions(changed.params, self.setup.place)
        except Hidden as refusal:
            return _denied(call, spell(refusal.path), self.approval(call, "deny", "ignore file", str(refusal)))
        except (ToolError, OSError, ValueError) as refusal:
            return _Refused(call, error(f"{call.name}: {refusal}"))
        approval = self.judge(tool, actions, verdict)
        if approval is None or approval.decision == "allow":
            return _Ready(call, tool, changed.params, actions, approval, verdict.changed_by)
        return _denied(call, " ".join(action.command or ", ".join(action.paths) for action in actions), approval)

    def judge(self, tool: Tool, actions: tuple[Action, ...], verdict: ToolVerdict) -> Approval | None:
        """The strictest of hooks, policy and the way in which the call was made; None where there is nothing to decide."""
        call = verdict.call
        if verdict.decision == "block":
            return self.approval(call, "deny", f"hook {verdict.by}", verdict.reason)
        decided = self.by_policy(call, actions) if actions else None
        if decided is not None and decided.decision == "deny":
            return decided
        if verdict.decision == "ask":
            reason = f"The hook {verdict.by} wants it approved, and there is nobody to ask: {verdict.reason}"
            return self.approval(call, "deny", "nobody to ask", reason)
        if call.promoted and not self.only_reads(tool, actions):
            return self.approval(call, "deny", "nobody to ask", TEXTUAL.format(name=call.name))
        return decided

    def by_policy(self, call: ToolCall, actions: tuple[Action, ...]) -> Approval:
        decision = decide(actions, self.setup.policy)
        if decision.verdict == "allow":
            return self.approval(call, "allow", f"approve {self.setup.policy.approve}, rules", decision.reason)
        by = "rule" if decision.verdict == "deny" else "nobody to ask"
        return self.approval(call, "deny", by, decision.reason, decision.flag)

    def only_reads(self, tool: Tool, actions: tuple[Action, ...]) -> bool:
        """By its declaration, or by what policy lets through when nothing was approved beforehand."""
        bare = replace(self.setup.policy, approve="ask", allow=())
        return tool.effect is Effect.READ or (bool(actions) and decide(actions, bare).verdict == "allow")

    def approval(self, call: ToolCall, decision: Literal["allow", "deny"], by: str, reason: str, flag: str = "") -> Approval:
        """It holds for this call with these arguments alone."""
        digest = hashlib.sha256(f"{call.name}\0{call.arguments}".encode()).hexdigest()
        mask = self.setup.mask.text
        return Approval(call.id, digest, decision, by, mask(reason), mask(flag))

    async def carry_out(self, ready: _Ready) -> ToolOutput:
        call, tool = ready.call, ready.tool
        before = look_before(ready.actions, self.setup.place, self.setup.preimages)
        self.started[call.id] = before.states
        started = CallStarted(call.id, call.name, tool.effect, *before)
        quiet = ready.approval is None or tool.effect is Effect.READ
        await self.setup.log.add(*([started] if quiet else [ready.approval, started]))
        began = time.monotonic()
        output = self.without_secrets(await self.execute(ready))
        if output.waits is not None:
            await self.setup.log.add(Asked(call.id, output.waits))
            return output
        if output.ends is None:
            output = await self.heard(ready, output)
        await self.finish(call, output, time.monotonic() - began)
        return output

    async def heard(self, ready: _Ready, output: ToolOutput) -> ToolOutput:
        """What the hooks make of a result; the model is told of arguments that are not its own."""
        output = replace(output, parts=self.masked(output.parts))
        self.unheard[ready.call.id] = output
        output = await self.setup.hooks.after_tool(ready.call, output)
        if not ready.changed_by:
            return output
        arguments = ready.call.arguments
        shown = arguments if len(arguments) <= SHOWN else arguments[: SHOWN - 1] + "…"
        note = Text(f"(The hook {', '.join(ready.changed_by)} changed the arguments of this call to {shown})")
        return replace(output, parts=(*output.parts, note))

    async def execute(self, ready: _Ready) -> ToolOutput:
        """Whatever a tool does, there is an output: a bug in one tool costs its call, not the session."""
        setup, call, tool = self.setup, ready.call, ready.tool
        context = ToolContext(
            place=setup.place,
            processes=setup.processes,
            blobs=setup.blobs,
            environment=setup.environment,
            call_id=call.id,
            on_output=lambda text: setup.log.tell(Output(call.id, setup.mask.text(text))),
            turn=Turn(
                tuple(call if each.id == call.id else each for each in self.calls), (*self.earlier, *self.results.values())
            ),
        )
        limit = None if tool.terminal else setup.tool_timeout
        try:
            return await within(limit, _run(ready, context))
        except TimedOut:
            unsure = "" if tool.effect is Effect.READ else " What it had done by then is unknown: look before doing it again."
            return error(f"Timed out: {call.name} gave no result within {limit:g} s and was ended.{unsure}")
        except ToolError as refusal:
            return error(str(refusal))
        except OSError as failure:
            return error(f"{call.name}: {failure.strerror or failure}: {failure.filename or ''}".rstrip(": "))
        except Exception as bug:
            return error(f"{call.name} failed inside Ferrule ({type(bug).__name__}: {bug}). Its effect is uncertain; look first.")

    async def finish(self, call: ToolCall, output: ToolOutput, seconds: float, approval: Approval | None = None) -> None:
        parts = self.masked(output.parts)
        result = ToolResult(call.id, call.name, output.kind, parts)
        entries: list[Entry] = [approval] if approval is not None else []
        if output.todos is not None:
            entries.append(TodosSet(output.todos))
        entries += [Staged(call.id, finding) for finding in output.staged]
        after = look_after(self.started.get(call.id, ()), self.setup.place)
        entries.append(CallFinished(result, round(seconds, 4), output.changes, output.gates, output.ends, after))
        await self.setup.log.add(*entries)
        self.results[call.id] = result
        self.unheard.pop(call.id, None)

    def without_secrets(self, output: ToolOutput) -> ToolOutput:
        """The evidence of a terminal action leaves in receipts: it holds no secret value, as the parts of a result hold none."""
        mask = self.setup.mask.text
        gates = {
            gate: replace(gate, detail=mask(gate.detail), command=None if gate.command is None else mask(gate.command))
            for gate in (*output.gates, *(output.ends.gates if output.ends is not None else ()))
        }
        if not gates:
            return output
        ends = output.ends and replace(output.ends, gates=tuple(gates[gate] for gate in output.ends.gates))
        return replace(output, gates=tuple(gates[gate] for gate in output.gates), ends=ends)

    def masked(self, parts: tuple[Text | Image, ...]) -> tuple[Text | Image, ...]:
        """Known secret values never reach the journal or a model (law 11). No result is empty: vendors refuse that."""
        kept: list[Text | Image] = []
        for part in parts:
            if isinstance(part, Text):
                text = self.setup.mask.text(part.text)
                part = Text(text if text.strip() else "(no output)")
            kept.append(part)
        return tuple(kept) or (Text("(no output)"),)

    async def interrupted(self) -> None:
        """Every call without a result gets one that says whether it had begun, and whether it had ended."""
        for call in self.calls:
            if call.id in self.results:
                continue
            if (output := self.unheard.get(call.id)) is not None:
                text = Text(UNHEARD.format(kind=output.kind))
                output = replace(output, kind="interrupted", parts=(text,))
            elif call.id in self.started:
                output = ToolOutput("interrupted", (Text(STOPPED),))
            else:
                output = ToolOutput("skipped", (Text(NEVER_STARTED),))
            await self.finish(call, output, 0.0)


async def _run(ready: _Ready, context: ToolContext) -> ToolOutput:
    return await ready.tool.run(ready.params, context)


def _denied(call: ToolCall, what: str, approval: Approval) -> _Refused:
    text = f"Denied: {approval.reason} Nothing was run. Go on without it, or do it in another way that is allowed."
    denial = Denial(call.name, what, approval.reason, approval.flag)
    return _Refused(call, ToolOutput("denied", (Text(text),)), approval, denial)


def _groups(items: list[_Parsed | _Refused]) -> list[list[_Parsed | _Refused]]:
    """Neighbours that may run beside each other stand in one group; everything else is a group of its own."""
    groups: list[list[_Parsed | _Refused]] = []
    for item in items:
        if groups and _parallel(item) and _parallel(groups[-1][-1]):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def _parallel(item: _Parsed | _Refused) -> bool:
    return isinstance(item, _Parsed) and item.tool.effect is Effect.READ and not item.tool.sequential
