"""The life of a call: validate, before_tool, decide, start record, run, after_tool, finish record."""

import asyncio
import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace

from ferrule.attempt.calls.bounded import TimedOut, within
from ferrule.attempt.hooks import NoHooks, ToolVerdict
from ferrule.tools.base import Place, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.messages import Text, ToolCall
from ferrule.types.records import Approval, CallFinished, CallStarted, Entry
from ferrule.types.tools import Action, Effect, End, FileChange, ToolOutput, ok

from .calling import Desk, Given, call, tool, writes


@dataclass
class Saying(NoHooks):
    """Says one thing before each tool, and writes down what it is asked."""

    decision: str = "pass"
    arguments: str | None = None
    order: list[str] = field(default_factory=list)

    async def before_tool(self, call: ToolCall, effect: Effect) -> ToolVerdict:
        self.order.append(f"before {call.arguments}")
        changed = call if self.arguments is None else replace(call, arguments=self.arguments)
        by = () if self.arguments is None else ("changer",)
        return ToolVerdict(changed, self.decision, "because", "asker", by)  # type: ignore[arg-type]  # from a table

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        self.order.append(f"after {call.arguments}")
        return replace(output, parts=(Text("replaced"),))


def test_the_order_of_a_calls_life(tmp_path: Path) -> None:
    hooks = Saying(arguments='{"path":"b"}')
    order = hooks.order

    async def run(params: Given, context: ToolContext) -> ToolOutput:
        order.append(f"run {params.path}")
        return ok("raw")

    def actions(params: Given, place: Place) -> tuple[Action, ...]:
        order.append(f"decide {params.path}")
        return writes(params, place)

    class Listening(list[Entry]):
        def append(self, entry: Entry) -> None:
            super().append(entry)
            order.append(type(entry).__name__)

    desk = Desk(tmp_path, (tool("w", Effect.MUTATING, run, actions),), hooks, heard=Listening())
    (result,) = desk.settle(call("w", path="a"))
    assert order == [
        'before {"path": "a"}',
        "decide b",
        "Approval",
        "CallStarted",
        "run b",
        'after {"path":"b"}',
        "CallFinished",
    ]
    assert result.text == 'replaced\n(The hook changer changed the arguments of this call to {"path":"b"})'


@pytest.mark.parametrize("made", [call("w", wrong=1), call("gone"), ToolCall("", "w", "not JSON")])
def test_hooks_are_not_asked_about_a_call_that_cannot_be_run(tmp_path: Path, made: ToolCall) -> None:
    hooks = Saying()
    (result,) = Desk(tmp_path, (tool("w"),), hooks).settle(made)
    assert (result.kind, hooks.order) == ("error", [])


def test_what_a_hook_blocks_is_denied_and_not_started(tmp_path: Path) -> None:
    desk = Desk(tmp_path, (tool("r"),), Saying("block"))
    (result,) = desk.settle(call("r"))
    assert result.kind == "denied"
    assert result.text == ("Denied: because Nothing was run. Go on without it, or do it in another way that is allowed.")
    assert [type(entry) for entry in desk.heard] == [Approval, CallFinished]


def test_what_a_hook_wants_asked_is_denied_where_nobody_can_be_asked(tmp_path: Path) -> None:
    desk = Desk(tmp_path, (tool("r"),), Saying("ask"))
    (result,) = desk.settle(call("r"))
    assert result.kind == "denied"
    assert isinstance(desk.heard[0], Approval)
    assert (desk.heard[0].by, desk.heard[0].reason) == (
        "nobody to ask",
        "The hook asker wants it approved, and there is nobody to ask: because",
    )


