"""Commands that go on in the background, from their start to their end, whatever ends that."""

import secrets
import signal

import pytest

from .driving import KILLED, Json, Project, call, carriers, command_line, completes, descendants, over, runs, step, until

CONFINED = pytest.mark.parametrize("confined", [(), ("--sandbox", "workspace")], ids=["free", "sandbox"])


@pytest.fixture
def mark() -> str:
    """A duration that no other process on this machine sleeps for."""
    return f"60.{secrets.randbelow(10**12):012}"


def server(mark: str) -> Json:
    """Runs until it is ended, its sleeper in a session of its own."""
    return call("execute_command", command=f"echo up; setsid sleep {mark} & wait", background=True)


def arguments(project: Project, *steps: Json) -> tuple[str, ...]:
    model = project.model(*steps, name="script")
    return ("-p", "Do it.", "--model", model, "--approve", "all", "--allow", "execute", "--output-format", "json")


def answers(project: Project) -> list[str]:
    results = [entry["result"] for entry in project.journal.entries("call_finished")]
    return ["".join(part["text"] for part in result["parts"]) for result in results]


def sleeping(mark: str) -> bool:
    return any(mark in command_line(pid)[1:2] for pid in carriers(mark))


@CONFINED
def test_a_background_process_is_used_and_stopped(project: Project, mark: str, confined: tuple[str, ...]) -> None:
    reads = step(call("read_command_output", id="cmd_1", offset=0))
    stops = step(call("stop_command", id="cmd_1"))
    done = project.run(
        *arguments(project, step(server(mark)), step(runs("echo beside")), reads, stops, step(completes())), *confined
    )
    assert (done.code, carriers(mark)) == (0, []), done.err
    started, beside, read, stopped, _ = answers(project)
    assert started.startswith("It runs in the background as cmd_1.")
    assert started.endswith("Output so far:\nup\n")
    assert beside == "Exit code 0.\nOutput:\nbeside\n"
    assert read.endswith("s so far.\nBytes 0 to 3 of 3:\nup\n")
    assert "was stopped after" in stopped
    began, ended = project.journal.entries("process")
    assert (began["handle"], began["ended"]) == ("cmd_1", None)
    assert (ended["handle"], ended["ended"]["stopped"], ended["ended"]["told"]) == ("cmd_1", True, True)


def test_a_completion_over_a_running_process_is_refused_and_says_what_to_do(project: Project, mark: str) -> None:
    stops = step(call("stop_command", id="cmd_1"))
    done = project.run(*arguments(project, step(server(mark)), step(completes()), stops, step(completes())))
    assert (done.code, carriers(mark)) == (0, [])
    refusal = answers(project)[1]
    assert refusal.startswith("Not accepted. In the background still run: cmd_1 (`echo up; ")
    assert refusal.endswith(
        "Stop each of them by stop_command, or name it in `keep_running` if it should go on until the session is closed; "
        "then complete."
    )


def test_a_process_that_is_to_go_on_is_no_obstacle_and_ends_with_the_session(project: Project, mark: str) -> None:
    completes_over = step(call("attempt_completion", result="Done.", keep_running=["cmd_1"]))
    done = project.run(*arguments(project, step(server(mark)), completes_over))
    assert (done.code, carriers(mark)) == (0, [])
    (gate,) = [gate for gate in done.result["verification"] if gate["gate"] == "running_processes"]
    assert (gate["passed"], gate["detail"].startswith("to go on until the session is closed: cmd_1 (")) == (True, True)
    _, ended = project.journal.entries("process")
    assert ended["ended"]["error"] == "the session was closed"


@CONFINED
def test_no_background_process_outlives_ferrule_that_is_killed(project: Project, mark: str, confined: tuple[str, ...]) -> None:
    waits = step(call("read_command_output", id="cmd_1", wait=60))
    with project.started(*arguments(project, step(server(mark)), waits, step(completes())), *confined) as process:
        until(lambda: sleeping(mark) and project.sessions and len(project.journal.kinds()) > 8)
        below = descendants(process.pid)
        process.kill()
        process.communicate()
        until(lambda: all(over(pid) for pid in below) and carriers(mark) == [], 5.0)
    assert process.returncode == KILLED


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_background_process_outlives_a_signal(project: Project, mark: str, number: signal.Signals) -> None:
    waits = step(call("read_command_output", id="cmd_1", wait=60))
    with project.started(*arguments(project, step(server(mark)), waits, step(completes()))) as process:
        until(lambda: sleeping(mark) and project.sessions and "process" in project.journal.kinds())
        process.send_signal(number)
        process.communicate()
        until(lambda: carriers(mark) == [], 5.0)
    assert process.returncode == 130


def test_after_a_crash_the_model_is_told_that_its_processes_ended(project: Project, mark: str) -> None:
    waits = step(call("read_command_output", id="cmd_1", wait=60))
    steps = (step(server(mark)), waits, step(completes()))
    with project.started(*arguments(project, *steps)) as process:
        until(lambda: sleeping(mark) and project.sessions and project.journal.kinds().count("call_started") == 2)
        process.kill()
        process.communicate()
    done = project.run("-c", "--approve", "all", "--allow", "execute", "--output-format", "json")
    assert done.code == 0, done.err
    _, ended = project.journal.entries("process")
    assert ended["ended"]["error"] == "Ferrule was ended while it ran"
    (note,) = [entry for entry in project.journal.entries("user") if entry["origin"] == "process"]
    assert note["message"]["parts"][0]["text"].endswith(
        "`) has ended: Ferrule was ended while it ran; nothing is kept of its output."
    )


def test_an_end_in_the_background_is_told_once_before_the_next_answer(project: Project) -> None:
    ends = call("execute_command", command="while [ ! -e go ]; do sleep 0.02; done; exit 4", background=True)
    lets = runs("touch go; sleep 0.5")
    done = project.run(*arguments(project, step(ends), step(lets), step(runs("true")), step(completes())))
    assert done.code == 0, done.err
    (note,) = [entry for entry in project.journal.entries("user") if entry["origin"] == "process"]
    text = note["message"]["parts"][0]["text"]
    assert text.startswith("[Automatic note] Of the background processes:\n- cmd_1 (`while ")
    assert ") has ended: exit code 4 after " in text


def test_a_command_that_is_waited_for_too_long_goes_on_and_the_persons_limit_ends_it(project: Project, mark: str) -> None:
    slow = call("execute_command", command=f"echo up; sleep {mark}", timeout=1)
    reads = step(call("read_command_output", id="cmd_1", wait=20))
    done = project.run(*arguments(project, step(slow), reads, step(completes())), FERRULE_TIMEOUTS_COMMAND="2s")
    assert (done.code, carriers(mark)) == (0, []), done.err
    slow_answer, read, _ = answers(project)
    assert slow_answer.startswith("It still runs after 1 s and goes on in the background as cmd_1.")
    assert "was ended after 2." in read
    assert "the person's limit for commands (timeouts.command)" in read
