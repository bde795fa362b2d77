"""What goes wrong while something that went wrong is put right."""

import signal

import pytest

from .driving import KILLED, Json, Project, call, completes, runs, step, until
from .story import SILENT, SPOKEN, STORIES, TASK, Told, go_on, judge, prepare

JSON = ("--approve", "all", "--output-format", "json")


@pytest.mark.parametrize("told", [SILENT, SPOKEN], ids=["silent", "spoken"])
@pytest.mark.parametrize("again", ["before:call_finished", "after:call_finished", "after:attempt_started", "after:assistant"])
def test_a_run_killed_again_while_it_goes_on_repeats_no_effect_either(project: Project, again: str, told: Told) -> None:
    prepare(project)
    arguments = ("--model", project.model(*STORIES["story"]), *TASK)
    for point in ("before:call_finished:3", again, again):
        words = ("-p", "Do it.") if point == "before:call_finished:3" else ("-c", *told.words)
        assert project.run(*words, *arguments, FERRULE_FAULT_POINT=point).code == KILLED
    go_on(project, told, *arguments)


def test_a_call_that_only_reads_runs_again_after_a_crash_and_one_that_changes_something_does_not(project: Project) -> None:
    project.write("a", "a\n")
    turn = step(call("read_file", path="a"), runs("echo once >> effects"))
    model = project.model(turn, step(completes()))
    for point in ("before:call_finished:1", "before:call_finished:2"):
        words = ("-c",) if point.endswith("2") else ("-p", "x", "--model", model)
        assert project.run(*words, *JSON, FERRULE_FAULT_POINT=point).code == KILLED
    assert project.run("-c", *JSON).code == 0
    state = project.journal.state()
    assert [state.results[one] for one in sorted(state.calls)] == [["ok"], ["unknown"], ["ok"]]
    assert (state.started["call_00001"], state.started["call_00002"], project.lines("effects")) == (2, 1, ["once"])


WAITING: dict[str, Json] = {
    "an answer": {**step(completes("Late.")), "fault": {"kind": "stall", "seconds": 30}},
    "the pause before a retry": {"fault": {"kind": "http", "status": 503, "headers": {"Retry-After": "60"}}},
}


@pytest.mark.parametrize("waits", WAITING)
def test_a_signal_while_ferrule_waits_ends_the_run_at_once_and_it_can_go_on(project: Project, waits: str) -> None:
    model = project.model(step(runs("echo once >> effects")), WAITING[waits])
    arguments = ("--model", model, *JSON)
    with project.started("-p", "x", *arguments) as process:
        until(lambda: (project.folder / "effects").exists())
        until(lambda: project.journal.kinds()[-1] == ("call_finished" if waits == "an answer" else "retry"))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=5)
    assert process.returncode == 130
    project.model(step(runs("echo once >> effects")), step(completes("After all.")))
    ran = project.run("-c", *JSON)
    assert (ran.code, ran.result["result"], project.lines("effects")) == (0, "After all.", ["once"])


def test_a_session_whose_end_was_damaged_is_refused_and_not_continued(project: Project) -> None:
    import sqlite3
    from contextlib import closing

    assert project.run("-p", "x", "--model", project.model(step(runs("true")), step(completes())), *JSON).code == 0
    with closing(sqlite3.connect(project.journal.path)) as connection:
        connection.execute("UPDATE records SET payload = replace(payload, 'true', 'fals') WHERE kind = 'assistant'")
        connection.commit()
    ran = project.run("-c", "-p", "more", *JSON)
    assert (ran.code, ran.result["outcome"], "damaged" in ran.result["error"]) == (1, "failed", True)


def test_a_task_without_a_session_leaves_nothing_and_cannot_go_on(project: Project) -> None:
    prepare(project)
    model = project.model(*STORIES["story"])
    assert project.run("-p", "x", "--model", model, "--no-session", *TASK).code == 0
    assert not project.state.exists() or project.sessions == []
    assert project.run("-c", "-p", "more", *JSON).code == 2


def test_a_session_goes_on_with_another_model(project: Project) -> None:
    prepare(project)
    first = project.model(*STORIES["question"], name="first")
    assert project.run("-p", "x", "--model", first, *TASK).code == 3
    second = project.model(step(runs("echo nonce-9 >> effects")), step(completes("Switched.")), name="second")
    ran = project.run("-c", "-p", "left", "--model", second, *TASK)
    assert (ran.code, ran.result["result"], ran.result["model"]) == (0, "Switched.", second)
    judge(project, project.journal)