def test_changed_arguments_are_validated_and_decided_anew(tmp_path: Path) -> None:
    writer = tool("w", Effect.MUTATING, actions=writes)
    (invalid,) = Desk(tmp_path, (writer,), Saying(arguments='{"file":"x"}')).settle(call("w"))
    assert invalid.kind == "error"
    assert invalid.text.startswith(
        "The hook changer changed the arguments, and they cannot be used.\nw: `file` is not a parameter"
    )
    desk = Desk(tmp_path, (writer,), Saying(arguments='{"path":"/etc/x"}'), approve="edits")
    (outside,) = desk.settle(call("w", path="inside"))
    assert outside.kind == "denied"
    assert "/etc/x" in outside.text


def test_an_approval_holds_for_the_arguments_that_run(tmp_path: Path) -> None:
    desk = Desk(tmp_path, (tool("w", Effect.MUTATING, actions=writes),), Saying(arguments='{"path":"b"}'))
    desk.settle(call("w", path="a"))
    (approval,) = [entry for entry in desk.heard if isinstance(entry, Approval)]
    assert approval.decision == "allow"
    assert approval.digest == hashlib.sha256(b'w\0{"path":"b"}').hexdigest()


def test_a_hook_sees_no_secret_and_what_it_puts_in_place_is_masked_too(tmp_path: Path) -> None:
    seen: list[str] = []

    class Leaking(NoHooks):
        async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
            seen.append(str(output.parts))
            return replace(output, parts=(Text("it was hunter2hunter2"),))

    async def run(params: Given, context: ToolContext) -> ToolOutput:
        return ok("password hunter2hunter2")

    desk = Desk(tmp_path, (tool("r", run=run),), Leaking(), secrets=(("PASSWORD", "hunter2hunter2"),))
    (result,) = desk.settle(call("r"))
    assert "hunter2" not in seen[0]
    assert result.text == "it was [secret PASSWORD]"


def only_list(params: Given, place: Place) -> tuple[Action, ...]:
    return (Action("execute", (str(place.root),), f"ls {params.path}"),)


def test_a_call_written_as_text_runs_only_where_it_only_reads(tmp_path: Path) -> None:
    tools = (
        tool("read"),
        tool("list", Effect.MUTATING, actions=only_list),
        tool("write", Effect.MUTATING, actions=writes),
        tool("done", Effect.IDEMPOTENT, terminal=True),
    )
    calls = [call(each.name, "", True, path="a") for each in tools]
    desk = Desk(tmp_path, tools)
    assert [result.kind for result in desk.settle(*calls)] == ["ok", "ok", "denied", "denied"]
    assert "Call write through the tool interface." in desk.finished()[2].result.text
    assert [entry.name for entry in desk.heard if isinstance(entry, CallStarted)] == ["read", "list"]
    assert [result.kind for result in Desk(tmp_path, tools).settle(call("write", path="a"))] == ["ok"]


@pytest.mark.parametrize(("sequential", "most"), [(False, 3), (True, 1)])
def test_reading_calls_run_beside_each_other_unless_their_tool_is_sequential(tmp_path: Path, sequential: bool, most: int) -> None:
    running: list[int] = [0]
    peak: list[int] = [0]

    async def run(params: Given, context: ToolContext) -> ToolOutput:
        running[0] += 1
        peak[0] = max(peak[0], running[0])
        for _ in range(4 - int(params.path)):
            await asyncio.sleep(0.005)
        running[0] -= 1
        return ok(params.path)

    desk = Desk(tmp_path, (tool("r", run=run, sequential=sequential),))
    results = desk.settle(*[call("r", path=str(n)) for n in (1, 2, 3)])
    assert peak == [most]
    assert [result.text for result in results] == ["1", "2", "3"]


def test_a_tool_that_does_not_return_is_ended_and_the_run_goes_on(tmp_path: Path) -> None:
    ended: list[str] = []

    async def hangs(params: Given, context: ToolContext) -> ToolOutput:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(params.path)
        return ok("never")

    tools = (tool("reads", run=hangs), tool("changes", Effect.MUTATING, hangs), tool("after"))
    results = Desk(tmp_path, tools, timeout=0.05).settle(call("reads", path="1"), call("changes", path="2"), call("after"))
    assert [result.text for result in results] == [
        "Timed out: reads gave no result within 0.05 s and was ended.",
        "Timed out: changes gave no result within 0.05 s and was ended. "
        "What it had done by then is unknown: look before doing it again.",
        "did a",
    ]
    assert [result.kind for result in results] == ["error", "error", "ok"]
    assert ended == ["1", "2"]


