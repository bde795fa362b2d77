import re
import sqlite3
import time
from contextlib import closing

import pytest

from .command import Ran, Shell, call, ends, lines

READ = {"text": "I read it.", "calls": [call("read_file", path="hello.py")], "usage": {"input": 20, "output": 5}}
ASK = {"calls": [call("ask_followup_question", question="Which?", follow_up=[{"text": "this"}])]}


@pytest.fixture
def live(shell: Shell) -> Ran:
    (shell.folder / "hello.py").write_text("print('hello')\n")
    return shell.run("-p", "what does it\nprint?", "--model", shell.script(READ, ends("It prints hello.")), "--verify", "true")


def session(shell: Shell) -> str:
    [path] = shell.state.glob("sessions/*.db")
    return path.stem


def test_a_replay_shows_what_the_run_showed_and_what_was_asked(shell: Shell, live: Ran) -> None:
    ran = shell.run("replay", session(shell))
    first, said, *rest = ran.err.splitlines(keepends=True)
    assert (ran.code, ran.out, first + "".join(rest)) == (0, live.out, live.err)
    assert said == "› you: what does it print?\n"


def test_a_replay_needs_neither_the_model_nor_the_project(shell: Shell, live: Ran) -> None:
    (shell.home / "script.json").unlink()
    (shell.folder / "hello.py").unlink()
    assert shell.run("replay", session(shell)[-4:]).out == live.out


def test_a_prefix_says_where_it_ends(shell: Shell, live: Ran) -> None:
    ran = shell.run("replay", session(shell), "--until", "5")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.endswith("I read it.\n› the replay ends at record 5; the run has no outcome up to there\n")
    everything = shell.run("replay", session(shell), "--until", "999")
    assert (everything.code, everything.out) == (0, live.out)


def test_every_run_of_a_session_is_played_with_its_question_and_answer(shell: Shell) -> None:
    first = shell.run("-p", "choose", "--model", shell.script(ASK, ends("Took this.")))
    second = shell.run("-c", "-p", "this")
    ran = shell.run("replay", session(shell))
    assert (ran.code, ran.out) == (0, first.out + second.out)
    assert "  Which?\n    1. this\n" in ran.err and "› you: this\n" in ran.err
    assert re.findall(r"\(exit \d+\)", ran.err) == ["(exit 3)", "(exit 0)"]


def test_a_replay_as_a_stream_has_the_records_and_the_result(shell: Shell, live: Ran) -> None:
    first, *events, last = lines(shell.run("replay", session(shell), "--output-format", "stream-json").out)
    assert (first["type"], first["cwd"], last["type"], last["result"]) == (
        "session",
        str(shell.folder),
        "result",
        "It prints hello.",
    )
    assert [event["record"]["seq"] for event in events] == list(range(1, len(events) + 1))


def test_the_pace_of_the_run_can_be_kept(shell: Shell) -> None:
    sleeps = {"calls": [call("execute_command", command="sleep 0.3")]}
    shell.run("-p", "x", "--model", shell.script(sleeps, ends("Done.")), "--approve", "all")

    def took(*more: str) -> float:
        began = time.monotonic()
        assert shell.run("replay", session(shell), *more).code == 0
        return time.monotonic() - began

    assert took("--speed", "0.5") >= 0.6


def test_a_damaged_journal_is_played_up_to_its_damage(shell: Shell, live: Ran) -> None:
    [path] = shell.state.glob("sessions/*.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE records SET time = time + 1 WHERE seq = 6")
        connection.commit()
    ran = shell.run("replay", path.stem)
    assert (ran.code, ran.out, "I read it.\n" in ran.err) == (1, "", True)
    assert f"ferrule: Record 6 of session {path.stem} was changed or damaged: " in ran.err


def test_an_unknown_session_is_named(shell: Shell) -> None:
    ran = shell.run("replay", "nope")
    assert (ran.code, ran.out, "No session is called 'nope'" in ran.err) == (2, "", True)


def test_text_of_a_session_cannot_steer_the_terminal(shell: Shell) -> None:
    shell.run("-p", "\x1b[2Jgo", "--model", shell.script(ends("Done.")))
    assert "› you: ␛[2Jgo\n" in shell.run("replay", session(shell)).err
