"""Law 4: exactly one result for each call, in source order, whatever a tool or a hook does and whenever the run is cancelled."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.attempt.hooks import NoHooks, ToolVerdict
from ferrule.tools.base import ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.messages import ToolCall
from ferrule.types.records import CallStarted, Entry
from ferrule.types.tools import Effect, ToolOutput, ok

from .calling import Desk, Given, call, tool, writes


async def good(params: Given, context: ToolContext) -> ToolOutput:
    return ok("good")


async def late(params: Given, context: ToolContext) -> ToolOutput:
    for _ in range(3):
        await asyncio.sleep(0)
    return ok("late")


async def refuses(params: Given, context: ToolContext) -> ToolOutput:
    raise ToolError("no")


async def bug(params: Given, context: ToolContext) -> ToolOutput:
    raise ZeroDivisionError


async def hangs(params: Given, context: ToolContext) -> ToolOutput:
    await asyncio.sleep(60)
    return ok("never")


RUNS = {"good": good, "late": late, "refuses": refuses, "bug": bug, "hangs": hangs}
TOOLS = (
    *(tool(f"r_{name}", run=run) for name, run in RUNS.items()),
    *(tool(f"s_{name}", run=run, sequential=True) for name, run in RUNS.items()),
    *(tool(f"w_{name}", Effect.MUTATING, run, writes) for name, run in RUNS.items()),
    *(tool(f"x_{name}", Effect.EXTERNAL, run) for name, run in RUNS.items()),
    *(tool(f"t_{name}", Effect.IDEMPOTENT, run, terminal=True) for name, run in RUNS.items() if name != "hangs"),
)
calls = st.builds(
    lambda name, given, promoted: call(name, "", promoted, **given),
    name=st.sampled_from([*(each.name for each in TOOLS), "unknown"]),
    given=st.sampled_from([{}, {"path": "b"}, {"path": "/etc/x"}, {"wrong": 1}]),
    promoted=st.sampled_from([False, False, True]),
)


class Meddling(NoHooks):
    """Blocks, asks and changes by turns."""

    def __init__(self, turns: list[str]) -> None:
        self.turns = turns

    async def before_tool(self, call: ToolCall, effect: Effect) -> ToolVerdict:
        await asyncio.sleep(0)
        turn: Any = self.turns.pop() if self.turns else "pass"
        return ToolVerdict(call, turn, "so", "it")

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        await asyncio.sleep(0)
        return output


def at_entry(number: int | None) -> Callable[[Entry], bool]:
    """True once: when so many entries have become durable."""
    seen = [0]

    def reached(entry: Entry) -> bool:
        seen[0] += 1
        return seen[0] == number

    return reached


@settings(max_examples=60, deadline=None)
@given(
    made=st.lists(calls, min_size=1, max_size=6),
    cancel=st.none() | st.integers(1, 12),
    says=st.lists(st.sampled_from(["pass", "pass", "block", "ask"]), max_size=6),
)
def test_each_call_has_exactly_one_result_in_source_order(made: list[ToolCall], cancel: int | None, says: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder), TOOLS, Meddling(says), approve="edits", timeout=0.02)
        results = desk.settle(*made, cancel_when=at_entry(cancel))
    finished = Counter(entry.result.call_id for entry in desk.finished())
    assert finished == Counter(f"call_{number}" for number in range(1, len(made) + 1))
    assert [result.call_id for result in results] == [f"call_{number}" for number in range(1, len(made) + 1)]
    started = {entry.call_id for entry in desk.heard if isinstance(entry, CallStarted)}
    for result in results:
        assert (result.kind in ("denied", "skipped")) <= (result.call_id not in started)
        assert result.text.strip()
