import os
import secrets
import signal
import subprocess
from collections.abc import Callable

import pytest

from .driving import KILLED, Project, carriers, command_line, completes, descendants, over, runs, step, until

SCRIPTS = {
    "foreground": "sleep MARK; true",
    "background": "sleep MARK & wait",
    "pipeline": "sleep MARK | cat",
    "own session": "setsid sleep MARK & wait",
}
ENDED_WITHIN = 5.0


@pytest.fixture
def mark() -> str:
    """A duration that no other process on this machine sleeps for."""
    return f"60.{secrets.randbelow(10**12):012}"


def sleeping(mark: str) -> bool:
    """The sleeper itself runs, not only shells that name it in their script."""
    return any(mark in command_line(pid)[1:2] for pid in carriers(mark))


def begun(process: "subprocess.Popen[bytes]", mark: str) -> list[int]:
    """Every process below Ferrule, once the sleeper runs: its supervisor first of all."""
    until(lambda: sleeping(mark))
    below = descendants(process.pid)
    assert len(below) >= 2
    return below


def nothing_is_left(below: list[int], mark: str) -> None:
    until(lambda: all(over(pid) for pid in below) and carriers(mark) == [], ENDED_WITHIN)


def task(project: Project, script: str, *more: str) -> tuple[str, ...]:
    model = project.model(step(runs(script)), step(completes()))
    return ("-p", "Do it.", "--model", model, "--approve", "all", "--output-format", "json", *more)


@pytest.mark.parametrize("case", SCRIPTS)
def test_no_process_outlives_ferrule_killed_during_a_command(project: Project, mark: str, case: str) -> None:
    with project.started(*task(project, SCRIPTS[case].replace("MARK", mark))) as process:
        below = begun(process, mark)
        process.kill()
        process.communicate()
        nothing_is_left(below, mark)
    assert process.returncode == KILLED


@pytest.mark.parametrize("case", SCRIPTS)
def test_no_process_outlives_ferrule_killed_during_a_verification(project: Project, mark: str, case: str) -> None:
    arguments = task(project, "true", "--verify", SCRIPTS[case].replace("MARK", mark))
    with project.started(*arguments) as process:
        below = begun(process, mark)
        process.kill()
        process.communicate()
        nothing_is_left(below, mark)
    assert process.returncode == KILLED


@pytest.mark.parametrize("to", [os.kill, os.killpg], ids=["process", "group, as a terminal does"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything_and_every_call_has_its_result(
    project: Project, mark: str, number: signal.Signals, to: Callable[[int, int], None]
) -> None:
    project.write("a", "a\n")
    calls = (runs("echo first"), runs(f"setsid sleep {mark} & wait"), runs("echo third >> effects"), completes())
    model = project.model(step(*calls), step(completes()))
    with project.started("-p", "x", "--model", model, "--approve", "all", "--output-format", "json") as process:
        below = begun(process, mark)
        to(process.pid, number)
        out, _ = process.communicate()
        nothing_is_left(below, mark)
    assert (process.returncode, b'"outcome":"interrupted"' in out) == (130, True)
    state = project.journal.state()
    assert [kinds for _, kinds in sorted(state.results.items())] == [["ok"], ["interrupted"], ["skipped"], ["skipped"]]
    assert state.outcome == "interrupted"
    assert project.lines("effects") == []
    assert project.run("-c", "--output-format", "json").result["outcome"] == "finished"


def test_a_second_signal_ends_at_once_and_leaves_nothing(project: Project, mark: str) -> None:
    with project.started(*task(project, f"trap '' TERM INT; sleep {mark} & wait; wait")) as process:
        below = begun(process, mark)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        process.communicate()
        nothing_is_left(below, mark)
    assert process.returncode == 130


def test_the_limit_of_time_ends_a_command_and_every_call_has_its_result(project: Project, mark: str) -> None:
    with project.started(*task(project, f"sleep {mark} | cat", "--max-time", "1s")) as process:
        below = begun(process, mark)
        out, _ = process.communicate()
        nothing_is_left(below, mark)
    assert (process.returncode, b'"outcome":"limit"' in out) == (4, True)
    assert list(project.journal.state().results.values()) == [["interrupted"]]


def test_a_command_that_leaves_processes_behind_failed_and_they_are_ended_with_it(project: Project, mark: str) -> None:
    with project.started(*task(project, f"setsid sleep {mark} >/dev/null 2>&1 & echo started")) as process:
        out, _ = process.communicate()
    assert process.returncode == 0, out
    assert carriers(mark) == []
    assert list(project.journal.state().results.values()) == [["error"], ["ok"]]


def test_nothing_is_left_after_a_run_that_ends_by_itself(project: Project) -> None:
    with project.started(*task(project, "sleep 0.3")) as process:
        until(lambda: any(not over(pid) for pid in descendants(process.pid)))
        below = descendants(process.pid)
        process.communicate()
        until(lambda: all(over(pid) for pid in below), ENDED_WITHIN)
    assert process.returncode == 0


def test_a_signal_after_the_result_does_not_change_the_exit_code(project: Project) -> None:
    arguments = task(project, "true")
    for _ in range(8):
        with project.started(*arguments) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.send_signal(signal.SIGTERM)
            process.communicate()
        assert process.returncode == 0
