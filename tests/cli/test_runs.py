import json
import os
import re
import signal
import time
from pathlib import Path

import pytest

from .command import Ran, Shell, call, ends, lines

READ = {"text": "I read it.", "calls": [call("read_file", path="hello.py")], "usage": {"input": 20, "output": 5}}
ASK = {
    "calls": [call("ask_followup_question", question="Which one?", follow_up=[{"text": "this"}, {"text": "that"}])],
    "usage": {"input": 30, "output": 5},
}


def plain(text: str) -> str:
    """Without what differs from run to run: session ids, durations, times of day."""
    text = re.sub(r"\b\d{8}-\d{6}-\w+", "ID", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "TIME", text)
    return re.sub(r"\b\d+ ms|\b\d+\.\d s", "T", text)


@pytest.fixture
def project(shell: Shell) -> Shell:
    (shell.folder / "hello.py").write_text("print('hello')\n")
    return shell


def test_a_run_prints_its_result_and_tells_what_happened(project: Shell) -> None:
    model = project.script(READ, ends("It prints hello."))
    ran = project.run("-p", "what does it print?", "--model", model, "--verify", "true")
    assert (ran.code, ran.out, plain(ran.err)) == (
        0,
        "It prints hello.\n",
        f"● a script (script.json) in {project.folder}\n"
        "I read it.\n"
        "  ✓ read_file hello.py  T\n"
        "  ✓ attempt_completion  T\n"
        "● Finished. (exit 0)\n"
        "  ✓ failed_tool\n"
        "  ✓ open_todos\n"
        "  ✓ verify: true (exit 0, T)\n"
        "  2 turns, 30 tokens in, 10 out, cost unknown\n"
        "  session ID\n",
    )


def test_a_prompt_and_a_pipe_are_both_said_to_the_model(project: Shell) -> None:
    step = {**ends("Seen."), "expect": {"last_user": "explain\n\nText from standard input:\n```\nthe diff\n```"}}
    ran = project.run("-p", "explain", "--model", project.script(step), stdin=b"the diff\n")
    assert (ran.code, ran.out) == (0, "Seen.\n"), ran.err


def test_bytes_that_are_no_text_are_replaced_in_a_prompt(project: Shell) -> None:
    step = {**ends("Seen."), "expect": {"last_user": "say \N{REPLACEMENT CHARACTER} it"}}
    model = project.script(step)
    ran = project.run(b"-p", b"say \xff it", "--model", model)
    assert (ran.code, ran.out) == (0, "Seen.\n"), ran.err


def test_on_a_terminal_lines_are_redrawn_and_nothing_untrusted_steers_it(project: Shell) -> None:
    model = project.script({**READ, "text": "\x1b[2Jlook"}, ends("\x1b]0;title\x07 done"))
    shown = plain(project.on_terminal("-p", "x", "--model", model))
    assert shown == (
        f"\x1b[2m● a script (script.json) in {project.folder}\x1b[0m\n"
        "\x1b[2m␛[2Jlook\x1b[0m\n"
        "\x1b[2m  … read_file hello.py\x1b[0m\r\x1b[K  \x1b[32m✓\x1b[0m read_file hello.py\x1b[2m  T\x1b[0m\n"
        "\x1b[2m  … attempt_completion\x1b[0m\r\x1b[K  \x1b[32m✓\x1b[0m attempt_completion\x1b[2m  T\x1b[0m\n"
        "␛]0;title␇ done\n"
        "\x1b[32m●\x1b[0m \x1b[1mFinished.\x1b[0m (exit 0)\n"
        "  \x1b[32m✓\x1b[0m failed_tool\n"
        "  \x1b[32m✓\x1b[0m open_todos\n"
        "\x1b[2m  2 turns, 30 tokens in, 10 out, cost unknown\x1b[0m\n"
        "\x1b[2m  session ID\x1b[0m\n"
    )
    without = project.on_terminal("-p", "x", "--model", model, NO_COLOR="1")
    assert re.findall(r"\x1b[^K]*[A-Za-z]", without) == ["\x1b[K", "\x1b[K"]


def test_a_pipe_alone_is_the_prompt(project: Shell) -> None:
    step = {**ends("Seen."), "expect": {"last_user": "do it"}}
    assert project.run("--model", project.script(step), stdin=b"do it\n")[:2] == (0, "Seen.\n")


