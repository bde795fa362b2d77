"""Runs the calls of one answer: exactly one result each, in source order, written ahead (laws 2, 3, 4)."""

import asyncio
import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from msgspec.structs import replace

from ferrule.policy.decide import decide
from ferrule.tools.base import Tool, ToolContext, Turn
from ferrule.tools.schema import parse
from ferrule.types.errors import ToolError
from ferrule.types.messages import Image, Text, ToolCall, ToolResult
from ferrule.types.records import Approval, Asked, CallFinished, CallStarted, Entry, Staged, TodosSet
from ferrule.types.result import Denial, Output
from ferrule.types.tools import Action, Effect, End, Question, ToolOutput, error

from .files import files_before
from .setup import Setup

NOT_REACHED = "Not run: the task had already ended or was waiting for an answer. Nothing was done."
STOPPED = "Interrupted while it ran. What it had done by then is unknown: look before doing it again."
NEVER_STARTED = "Not started: the run was interrupted before it. Nothing was done."


@dataclass(frozen=True)
class Settled:
    """What the calls of one answer led to: the task ended, or waits for an answer, or goes on."""

    ends: End | None = None
    waits: Question | None = None
    denials: tuple[Denial, ...] = ()


@dataclass(frozen=True)
class _Parsed:
    """A call whose tool and arguments are understood; nothing is decided about it yet."""

    call: ToolCall
    tool: Tool
    params: object


@dataclass(frozen=True)
class _Invalid:
    """A call that can't be run as it was written, and its result."""

    call: ToolCall
    output: ToolOutput


async def settle(setup: Setup, calls: Sequence[ToolCall]) -> Settled:
    """Answer every call. Read-only calls that stand together run in parallel, all others one after the other.

    Terminal actions are judged after all other calls of the turn, whatever their place; only the first of them is.
    Cancelling records a result for what ran and for what did not, then goes on cancelling.
    """
    turn = _Turn(setup, calls)
    try:
        return await turn.run()
    except asyncio.CancelledError:
        await asyncio.shield(turn.interrupted())
        raise


class _Turn:
    def __init__(self, setup: Setup, calls: Sequence[ToolCall]) -> None:
        self.setup = setup
        self.calls = calls
        self.earlier = setup.log.conversation.last_results
        self.results: dict[str, ToolResult] = {}
        self.started: set[str] = set()
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

    def parse(self, call: ToolCall) -> _Parsed | _Invalid:
        if call.problem is not None:
            return _Invalid(call, error(call.problem))
        tool = self.setup.tools.get(call.name)
        if tool is None:
            return _Invalid(call, error(f"There is no tool {call.name!r}. Nothing was run."))
        params = parse(tool, call.arguments)
        if isinstance(params, str):
            return _Invalid(call, error(f"{call.name}: {params} Nothing was run."))
        return _Parsed(call, tool, params)

    async def run_group(self, group: list[_Parsed | _Invalid]) -> None:
        if len(group) == 1:
            await self.answer(group[0])
            return
        try:
            async with asyncio.TaskGroup() as tasks:
                for item in group:
                    tasks.create_task(self.answer(item))
        except BaseExceptionGroup as group_error:
            raise group_error.exceptions[0] from None

    async def answer(self, item: _Parsed | _Invalid) -> ToolOutput:
        """Decide, write ahead, run, record. Paths are resolved only here, after every earlier call of the turn has run."""
        if isinstance(item, _Invalid):
            await self.finish(item.call, item.output, 0.0)
            return item.output
        call, tool = item.call, item.tool
        try:
            actions = tool.actions(item.params, self.setup.place)
        except (ToolError, OSError, ValueError) as refusal:
            output = error(f"{call.name}: {refusal}")
            await self.finish(call, output, 0.0)
            return output
        approval = self.judge(call, actions) if actions else None
        if approval is not None and approval.decision == "deny":
            return await self.deny(call, actions, approval)
        self.started.add(call.id)
        started = CallStarted(call.id, call.name, tool.effect, files_before(actions, self.setup.place))
        quiet = approval is None or tool.effect is Effect.READ
        await self.setup.log.add(*([started] if quiet else [approval, started]))
        began = time.monotonic()
        output = self.without_secrets(await self.execute(item))
        if output.waits is not None:
            await self.setup.log.add(Asked(call.id, output.waits))
        else:
            await self.finish(call, output, time.monotonic() - began)
        return output

    def judge(self, call: ToolCall, actions: tuple[Action, ...]) -> Approval:
        decision = decide(actions, self.setup.policy)
        digest = hashlib.sha256(f"{call.name}\0{call.arguments}".encode()).hexdigest()
        reason, flag = self.setup.mask.text(decision.reason), self.setup.mask.text(decision.flag)
        if decision.verdict == "allow":
            return Approval(call.id, digest, "allow", f"approve {self.setup.policy.approve}, rules", reason)
        by = "rule" if decision.verdict == "deny" else "nobody to ask"
        return Approval(call.id, digest, "deny", by, reason, flag)

    async def deny(self, call: ToolCall, actions: tuple[Action, ...], approval: Approval) -> ToolOutput:
        what = " ".join(action.command or ", ".join(action.paths) for action in actions)
        text = f"Denied: {approval.reason} Nothing was run. Go on without it, or do it in another way that is allowed."
        output = ToolOutput("denied", (Text(text),))
        self.denials.append(Denial(call.name, what, approval.reason, approval.flag))
        await self.finish(call, output, 0.0, approval)
        return output

    async def execute(self, item: _Parsed) -> ToolOutput:
        """Whatever a tool does, there is an output: a bug in one tool costs its call, not the session."""
        setup, call = self.setup, item.call
        context = ToolContext(
            place=setup.place,
            processes=setup.processes,
            blobs=setup.blobs,
            environment=setup.environment,
            call_id=call.id,
            on_output=lambda text: setup.log.tell(Output(call.id, setup.mask.text(text))),
            turn=Turn(tuple(self.calls), (*self.earlier, *self.results.values())),
        )
        try:
            return await item.tool.run(item.params, context)
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
        entries.append(CallFinished(result, round(seconds, 4), output.changes, output.gates, output.ends))
        await self.setup.log.add(*entries)
        self.results[call.id] = result

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
        """Every call without a result gets one that says whether it had begun."""
        for call in self.calls:
            if call.id in self.results:
                continue
            text = STOPPED if call.id in self.started else NEVER_STARTED
            kind: Literal["interrupted", "skipped"] = "interrupted" if call.id in self.started else "skipped"
            await self.finish(call, ToolOutput(kind, (Text(text),)), 0.0)


def _groups(items: list[_Parsed | _Invalid]) -> list[list[_Parsed | _Invalid]]:
    """Neighbours that only read stand in one group; everything else is a group of its own."""
    groups: list[list[_Parsed | _Invalid]] = []
    for item in items:
        if groups and _reads(item) and _reads(groups[-1][-1]):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def _reads(item: _Parsed | _Invalid) -> bool:
    return isinstance(item, _Parsed) and item.tool.effect is Effect.READ