def test_the_checks_of_a_terminal_action_have_limits_of_their_own(tmp_path: Path) -> None:
    async def slow(params: Given, context: ToolContext) -> ToolOutput:
        await asyncio.sleep(0.1)
        return ok("at last")

    (result,) = Desk(tmp_path, (tool("done", Effect.IDEMPOTENT, slow, terminal=True),), timeout=0.01).settle(call("done"))
    assert result.text == "at last"


def test_work_that_does_not_heed_its_cancellation_is_left_behind() -> None:
    async def deaf(stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                await stop.wait()
            except asyncio.CancelledError:
                continue

    async def main() -> None:
        stop = asyncio.Event()
        with pytest.raises(TimedOut):
            await within(0.01, deaf(stop), patience=0.02)
        waiting = asyncio.ensure_future(within(None, deaf(stop), patience=0.02))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        stop.set()
        await asyncio.sleep(0)

    asyncio.run(main())


def test_a_tool_that_cancels_itself_costs_its_call_and_not_the_run(tmp_path: Path) -> None:
    async def cancels(params: Given, context: ToolContext) -> ToolOutput:
        raise asyncio.CancelledError

    results = Desk(tmp_path, (tool("c", run=cancels), tool("r"))).settle(call("c"), call("r"))
    assert [result.kind for result in results] == ["error", "ok"]


def test_a_result_that_no_hook_had_seen_when_the_run_was_interrupted_is_left_out_and_its_changes_are_kept(tmp_path: Path) -> None:
    class Slow(NoHooks):
        async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(60)
            return output

    change = FileChange("a", None, "0" * 64)

    async def run(params: Given, context: ToolContext) -> ToolOutput:
        return ok("unseen words", (change,))

    desk = Desk(tmp_path, (tool("w", Effect.MUTATING, run, writes),), Slow())
    (result,) = desk.settle(call("w"))
    assert (result.kind, "unseen" in result.text, "ran to its end (ok)" in result.text) == ("interrupted", False, True)
    assert desk.finished()[0].changes == (change,)


def test_hooks_after_a_tool_are_not_asked_about_what_ends_the_task(tmp_path: Path) -> None:
    from ferrule.types.outcome import Outcome

    async def run(params: Given, context: ToolContext) -> ToolOutput:
        return ToolOutput("ok", (Text("accepted"),), ends=End(Outcome.FINISHED, "x"))

    hooks = Saying()
    (result,) = Desk(tmp_path, (tool("done", Effect.IDEMPOTENT, run, terminal=True),), hooks).settle(call("done"))
    assert (result.text, hooks.order) == ("accepted", ["before {}"])


def test_a_refused_path_reaches_no_policy(tmp_path: Path) -> None:
    def refuses(params: Given, place: Place) -> tuple[Action, ...]:
        raise ToolError("no such place")

    desk = Desk(tmp_path, (tool("r", actions=refuses),))
    assert [result.text for result in desk.settle(call("r"))] == ["r: no such place"]


def test_a_tool_sees_its_turn_with_the_arguments_that_it_runs_with(tmp_path: Path) -> None:
    seen: list[str] = []

    async def run(params: Given, context: ToolContext) -> ToolOutput:
        seen.extend(each.arguments for each in context.turn.calls)
        return ok("")

    desk = Desk(tmp_path, (tool("r"), tool("done", Effect.IDEMPOTENT, run, terminal=True)), Saying(arguments='{"path":"b"}'))
    desk.settle(call("r", path="a"), call("done", path="a"))
    assert seen == ['{"path": "a"}', '{"path":"b"}']
