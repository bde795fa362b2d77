import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from .command import Shell, call, ends

KILLED = -9
WRITE = {"calls": [call("write_to_file", path="made.py", content="x = 1\n")], "usage": {"input": 20, "output": 5}}
ASK = {"calls": [call("ask_followup_question", question="Which?", follow_up=[{"text": "this"}])]}


def receipt_of(path: Path) -> dict[str, Any]:
    parsed = json.loads(path.read_text())
    assert isinstance(parsed, dict)
    return parsed


def test_a_run_leaves_its_receipt_and_the_receipt_verifies(shell: Shell) -> None:
    model = shell.script(WRITE, ends("Done."))
    ran = shell.run("-p", "x", "--model", model, "--approve", "edits", "--receipt", "r.json", "--output-format", "json")
    result, path = json.loads(ran.out), shell.folder / "r.json"
    receipt = receipt_of(path)
    assert (ran.code, stat.S_IMODE(path.stat().st_mode)) == (0, 0o600)
    assert (receipt["hash"], receipt["gates"]) == (result["receipt"], result["verification"])
    assert (receipt["session_id"], receipt["task_id"]) == (result["session_id"], result["task_id"])
    assert receipt["changes"] == [{"path": "made.py", "before": None, "after": hashlib.sha256(b"x = 1\n").hexdigest()}]
    verified = shell.run("receipt", "verify", "r.json")
    fields = "".join(f"  {name:<16} ok\n" for name in receipt if name not in ("environment", "limits"))
    assert (verified.code, verified.err) == (0, "")
    assert all(line in verified.out for line in fields.splitlines())
    assert verified.out.endswith(
        "\nfiles that the run changed, as they are now\n  made.py: ok\n\neverything matches (exit 0)\n"
        "This compares the receipt with the journal. It does not protect against somebody who can rewrite the journal:\n"
        "they can also write a receipt that fits it.\n"
    )
    assert sorted(os.listdir(shell.folder)) == ["made.py", "r.json"]


def test_a_difference_is_said_with_both_values_and_a_changed_file_apart(shell: Shell) -> None:
    shell.run("-p", "x", "--model", shell.script(WRITE, ends("Done.")), "--approve", "edits", "--receipt", "r.json")
    path = shell.folder / "r.json"
    path.write_text(path.read_text().replace('"outcome": "finished"', '"outcome": "failed"'))
    (shell.folder / "made.py").write_text("y")
    ran = shell.run("receipt", "verify", "r.json")
    assert ran.code == 1
    assert '  outcome          differs: said "failed", is "finished"\n' in ran.out
    before, after = hashlib.sha256(b"x = 1\n").hexdigest(), hashlib.sha256(b"y").hexdigest()
    assert f"  made.py: has changed since the receipt (was {before}, is {after})\n" in ran.out
    told = json.loads(shell.run("receipt", "verify", "r.json", "--output-format", "json").out)
    assert [field["name"] for field in told["fields"] if field["state"] != "ok"] == ["outcome"]
    assert (told["state"], told["exit_code"], told["chain"]["state"]) == ("differs", 1, "ok")


def test_without_the_journal_nothing_is_claimed_and_an_export_stands_in_for_it(shell: Shell) -> None:
    shell.run("-p", "x", "--model", shell.script(WRITE, ends("Done.")), "--approve", "edits", "--receipt", "r.json")
    session = receipt_of(shell.folder / "r.json")["session_id"]
    shell.run("sessions", "export", session, "--format", "jsonl", "-o", "e.jsonl")
    elsewhere = {"FERRULE_HOME": str(shell.home / "other")}
    alone = shell.run("receipt", "verify", "r.json", **elsewhere)
    assert (alone.code, alone.out.count("not verifiable"), "ok\n" in alone.out.partition("\n\n")[0]) == (8, 21, False)
    assert shell.run("receipt", "verify", "r.json", "--journal", "e.jsonl", **elsewhere).code == 0


@pytest.mark.parametrize(
    ("steps", "more", "code", "outcome"),
    [
        ((ASK,), (), 3, "needs_input"),
        (({"text": "Done.", "times": 3},), (), 7, "incomplete"),
        ((WRITE,), ("--max-turns", "1"), 4, "limit"),
        (({"fault": {"kind": "http", "status": 401}},), (), 1, "failed"),
    ],
)
def test_there_is_a_receipt_whatever_the_outcome(
    shell: Shell, steps: tuple[dict[str, Any], ...], more: tuple[str, ...], code: int, outcome: str
) -> None:
    ran = shell.run("-p", "x", "--model", shell.script(*steps), *more, "--receipt", "r.json")
    assert (ran.code, receipt_of(shell.folder / "r.json")["outcome"]) == (code, outcome), ran
    assert shell.run("receipt", "verify", "r.json").code == 0


def test_each_run_of_a_session_has_its_own_receipt(shell: Shell) -> None:
    model = shell.script(ASK, WRITE, ends("Done."))
    shell.run("-p", "x", "--model", model, "--approve", "edits", "--receipt", "1.json")
    shell.run("-c", "-p", "this", "--approve", "edits", "--receipt", "2.json")
    first, second = receipt_of(shell.folder / "1.json"), receipt_of(shell.folder / "2.json")
    assert [each["terminal_action"] for each in (first, second)] == [None, "attempt_completion"]
    assert [len(each["changes"]) for each in (first, second)] == [0, 1]
    assert [shell.run("receipt", "verify", name).code for name in ("1.json", "2.json")] == [0, 0]