def test_a_question_ends_the_run_and_its_answer_goes_on(project: Shell) -> None:
    model = project.script(ASK, ends("Took that."))
    asked = project.run("-p", "choose", "--model", model)
    assert (asked.code, asked.out, plain(asked.err)) == (
        3,
        "Which one?\n",
        f"● a script (script.json) in {project.folder}\n"
        "● Waiting for an answer. (exit 3)\n"
        "  Which one?\n"
        "    1. this\n"
        "    2. that\n"
        "  1 turn, 30 tokens in, 5 out, cost unknown\n"
        "  session ID; go on with: ferrule -r ID -p ANSWER\n",
    )
    answered = project.run("-c", "-p", "that")
    assert (answered.code, answered.out, plain(answered.err)) == (
        0,
        "Took that.\n",
        f"● a script (script.json) in {project.folder}\n"
        "  ✓ attempt_completion  T\n"
        "● Finished. (exit 0)\n"
        "  ✓ failed_tool\n"
        "  ✓ open_todos\n"
        "  1 turn, 10 tokens in, 5 out, cost unknown\n"
        "  session ID\n",
    )


def test_json_is_one_object_and_the_exit_code_says_the_same(project: Shell) -> None:
    ran = project.run("-p", "choose", "--model", project.script(ASK), "--output-format", "json", "--max-turns", "9")
    [result] = lines(ran.out)
    identity = result["session_id"]
    assert ran.code == 3
    assert result == {
        "schema_version": 1,
        "session_id": identity,
        "task_id": f"{identity}/main",
        "outcome": "needs_input",
        "exit_code": 3,
        "result": "Which one?",
        "verification": [],
        "denials": [],
        "limits": {"turns": 9, "tokens": None, "cost": None, "time": None},
        "usage": {"input": 30, "output": 5, "cache_read": 0, "cache_write": 0, "reasoning": 0, "cost": None},
        "cost_usd": None,
        "turns": 1,
        "files_changed": [],
        "receipt": result["receipt"],
        "model": f"scripted/{project.home}/script.json",
        "question": {"text": "Which one?", "options": [{"text": "this", "mode": None}, {"text": "that", "mode": None}]},
        "error": None,
        "unstored": False,
        "models": [f"scripted/{project.home}/script.json"],
    }


def test_stream_json_is_the_session_then_events_then_the_result(project: Shell) -> None:
    ran = project.run("-p", "x", "--model", project.script(READ, ends("Done.")), "--output-format", "stream-json", "--no-session")
    first, *events, last = lines(ran.out)
    assert (ran.code, ran.err) == (0, "")
    assert {name: first[name] for name in ("type", "session_id", "model", "cwd")} == {
        "type": "session",
        "session_id": None,
        "model": f"scripted/{project.home}/script.json",
        "cwd": str(project.folder),
    }
    kinds = [event["record"]["entry"]["type"] for event in events if event["type"] == "record"]
    assert kinds == [
        *("session", "model", "user", "attempt_started"),
        *("assistant", "call_started", "call_finished") * 2,
        *("attempt_ended", "receipt", "outcome"),
    ]
    assert {event["type"] for event in events} == {"record", "streaming"}
    assert (last["type"], last["outcome"], last["result"]) == ("result", "finished", "Done.")
    assert not project.state.exists() or not list(project.state.rglob("*.db"))


