"""The result alone on standard output, progress on standard error, and one JSON object however a run ends."""

import json
import shlex
import signal
import subprocess
from collections.abc import Callable

import pytest

from .driving import COMMAND, Json, Project, Ran, asks, call, completes, runs, step, until

KEYS = {
    *("schema_version", "session_id", "task_id", "outcome", "exit_code", "result", "verification", "denials", "limits", "usage"),
    *("cost_usd", "turns", "files_changed", "receipt", "model", "question", "error", "unstored", "models"),
}
Words = Callable[[Project], tuple[str, ...]]


def plays(*steps: Json, more: tuple[str, ...] = ()) -> Words:
    return lambda project: ("-p", "x", "--model", project.model(*steps), *more)


WAYS: dict[str, tuple[str, int, Words]] = {
    "finished": ("finished", 0, plays(step(completes()))),
    "failed": ("failed", 1, plays({"fault": {"kind": "http", "status": 401}})),
    "no step left": ("failed", 1, plays(step(runs("true")), more=("--approve", "all"))),
    "needs input": ("needs_input", 3, plays(step(asks("Which?")))),
    "limit": ("limit", 4, plays(step(call("list_files", path="."), times="always"), more=("--max-turns", "1"))),
    "stuck": ("stuck", 5, plays(step(call("list_files", path="."), times="always"))),
    "refused": ("refused", 6, plays({"text": "No.", "stop": "refusal"})),
    "incomplete": ("incomplete", 7, plays({"text": "Done?", "times": "always"})),
    "unverified": ("unverified", 8, plays(step(completes(), times="always"), more=("--verify", "false"))),
    "unavailable": ("unavailable", 75, plays({"fault": {"kind": "http", "status": 429, "headers": {"Retry-After": "999"}}})),
    "unknown flag": ("usage_error", 2, lambda project: ("-p", "x", "--bogus")),
    "no value": ("usage_error", 2, lambda project: ("-p", "x", "--model")),
    "no prompt": ("usage_error", 2, lambda project: ()),
    "no such model": ("usage_error", 2, lambda project: ("-p", "x", "--model", "nonsense")),
    "no such script": ("usage_error", 2, lambda project: ("-p", "x", "--model", "scripted/missing.json")),
    "no session": ("usage_error", 2, lambda project: ("-c", "-p", "x")),
    "no such session": ("usage_error", 2, lambda project: ("-r", "nope", "-p", "x")),
    "no price": ("usage_error", 2, plays(step(completes()), more=("--max-cost", "1"))),
}


@pytest.mark.parametrize("way", WAYS)
def test_json_is_one_object_however_the_run_ends(project: Project, way: str) -> None:
    outcome, code, words = WAYS[way]
    ran = project.run("--output-format", "json", *words(project))
    (line,) = ran.out.splitlines()
    result = json.loads(line)
    assert set(result) == KEYS
    assert (ran.code, result["exit_code"], result["outcome"]) == (code, code, outcome), ran
    assert (result["error"] is None) == (outcome in ("finished", "needs_input"))
    assert "Traceback" not in ran.err
    assert (result["session_id"] is None) == (outcome == "usage_error")


@pytest.mark.parametrize("way", ["finished", "needs input", "incomplete", "failed"])
def test_a_stream_begins_with_the_session_and_ends_with_the_result(project: Project, way: str) -> None:
    outcome, code, words = WAYS[way]
    ran = project.run("--output-format", "stream-json", *words(project))
    first, *between, last = [json.loads(line) for line in ran.out.splitlines()]
    assert (ran.code, first["type"], last["type"], last["outcome"]) == (code, "session", "result", outcome)
    assert first["session_id"] == last["session_id"] == project.sessions[0]
    records = [event["record"] for event in between if event["type"] == "record"]
    stored = [(row.seq, row.kind, row.hash) for row in project.journal.rows()]
    assert [(record["seq"], record["entry"]["type"], record["hash"]) for record in records] == stored


def test_a_stream_of_a_run_that_never_began_is_its_result(project: Project) -> None:
    for words in (("-p", "x", "--bogus"), ("-c", "-p", "x")):
        (line,) = project.run("--output-format", "stream-json", *words).out.splitlines()
        assert (json.loads(line)["type"], json.loads(line)["outcome"]) == ("result", "usage_error")


def test_text_on_standard_output_is_the_result_and_nothing_else(project: Project) -> None:
    model = project.model(step(runs("echo noise; echo more >&2"), text="Looking."), step(completes("The result.\n")))
    ran = project.run("-p", "x", "--model", model, "--approve", "all")
    assert (ran.code, ran.out) == (0, "The result.\n")
    assert "Looking." in ran.err


@pytest.mark.parametrize("format", ["text", "json", "stream-json"])
def test_a_reader_that_goes_away_early_does_no_harm(project: Project, format: str) -> None:
    many = "\n".join(f"line {number}" for number in range(30_000))
    model = project.model(step(call("list_files", path="."), text=many), step(completes(many)))
    line = shlex.join((*COMMAND, "-p", "x", "--model", model, "--output-format", format))
    ran = subprocess.run(
        ("bash", "-c", f"{line} | head -1; echo code ${{PIPESTATUS[0]}}"),
        cwd=project.folder,
        env=project.environ({}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        check=False,
    )
    shown, code = ran.stdout.decode().splitlines()
    assert code in (("code 130",) if format == "stream-json" else ("code 0",))
    assert (shown == "line 0") == (format == "text")
    for word in ("Traceback", "BrokenPipe", "Exception ignored"):
        assert word not in ran.stderr.decode()
    project.journal.check()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_gives_its_json_too(project: Project, number: signal.Signals) -> None:
    model = project.model(step(runs("touch began; sleep 30")), step(completes()))
    with project.started("-p", "x", "--model", model, "--approve", "all", "--output-format", "json") as process:
        until(lambda: (project.folder / "began").exists())
        process.send_signal(number)
        out, err = process.communicate()
    ran = Ran(process.returncode, out.decode(), err.decode())
    assert set(ran.result) == KEYS
    assert (ran.code, ran.result["exit_code"], ran.result["outcome"], len(ran.out.splitlines())) == (130, 130, "interrupted", 1)
