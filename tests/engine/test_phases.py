"""The phases of an attempt: timed whatever happens in them, aborted between them, each with its own way to fail."""

import asyncio
import os
from pathlib import Path

import pytest

from ferrule.attempt.maintenance import Chore, maintain
from ferrule.attempt.phases import Phases
from ferrule.run.hooks.hook import Hook
from ferrule.task.config.schema import Config
from ferrule.task.contracts import CODE
from ferrule.task.kind import Kind, Opening, Prepared
from ferrule.task.open import TaskOptions, open_task
from ferrule.tools.read.read_file import read_file
from ferrule.types.outcome import Outcome
from ferrule.types.records import AssistantSaid, AttemptEnded, PhaseTime, UserSaid
from ferrule.types.result import RunResult

from .opening import call, ends, run, script, step


class Clock:
    """Moves by one second each time that it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_a_phase_is_timed_also_where_it_fails_and_counted_again_where_it_comes_again() -> None:
    async def go() -> Phases:
        phases = Phases(Clock())
        with phases.step("history"):
            pass
        with phases.step("submit"), pytest.raises(OSError, match="gone"), phases.step("preflight"):
            raise OSError("gone")
        with phases.step("history"):
            pass
        return phases

    phases = asyncio.run(go())
    assert phases.times == (PhaseTime("history", 2, 2.0), PhaseTime("submit", 1, 3.0), PhaseTime("preflight", 1, 1.0))
    assert phases.last == "history"


def test_no_phase_begins_once_the_attempt_is_to_be_aborted() -> None:
    entered: list[str] = []

    async def go(phases: Phases) -> None:
        with phases.step("history"):
            entered.append("history")
            current = asyncio.current_task()
            assert current is not None
            current.cancel()
        with phases.step("submit"):
            entered.append("submit")

    async def watch() -> Phases:
        phases = Phases()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(go(phases))
        return phases

    phases = asyncio.run(watch())
    assert entered == ["history"]
    assert [phase.name for phase in phases.times] == ["history"]


def test_every_chore_is_done_and_those_that_fail_are_told() -> None:
    done: list[str] = []

    def fails() -> None:
        raise PermissionError("no")

    chores = [Chore("blobs", fails), Chore("index", lambda: done.append("index"))]
    assert maintain(chores) == ("blobs: PermissionError: no",)
    assert done == ["index"]


def test_a_project_folder_that_goes_away_fails_the_next_attempt_before_anything_is_asked(tmp_path: Path) -> None:
    away = step(call("execute_command", command="rmdir $PWD"))
    ran = run(tmp_path, away, {"fault": {"kind": "http", "status": 503}}, ends())
    assert (ran.result.outcome, ran.result.turns) == (Outcome.FAILED, 1)
    assert "is gone" in str(ran.result.error)
    ended = ran.entries(AttemptEnded)[-1]
    assert (ended.how, [phase.name for phase in ended.phases]) == ("blocked", ["workspace", "maintenance"])


def test_a_hook_that_forbids_to_go_on_ends_the_run_without_another_request(tmp_path: Path) -> None:
    config = Config(approve="all", hooks=(Hook("before_model", command="echo the budget is spent >&2; exit 2"),))
    ran = run(tmp_path, ends(), config=config)
    assert (ran.result.outcome, ran.result.turns, ran.entries(AssistantSaid)) == (Outcome.FAILED, 0, [])
    assert "the budget is spent" in str(ran.result.error)
    [ended] = ran.entries(AttemptEnded)
    assert (ended.how, [phase.name for phase in ended.phases][-2:]) == ("blocked", ["prompt", "maintenance"])


def test_what_a_hook_notes_before_a_request_is_said_to_the_model(tmp_path: Path) -> None:
    config = Config(approve="all", hooks=(Hook("before_model", command="""echo '{"note": "It is Tuesday."}'"""),))
    ran = run(tmp_path, ends(), config=config)
    notes = [entry.message.parts[0].text for entry in ran.entries(UserSaid) if entry.origin == "hook"]
    assert ran.result.outcome is Outcome.FINISHED
    assert len(notes) == 1 and "It is Tuesday." in notes[0]


def test_a_task_that_is_offered_no_tool_to_end_with_is_not_begun(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    options = TaskOptions(
        prompt="Do it.",
        folder=tmp_path / "project",
        config=Config(approve="all", model=script(tmp_path, ends())),
        environ={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        user_folder=tmp_path / "user",
        no_session=True,
    )

    async def prepare(opening: Opening) -> Prepared:
        return Prepared((read_file(),), ("You read.",), opening.options.prompt)

    async def go() -> RunResult:
        task = await open_task(options, Kind(CODE, prepare))
        try:
            return await task.run()
        finally:
            await task.close()

    result = asyncio.run(go())
    assert (result.outcome, result.turns, result.usage.total) == (Outcome.FAILED, 0, 0)
    assert "cannot be offered a tool that ends the task (of: read_file)" in str(result.error)
