"""Hooks in whole runs: the real engine; a script plays the model."""

import json
import time
from pathlib import Path

import psutil

from ferrule.run.hooks.hook import Event, Hook
from ferrule.task.config.schema import Config, Timeouts
from ferrule.task.gates import REVISIONS
from ferrule.types.outcome import Outcome
from ferrule.types.records import Approval, CallFinished, CallStarted, HookRan, Receipt, RunEnded, UserSaid
from tests.engine.opening import Ran, Step, call, ends, run, step


def ran(folder: Path, *steps: Step, hooks: tuple[Hook, ...], **more: object) -> Ran:
    return run(folder, *steps, config=Config(approve="all", hooks=hooks, **more))  # type: ignore[arg-type]  # further settings


def hook(event: Event, command: str, **more: object) -> Hook:
    return Hook(event, command, **more)  # type: ignore[arg-type]  # from a table


WRITE = step(call("write_to_file", path="a.txt", content="a\n"))


def test_every_event_of_a_run_is_heard_in_order_and_recorded(tmp_path: Path) -> None:
    events: tuple[Event, ...] = ("session_start", "before_tool", "after_tool", "before_finalize", "after_task")
    hooks = tuple(hook(event, f"echo {event} >> {tmp_path}/heard") for event in events)
    found = ran(tmp_path, WRITE, ends(), hooks=hooks)
    assert found.result.outcome is Outcome.FINISHED
    expected = ["session_start", "before_tool", "after_tool", "before_tool", "before_finalize", "after_task"]
    assert (tmp_path / "heard").read_text().split() == expected
    assert [entry.event for entry in found.entries(HookRan)] == expected
    assert isinstance(found.records[-2].entry, RunEnded)


def test_an_action_that_hooks_send_back_is_revised_and_then_accepted(tmp_path: Path) -> None:
    judge = hook("before_finalize", "test -e a.txt || { echo a.txt is missing >&2; exit 2; }", name="has a.txt")
    found = ran(tmp_path, ends("First."), WRITE, ends("Second."), hooks=(judge,))
    assert (found.result.outcome, found.result.result) == (Outcome.FINISHED, "Second.")
    refused = found.entries(CallFinished)[0].result
    assert (refused.kind, refused.text) == (
        "error",
        "Not accepted. The hook has a.txt says: a.txt is missing\nDo what it asks for, then complete.",
    )
    (gate,) = [gate for gate in found.entries(Receipt)[0].gates if gate.gate == "hooks"]
    assert (gate.passed, gate.detail) == (True, "has a.txt")


def test_what_hooks_go_on_refusing_ends_unverified_and_never_accepted(tmp_path: Path) -> None:
    never = hook("before_finalize", "echo never >&2; exit 2", name="never")
    found = ran(tmp_path, *[ends(f"Try {n}.") for n in range(9)], hooks=(never,))
    assert (found.result.outcome, found.result.exit_code, found.result.result) == (Outcome.UNVERIFIED, 8, f"Try {REVISIONS}.")
    assert found.result.error == "The check hooks kept failing: never: never."
    assert len(found.entries(CallFinished)) == REVISIONS + 1 == 4
    assert [gate.passed for gate in found.result.verification if gate.gate == "hooks"] == [False]


def test_a_finalize_hook_that_fails_accepts_nothing(tmp_path: Path) -> None:
    found = ran(tmp_path, *[ends()] * 9, hooks=(hook("before_finalize", "exit 1"),))
    assert found.result.outcome is Outcome.UNVERIFIED
    assert ran(tmp_path, ends(), hooks=(hook("before_finalize", "exit 1", on_failure="open"),)).result.outcome is Outcome.FINISHED


def test_finalize_hooks_are_asked_after_every_other_gate(tmp_path: Path) -> None:
    judge = hook("before_finalize", "echo asked >> asked")
    open_todo = step(call("update_todo_list", todos="[ ] open"))
    ran(tmp_path, open_todo, ends(), step(call("update_todo_list", todos="[x] open")), ends(), hooks=(judge,))
    assert (tmp_path / "project" / "asked").read_text() == "asked\n"