def test_a_denied_call_names_the_flag_that_allows_it_and_the_flag_does(project: Shell) -> None:
    model = project.script({"calls": [call("execute_command", command="touch made")]}, ends("Done."))
    denied = project.run("-p", "x", "--model", model)
    assert plain(denied.err).splitlines()[-3] == (
        "  ⊘ denied: execute_command touch made (Running `touch made` needs approval.); allowed by --allow 'execute:touch made'"
    )
    assert not (project.folder / "made").exists()
    allowed = project.run("-p", "x", "--model", model, "--allow", "execute:touch made")
    assert (allowed.code, (project.folder / "made").exists()) == (0, True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_run_with_its_result_and_the_session_can_go_on(project: Shell, number: signal.Signals) -> None:
    model = project.script({"calls": [call("execute_command", command="touch began; sleep 30")]}, ends("Done after all."))
    process = project.start("-p", "x", "--model", model, "--approve", "all", "--output-format", "json")
    deadline = time.monotonic() + 20
    while not (project.folder / "began").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    result = json.loads(out)
    assert (process.returncode, result["outcome"], result["exit_code"]) == (130, "interrupted", 130)
    assert b"Traceback" not in err
    again = project.run("-c", "-p", "go on", "--approve", "all")
    assert (again.code, again.out) == (0, "Done after all.\n"), again.err


def test_a_reader_of_the_stream_that_goes_away_ends_the_run(project: Shell) -> None:
    model = project.script({"calls": [call("execute_command", command="touch began; sleep 30")]}, ends("Done."))
    process = project.start("-p", "x", "--model", model, "--approve", "all", "--output-format", "stream-json")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert (process.wait(20), err) == (130, b"")


def test_a_session_that_is_in_use_is_not_opened_twice(project: Shell) -> None:
    model = project.script({"calls": [call("execute_command", command="touch began; sleep 30")]})
    process = project.start("-p", "x", "--model", model, "--approve", "all")
    deadline = time.monotonic() + 20
    while not (project.folder / "began").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    second = project.run("-c", "-p", "y")
    removed = project.run("sessions", "rm", "2")
    process.terminate()
    process.communicate(timeout=20)
    assert (second.code, second.out, removed.code, removed.out) == (75, "", 75, "")
    assert "Traceback" not in second.err + removed.err


def test_sessions_are_listed_shown_and_removed(project: Shell, tmp_path: Path) -> None:
    project.run("-p", "say \x1b[2J hello", "--model", project.script(READ, ends("Hello.")))
    other = tmp_path / "other"
    other.mkdir()
    project.run("-C", str(other), "-p", "elsewhere", "--model", project.script(ASK))
    here = project.run("sessions", "list")
    assert (here.code, here.err) == (0, "")
    assert re.sub(" +", " ", plain(here.out)) == "SESSION LAST WRITTEN OUTCOME TASK\nID TIME finished say ␛[2J hello\n"
    everywhere = [" ".join(line.split()) for line in plain(project.run("sessions", "list", "--all").out).splitlines()]
    assert everywhere == [
        "SESSION LAST WRITTEN OUTCOME FOLDER TASK",
        f"ID TIME needs_input {other} elsewhere",
        f"ID TIME finished {project.folder} say ␛[2J hello",
    ]
    [info] = json.loads(project.run("sessions", "list", "--output-format", "json").out)
    assert plain(project.run("sessions", "show", info["id"]).out) == (
        f"session ID\nfolder  {project.folder}\noutcome finished\n"
        "\nyou\n  say ␛[2J hello\n"
        f"\nmodel scripted/{project.home}/script.json\n  I read it.\n  → read_file hello.py\n"
        "  ✓ read_file: ok\n    File: hello.py\n    1 | print('hello')\n"
        f"\nmodel scripted/{project.home}/script.json\n  → attempt_completion Hello.\n"
        "  ✓ attempt_completion: ok\n    Accepted: the task is finished.\n"
        "\nended: finished (exit 0)\n  Hello.\n"
    )
    shown = json.loads(project.run("sessions", "show", info["id"], "--output-format", "json").out)
    assert shown["session"] == info
    assert shown["records"][0]["entry"]["type"] == "session"
    assert project.run("sessions", "rm", info["id"]) == Ran(0, f"removed {info['id']}\n", "")
    assert project.run("sessions", "list") == Ran(
        0, "", f"ferrule: there are no sessions of {project.folder}; ferrule sessions list --all shows those of other folders\n"
    )
    assert project.run("sessions", "show", info["id"]).code == 2


def test_going_on_without_anything_to_do_is_refused_on_standard_error(project: Shell) -> None:
    assert project.run("-c", "-p", "x").code == 2
    project.run("-p", "x", "--model", project.script(ends("Done.")))
    ran = project.run("-c")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[1:] == ["ferrule: The task of this session is finished. Say what to do next with -p TEXT."]


def test_the_demo_needs_nothing_and_says_that_a_script_plays_the_model(shell: Shell) -> None:
    ran = shell.run("demo")
    assert ran.code == 0
    assert ran.out.startswith("Milliseconds are parsed again")
    assert ran.err.startswith("This is a demonstration.")
    assert ran.err.splitlines()[-1].startswith("A script played the model.")
    assert os.listdir(shell.folder) == []
    assert shell.run("demo", "--model", "x") == Ran(2, "", "ferrule: the demo has its own settings; leave --model out\n")