def test_a_killed_run_leaves_no_receipt_and_counts_with_the_one_that_goes_on(shell: Shell) -> None:
    steps = (WRITE, ends("Done."))
    arguments = ("--model", shell.script(*steps), "--approve", "edits", "--receipt", "r.json")
    shell.run("-p", "x", "--model", shell.script(ends("Before.")), "--receipt", "r.json")
    shell.script(*steps)
    assert shell.run("-p", "x", *arguments, FERRULE_FAULT_POINT="after:call_finished:1").code == KILLED
    assert not (shell.folder / "r.json").exists()
    assert shell.run("-c", *arguments).code == 0
    receipt = receipt_of(shell.folder / "r.json")
    assert ([change["path"] for change in receipt["changes"]], receipt["usage"]["input"]) == (["made.py"], 30)
    assert shell.run("receipt", "verify", "r.json").code == 0


def test_a_run_that_keeps_nothing_has_a_receipt_that_nobody_can_verify(shell: Shell) -> None:
    shell.run("-p", "x", "--model", shell.script(ends("Done.")), "--no-session", "--receipt", "r.json")
    assert receipt_of(shell.folder / "r.json")["session_id"] is None
    ran = shell.run("receipt", "verify", "r.json")
    assert (ran.code, ran.out.splitlines()[1]) == (
        8,
        "  chain            not verifiable: the run kept no journal, and no export of it was named",
    )


def test_the_demo_writes_one_too(shell: Shell) -> None:
    assert shell.run("demo", "--receipt", "r.json").code == 0
    receipt = receipt_of(shell.folder / "r.json")
    assert [gate["command"] for gate in receipt["gates"]] == [None, None, "python3 -m unittest"]


def refused(shell: Shell, name: str) -> str:
    ran = shell.run("-p", "x", "--model", shell.script(WRITE, ends("Done.")), "--approve", "edits", "--receipt", name)
    assert (ran.code, ran.out, (shell.folder / "made.py").exists(), shell.state.exists()) == (2, "", False, False)
    return ran.err.removeprefix("ferrule: ")


def test_a_place_that_cannot_be_written_is_found_out_before_anything_runs(shell: Shell) -> None:
    (shell.folder / "notes.txt").write_text("mine")
    (shell.folder / "folder").mkdir()
    (shell.folder / "loop").symlink_to("loop")
    assert refused(shell, "no/r.json") == "--receipt no/r.json: no file can be written there: No such file or directory\n"
    assert refused(shell, "notes.txt/r") == "--receipt notes.txt/r: no file can be written there: Not a directory\n"
    assert refused(shell, "folder").startswith("--receipt folder: no file can be written there: ")
    assert refused(shell, "/dev/null") == "--receipt /dev/null: no file can be written there: it is not a regular file\n"
    assert refused(shell, "loop").startswith("--receipt loop: no file can be written there: ")
    assert refused(shell, "notes.txt") == "--receipt notes.txt: a file that is no receipt is there and is not replaced\n"
    assert (shell.folder / "notes.txt").read_text() == "mine"


def test_a_receipt_that_cannot_be_written_in_the_end_is_no_success(shell: Shell) -> None:
    (shell.folder / "out").mkdir()
    removes = {"calls": [call("execute_command", command="rmdir out")]}
    arguments = ("--approve", "all", "--receipt", "out/r.json", "--output-format", "json")
    ran = shell.run("-p", "x", "--model", shell.script(removes, ends("Done.")), *arguments)
    result = json.loads(ran.out)
    assert (ran.code, result["outcome"], len(result["receipt"])) == (1, "failed", 64)
    assert result["error"] == f"The receipt could not be written to {shell.folder}/out/r.json: No such file or directory."


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"schema_version": 2}', '{"schema_version": true}', "no json"])
def test_what_is_no_receipt_is_refused(shell: Shell, content: str) -> None:
    (shell.folder / "r.json").write_text(content)
    ran = shell.run("receipt", "verify", "r.json")
    assert (ran.code, ran.out, "r.json is no receipt" in ran.err) == (2, "", True)


def test_a_secret_in_a_verification_command_is_masked(shell: Shell) -> None:
    arguments = ("--verify", "test hunter2hunter2 = hunter2hunter2", "--receipt", "r.json")
    ran = shell.run("-p", "x", "--model", shell.script(ends("Done.")), *arguments, MY_PASSWORD="hunter2hunter2")
    text = (shell.folder / "r.json").read_text()
    assert (ran.code, "hunter2" in text, "test [secret MY_PASSWORD] = [secret MY_PASSWORD]" in text) == (0, False, True)
    assert shell.run("receipt", "verify", "r.json").code == 0


def test_the_summary_tells_that_a_test_was_changed(shell: Shell) -> None:
    writes = {"calls": [call("write_to_file", path="test_a.py", content="")]}
    model = shell.script(writes, ends("Done."))
    ran = shell.run("-p", "x", "--model", model, "--approve", "edits", "--verify", "true")
    assert "its tests were changed in this run: test_a.py)\n" in ran.err


def test_a_file_that_is_again_as_it_was_has_not_changed(shell: Shell) -> None:
    (shell.folder / "a.py").write_text("x = 1\n")
    edits = [{"calls": [call("edit", file_path="a.py", old_string=f"x = {old}", new_string=f"x = {3 - old}")]} for old in (1, 2)]
    ran = shell.run("-p", "x", "--model", shell.script(*edits, ends("Done.")), "--approve", "edits", "--receipt", "r.json")
    assert (ran.code, receipt_of(shell.folder / "r.json")["changes"]) == (0, [])
    assert shell.run("receipt", "verify", "r.json").code == 0