def test_a_session_begins_with_what_a_hook_notes_or_not_at_all(tmp_path: Path) -> None:
    found = ran(tmp_path, ends(), hooks=(hook("session_start", "echo The tests need a database."),))
    assert [(entry.message.parts[0].text, entry.origin) for entry in found.entries(UserSaid)] == [
        ("Do it.", "person"),
        ("The tests need a database.", "hook"),
    ]
    found = ran(tmp_path, ends(), hooks=(hook("session_start", "echo not today >&2; exit 2", name="gate"),))
    assert (found.result.outcome, found.result.error) == (Outcome.FAILED, "The hook gate blocked it: not today")
    assert found.result.turns == 0


def test_after_a_task_the_outcome_that_stands_is_told_and_nothing_changes_it(tmp_path: Path) -> None:
    found = ran(tmp_path, WRITE, ends("All done."), hooks=(hook("after_task", "cat > told.json; exit 2"),))
    assert found.result.outcome is Outcome.FINISHED
    told = json.loads((tmp_path / "project" / "told.json").read_text())
    assert (told["outcome"], told["exit_code"], told["result"], told["files_changed"]) == ("finished", 0, "All done.", ["a.txt"])
    assert found.entries(HookRan)[-1].verdict == "failed"


def test_a_blocked_tool_is_a_denial_of_the_run_and_the_run_goes_on(tmp_path: Path) -> None:
    guard = hook("before_tool", "echo read-only today >&2; exit 2", name="guard", match="write_*|edit")
    found = ran(tmp_path, WRITE, ends(), hooks=(guard,))
    assert found.result.outcome is Outcome.FINISHED
    assert not (tmp_path / "project" / "a.txt").exists()
    (denial,) = found.result.denials
    assert (denial.tool, denial.reason) == ("write_to_file", "read-only today.")
    assert [entry.by for entry in found.entries(Approval)] == ["hook guard"]
    assert [entry.name for entry in found.entries(CallStarted)] == ["attempt_completion"]


def test_a_hook_that_hangs_does_not_hang_the_run(tmp_path: Path) -> None:
    began = time.monotonic()
    hooks = tuple(
        hook(event, "setsid sleep 61.0734 & sleep 61.0734", timeout=0.2)
        for event in ("session_start", "after_tool", "after_task")
    )
    found = ran(tmp_path, WRITE, ends(), hooks=hooks)
    assert found.result.outcome is Outcome.FINISHED
    assert {entry.verdict for entry in found.entries(HookRan)} == {"failed"}
    assert time.monotonic() - began < 40
    assert not [each for each in psutil.process_iter(["cmdline"]) if "61.0734" in (each.info["cmdline"] or [])]


def test_a_command_that_passes_its_bound_is_ended_with_all_it_started_and_the_run_goes_on(tmp_path: Path) -> None:
    sleeping = step(call("execute_command", command="setsid sleep 61.0735 & sleep 61.0735", timeout=60))
    found = ran(tmp_path, sleeping, ends(), hooks=(), timeouts=Timeouts(0.5))
    assert found.result.outcome is Outcome.FINISHED
    assert found.entries(CallFinished)[0].result.text.startswith("Timed out: execute_command gave no result within 0.5 s")
    assert not [each for each in psutil.process_iter(["cmdline"]) if "61.0735" in (each.info["cmdline"] or [])]


def test_before_each_request_a_hook_may_add_a_note_or_stop_the_run(tmp_path: Path) -> None:
    noting = hook("before_model", "cat > asked.json; test -e a.txt || echo Write a.txt first.")
    found = ran(tmp_path, WRITE, ends(), hooks=(noting,))
    assert found.result.outcome is Outcome.FINISHED
    assert [entry.message.parts[0].text for entry in found.entries(UserSaid) if entry.origin == "hook"] == ["Write a.txt first."]
    asked = json.loads((tmp_path / "project" / "asked.json").read_text())
    assert (asked["event"], asked["messages"]) == ("before_model", 4)
    assert '"path":"a.txt"' in asked["last"]
    stopping = hook("before_model", "test ! -e a.txt || { echo enough >&2; exit 2; }", name="brake")
    found = ran(tmp_path, WRITE, ends(), hooks=(stopping,))
    assert (found.result.outcome, found.result.error) == (Outcome.FAILED, "The hook brake blocked it: enough")
    assert found.result.turns == 0
