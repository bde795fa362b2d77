import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from .driving import KILLED, Json, Project, carriers, command_line, completes, over, runs, step, until

JSON = ("--approve", "all", "--output-format", "json")
FIRST, SECOND = "The first one's work.", "The second one's work."


def mark() -> str:
    return f"31{os.getpid()}{os.urandom(3).hex()}"


def long_command(name: str) -> Json:
    """Runs until `go` is there, with a mark in its command line and a descendant that has one too."""
    return runs(
        f": {name}; (: {name}; touch began; while true; do sleep 0.02; done) & until [ -e go ]; do sleep 0.02; done; kill $!"
    )


@contextmanager
def holding(project: Project, *steps: Json, more: tuple[str, ...] = JSON) -> "Iterator[subprocess.Popen[bytes]]":
    """The session of the first process while that runs its first command."""
    project.model(step(completes(SECOND), times="always"), name="second")
    with project.started("-p", "x", "--model", project.model(*steps), *more) as first:
        until(lambda: (project.folder / "began").exists())
        yield first


def second(project: Project, *words: str) -> tuple[str, ...]:
    return ("-c", *words, "--model", f"scripted/{project.home}/second.json", *JSON)


def told(process: "subprocess.Popen[bytes]") -> tuple[int, Json, str]:
    out, err = process.communicate()
    return process.returncode, json.loads(out), err.decode()


def test_waiting_says_for_whom_and_goes_on_once_the_session_is_free(project: Project) -> None:
    steps = (step(long_command(mark())), step(completes(FIRST)))
    with holding(project, *steps) as first, project.started(*second(project, "-p", "y", "--if-busy", "wait")) as waiting:
        assert waiting.stderr is not None
        line = waiting.stderr.readline().decode()
        before = project.journal.rows()
        project.write("go", "")
        assert told(first)[0] == 0
        code, result, _ = told(waiting)
    assert line.startswith("ferrule: Session ")
    assert line.endswith(f"is open for writing in process {first.pid}. Waiting until it is free.\n")
    assert (code, result["result"], result["unstored"]) == (0, SECOND, False)
    assert project.journal.rows()[: len(before)] == before
    assert [entry["result"] for entry in project.journal.entries("outcome")] == [FIRST, SECOND]


def test_waiting_ends_with_the_holder_whatever_ends_that(project: Project) -> None:
    wait = ("-p", "y", "--if-busy", "wait")
    with holding(project, step(long_command(mark()))) as first, project.started(*second(project, *wait)) as waiting:
        assert waiting.stderr is not None
        waiting.stderr.readline()
        first.kill()
        code, result, _ = told(waiting)
    assert (code, result["result"]) == (0, SECOND)


def test_waiting_is_bounded_and_may_be_stopped_and_writes_nothing(project: Project) -> None:
    with holding(project, step(long_command(mark()), completes(FIRST))) as first:
        before = project.journal.rows()
        ran = project.run(*second(project, "-p", "y", "--if-busy", "wait", "--max-time", "1s"))
        assert (ran.code, ran.result["outcome"]) == (75, "unavailable")
        assert f"process {first.pid}" in ran.result["error"]
        assert "--max-time" in ran.result["error"]
        with project.started(*second(project, "-p", "y", "--if-busy", "wait")) as waiting:
            assert waiting.stderr is not None
            waiting.stderr.readline()
            waiting.send_signal(signal.SIGINT)
            code, result, _ = told(waiting)
        assert (code, result["outcome"]) == (130, "interrupted")
        assert project.journal.rows() == before
        project.write("go", "")
        assert told(first)[0] == 0


def test_a_session_that_is_open_elsewhere_is_watched_to_its_end(project: Project) -> None:
    watch = ("-c", "--if-busy", "read", "--output-format", "stream-json")
    with holding(project, step(long_command(mark())), step(completes(FIRST))) as first, project.started(*watch) as watching:
        assert watching.stdout is not None
        begun = [json.loads(watching.stdout.readline()) for _ in range(4)]
        project.write("go", "")
        first_code = told(first)[0]
        out = watching.stdout.read()
    lines = [*begun, *map(json.loads, out.splitlines())]
    assert (first_code, watching.wait()) == (0, 0)
    assert [line["type"] for line in lines] == ["session", *["record"] * len(project.journal.rows()), "result"]
    assert [line["record"]["hash"] for line in lines[1:-1]] == [row.hash for row in project.journal.rows()]
    assert (lines[-1]["outcome"], lines[-1]["result"]) == ("finished", FIRST)
    project.journal.check()


