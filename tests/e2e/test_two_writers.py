import signal
import subprocess

import pytest

from .driving import Json, Project, call, completes, runs, step, until

JSON = ("--approve", "all", "--output-format", "json")
SLOW_ANSWER = {**step(completes("The first one's work."), text="Slowly."), "chunk": 8, "delay": 0.2}
BUSY = step(runs("touch began; until [ -e go ]; do sleep 0.02; done; echo first >> effects"), completes("The first one's work."))


def begins(project: Project, *steps: Json) -> tuple[str, ...]:
    project.model(step(completes("The second one's work."), times="always"), name="second")
    return ("-p", "x", "--model", project.model(*steps), *JSON)


def second(project: Project) -> tuple[str, ...]:
    return ("--model", f"scripted/{project.home}/second.json", *JSON)


def ended(process: "subprocess.Popen[bytes]") -> tuple[int, str, str]:
    out, err = process.communicate()
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("words", [("-c", "-p", "y"), ("-c",)])
def test_the_second_of_two_writers_says_who_holds_the_session_and_harms_nobody(project: Project, words: tuple[str, ...]) -> None:
    with project.started(*begins(project, BUSY)) as first:
        until(lambda: (project.folder / "began").exists())
        before = project.journal.rows()
        ran = project.run(*words, *second(project))
        assert (ran.code, ran.result["outcome"], ran.result["exit_code"]) == (75, "unavailable", 75)
        assert f"process {first.pid}" in ran.result["error"]
        assert f"process {first.pid}" in ran.err
        assert project.journal.rows() == before
        project.write("go", "")
        code, out, _ = ended(first)
    assert (code, '"result":"The first one\'s work."' in out) == (0, True)
    project.journal.check()


@pytest.mark.parametrize(("last", "sign"), [(BUSY, "began"), (SLOW_ANSWER, "ready")], ids=["during a call", "during an answer"])
def test_a_writer_that_was_taken_over_hands_out_its_reply_as_not_stored(project: Project, last: Json, sign: str) -> None:
    with project.started(*begins(project, step(call("write_to_file", path="ready", content="")), last)) as first:
        until(lambda: (project.folder / sign).exists() and "call_finished" in project.journal.kinds())
        first.send_signal(signal.SIGSTOP)
        (lock,) = project.state.glob("sessions/*.lock")
        lock.unlink()
        taken = project.run("-c", "-p", "y", *second(project))
        assert (taken.code, taken.result["result"]) == (0, "The second one's work."), taken
        after = project.journal.rows()
        project.write("go", "")
        first.send_signal(signal.SIGCONT)
        code, out, err = ended(first)
    assert code == 1
    assert '"outcome":"failed"' in out
    assert "The first one's work." in out
    assert "could not be stored" in out
    assert "could not be stored" in err
    assert project.journal.rows() == after
    project.journal.check()
