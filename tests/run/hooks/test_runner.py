"""Several hooks of one event, and what a failure means for each event."""

import asyncio
from pathlib import Path
from typing import get_args

import psutil
import pytest

from ferrule.attempt.hooks import CompactVerdict, Notice
from ferrule.run.hooks.hook import CLOSED, Event, Hook
from ferrule.run.hooks.runner import HookRunner
from ferrule.types.outcome import Outcome
from ferrule.types.result import Limits, RunResult
from ferrule.types.tools import Effect, ok
from ferrule.types.usage import NOTHING

from .asking import CALL, ask

PASSES = "true"
ASKS = """echo '{"decision":"ask","reason":"sure?"}'"""
BLOCKS = "echo no >&2; exit 2"
RESULT = RunResult(
    1, None, "s/main", Outcome.FINISHED, 0, "Done.", (), (), Limits(), NOTHING, None, 1, ("a",), None, "scripted/x"
)


def hook(event: Event, command: str, name: str = "", **more: object) -> Hook:
    return Hook(event, command, name=name, **more)  # type: ignore[arg-type]  # from a table


def changes(path: str) -> str:
    return f"""grep -o '"path":"[a-z]*"' >> seen; echo '{{"arguments":{{"path":"{path}"}}}}'"""


@pytest.mark.parametrize(
    ("commands", "decision", "by", "ran"),
    [
        ([PASSES, PASSES], "pass", "", 2),
        ([PASSES, ASKS, PASSES], "ask", "1", 3),
        ([ASKS, BLOCKS, PASSES], "block", "1", 2),
        ([BLOCKS, ASKS], "block", "0", 1),
        ([ASKS, ASKS], "ask", "0", 2),
    ],
)
def test_the_strictest_verdict_wins_and_after_a_block_nobody_is_asked(
    tmp_path: Path, commands: list[str], decision: str, by: str, ran: int
) -> None:
    hooks = [hook("before_tool", command, str(number)) for number, command in enumerate(commands)]
    verdict, heard = ask(tmp_path, hooks, lambda runner: runner.before_tool(CALL, Effect.READ))
    assert (verdict.decision, verdict.by, len(heard.ran)) == (decision, by, ran)


def test_changed_arguments_are_passed_on_in_order_and_recorded(tmp_path: Path) -> None:
    hooks = [hook("before_tool", changes("b"), "first"), hook("before_tool", changes("c"), "second")]
    verdict, heard = ask(tmp_path, hooks, lambda runner: runner.before_tool(CALL, Effect.READ))
    assert (verdict.call.arguments, verdict.changed_by) == ('{"path":"c"}', ("first", "second"))
    assert (tmp_path / "seen").read_text() == '"path":"a"\n"path":"b"\n'
    assert [(ran.verdict, ran.arguments) for ran in heard.ran] == [("change", '{"path":"b"}'), ("change", '{"path":"c"}')]


@pytest.mark.parametrize(("match", "asked"), [("*", 1), ("edit", 1), ("write_*|ed*", 1), ("write_*", 0), ("Edit", 0)])
def test_a_hook_is_asked_about_the_tools_that_it_names(tmp_path: Path, match: str, asked: int) -> None:
    _, heard = ask(tmp_path, [hook("before_tool", PASSES, match=match)], lambda runner: runner.before_tool(CALL, Effect.READ))
    assert len(heard.ran) == asked


def test_notes_are_gathered_until_one_blocks(tmp_path: Path) -> None:
    hooks = [hook("before_model", "echo one"), hook("before_model", "echo two"), hook("before_model", BLOCKS, "three")]
    said, _ = ask(tmp_path, hooks, lambda runner: runner.before_model("scripted/x"))
    assert said == Notice(("one", "two"), "The hook three blocked it: no")


def test_a_compaction_takes_the_first_summary_or_is_cancelled(tmp_path: Path) -> None:
    first, second = (f"""echo '{{"summary":"{word}"}}'""" for word in ("first", "second"))
    said, heard = ask(tmp_path, [hook("before_compact", first), hook("before_compact", second)], compacting)
    assert said == CompactVerdict(summary="first")
    assert [ran.verdict for ran in heard.ran] == ["summary", "summary"]
    said, heard = ask(tmp_path, [hook("before_compact", first), hook("before_compact", BLOCKS, "keeper")], compacting)
    assert said == CompactVerdict(cancel="The hook keeper cancelled it: no")
    assert [ran.verdict for ran in heard.ran] == ["summary", "cancel"]


async def compacting(runner: HookRunner) -> CompactVerdict:
    return await runner.before_compact("preflight", 9000, "the parser")


async def went_on(runner: HookRunner, event: Event) -> bool:
    """Whether things went on as if no hook were there."""
    match event:
        case "session_start":
            return await runner.session_start(False) == Notice()
        case "before_model":
            return await runner.before_model("m") == Notice()
        case "before_tool":
            return (await runner.before_tool(CALL, Effect.READ)).decision == "pass"
        case "after_tool":
            return await runner.after_tool(CALL, ok("x")) == ok("x")
        case "before_compact":
            return await compacting(runner) == CompactVerdict()
        case "before_finalize":
            return (await runner.before_finalize(CALL)).revise is None
        case "after_task":
            return await runner.after_task(RESULT) is None


@pytest.mark.parametrize(
    ("event", "on_failure"),
    [
        (event, on_failure)
        for event in get_args(Event)
        for on_failure in ("", "open", "closed")
        if (event, on_failure) != ("after_task", "closed")
    ],
)
def test_each_event_fails_open_or_closed_as_it_is_told(tmp_path: Path, event: Event, on_failure: str) -> None:
    closed = on_failure == "closed" or (not on_failure and event in CLOSED)
    failing = hook(event, "exit 1", on_failure=on_failure)
    open_again, heard = ask(tmp_path, [failing], lambda runner: went_on(runner, event))
    assert open_again is not closed
    assert [(ran.event, ran.verdict, ran.closed) for ran in heard.ran] == [(event, "failed", closed)]


def test_a_hook_that_is_interrupted_is_recorded_and_its_processes_are_ended(tmp_path: Path) -> None:
    async def interrupted(runner: HookRunner) -> bool:
        asking = asyncio.ensure_future(runner.after_task(RESULT))
        while not (tmp_path / "began").exists():  # noqa: ASYNC110  another process says so
            await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.wait([asking])
        return asking.cancelled()

    sleeping = hook("after_task", "setsid sleep 61.0733 & touch began; sleep 61.0733")
    cancelled, heard = ask(tmp_path, [sleeping], interrupted)
    assert cancelled
    assert [(ran.verdict, ran.reason) for ran in heard.ran] == [("failed", "it was interrupted")]
    assert not [each for each in psutil.process_iter(["cmdline"]) if "61.0733" in (each.info["cmdline"] or [])]