@pytest.mark.parametrize(
    ("words", "why"), [(("-p", "y"), "the prompt was given to nobody"), ((), "its run has no outcome")], ids=["prompt", "killed"]
)
def test_whoever_only_watched_does_not_report_success_for_what_is_not_done(
    project: Project, words: tuple[str, ...], why: str
) -> None:
    steps = (step(long_command(mark())), step(completes(FIRST)))
    with holding(project, *steps) as first, project.started(*second(project, *words, "--if-busy", "read")) as watching:
        assert watching.stderr is not None
        watching.stderr.readline()
        if words:
            project.write("go", "")
            assert told(first)[0] == 0
        else:
            first.kill()
        code, result, _ = told(watching)
    assert (code, result["outcome"]) == (75, "unavailable")
    assert why in result["error"]
    assert "y" not in [part["text"] for said in project.journal.entries("user") for part in said["message"]["parts"]]


def test_a_takeover_ends_the_commands_of_the_loser_which_tells_its_reply_as_not_stored_and_asks_no_more(project: Project) -> None:
    name = mark()
    steps = (step(long_command(name), completes(FIRST)), step(runs("echo too-late >> effects"), times="always"))
    with holding(project, *steps) as first:
        begun = carriers(name)
        assert len(begun) >= 2
        taken = project.run(*second(project, "-p", "y", "--if-busy", "take"))
        until(lambda: all(over(pid) for pid in begun))
        after = project.journal.rows()
        code, result, err = told(first)
    assert (taken.code, taken.result["result"]) == (0, SECOND), taken
    assert f"was taken over. It was open in process {first.pid}. That process can store nothing more.\n" in taken.err
    assert "may still change files" not in taken.err
    assert (code, result["outcome"], result["unstored"], result["receipt"]) == (1, "failed", True, None)
    assert result["result"] == FIRST
    assert "could not be stored" in result["error"]
    assert "could not be stored" in err
    assert result["turns"] == 1
    assert project.lines("effects") == []
    assert project.journal.rows() == after
    project.journal.check()


def test_an_answer_that_arrives_after_a_takeover_is_told_as_not_stored(project: Project) -> None:
    steps = (step(runs("touch began")), {**step(completes(FIRST), text="Slowly and surely."), "chunk": 4, "delay": 0.2})
    with holding(project, *steps) as first:
        until(lambda: "call_finished" in project.journal.kinds())
        taken = project.run(*second(project, "-p", "y", "--if-busy", "take"))
        after = project.journal.rows()
        code, result, _ = told(first)
    assert (taken.code, taken.result["result"]) == (0, SECOND), taken
    assert (code, result["unstored"], result["turns"]) == (1, True, 2)
    assert result["result"] == f"Slowly and surely.\n\n{FIRST}"
    assert project.journal.rows() == after
    project.journal.check()


def test_a_stopped_holder_is_taken_over_and_can_do_nothing_once_it_wakes(project: Project) -> None:
    name = mark()
    with holding(project, step(long_command(name), completes(FIRST))) as first:
        first.send_signal(signal.SIGSTOP)
        taken = project.run(*second(project, "-p", "y", "--if-busy", "take"))
        assert (taken.code, taken.result["result"]) == (0, SECOND), taken
        assert f"It was open in process {first.pid}, which is stopped (kill -CONT wakes it)." in taken.err
        assert "It has not let go yet; what it has started may still change files.\n" in taken.err
        after = project.journal.rows()
        first.send_signal(signal.SIGCONT)
        code, result, _ = told(first)
    assert (code, result["unstored"], result["result"]) == (1, True, FIRST)
    assert carriers(name) == []
    assert project.journal.rows() == after


def test_of_takers_at_once_each_either_stores_its_work_or_says_that_it_did_not(project: Project) -> None:
    with holding(project, step(long_command(mark()), completes(FIRST))):
        line = second(project, "-p", "y", "--if-busy", "take")
        with project.started(*line) as one, project.started(*line) as other:
            ends = [told(one), told(other)]
    assert {code for code, _, _ in ends} <= {0, 1, 75}
    stored = [result for code, result, _ in ends if code == 0]
    assert len(stored) >= 1
    assert [entry["outcome"] for entry in project.journal.entries("outcome")] == ["finished"] * len(stored)
    assert all(result["unstored"] or result["turns"] == 0 for code, result, _ in ends if code == 1)
    project.journal.check()


@pytest.mark.parametrize("point", ["before:user", "after:user", "before:outcome"])
def test_a_session_whose_taker_died_goes_on_at_once(project: Project, point: str) -> None:
    name = mark()
    with holding(project, step(long_command(name), completes(FIRST))) as first:
        died = project.run(*second(project, "-p", "y", "--if-busy", "take"), FERRULE_FAULT_POINT=point)
        assert died.code == KILLED
        ran = project.run(*second(project, "-p", "z"))
        assert (ran.code, ran.result["result"]) == (0, SECOND), ran
        code, result, _ = told(first)
    assert (code, result["unstored"]) == (1, True)
    assert [pid for pid in carriers(name) if command_line(pid)] == []
    project.journal.check()
