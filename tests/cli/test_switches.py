"""What each switch of a run does, seen in what the model is asked, what is stored and what happened."""

import hashlib
import json
import os
import re
import socket
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.server import FakeServer

from .command import Ran, Shell, call, ends

LOOK = {"calls": [call("read_file", path="a.txt")]}


def served(shell: Shell, *steps: dict[str, Any], arguments: tuple[str, ...] = (), **environ: str) -> tuple[Ran, list[Any]]:
    """A run against a loopback server, and the bodies of its requests."""
    with FakeServer({"version": 1, "steps": list(steps)}) as server:
        leads = {"OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "loopback"}
        ran = shell.run("-p", "x", "--model", "openai/m", *arguments, **leads, **environ)
        return ran, server.bodies


@pytest.mark.parametrize(
    ("model", "field"),
    [
        ("openai/o", ("reasoning_effort",)),
        ("openai-responses/o", ("reasoning", "effort")),
        ("anthropic/claude-sonnet-5-5", ("output_config", "effort")),
        ("google/gemini-3.8-flash", ("generationConfig", "thinkingConfig", "thinkingLevel")),
    ],
)
def test_the_effort_arrives_in_every_request(shell: Shell, model: str, field: tuple[str, ...]) -> None:
    (shell.folder / "a.txt").write_text("a\n")
    with FakeServer({"version": 1, "steps": [LOOK, ends("Done."), ends("Again.")]}) as server:
        leads = {"OPENAI_BASE_URL": f"{server.url}/v1", "ANTHROPIC_BASE_URL": server.url, "GOOGLE_GEMINI_BASE_URL": server.url}
        leads |= dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "loopback")
        assert shell.run("-p", "x", "--model", model, "--effort", "high", **leads).code == 0
        assert shell.run("-p", "x", "--model", model, **leads).code == 0
        bodies = server.bodies
    assert [found(body, field) for body in bodies[:2]] == ["high", "high"]
    assert found(bodies[2], field) is None


def found(body: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        body = body.get(key, {})
    return body or None


def test_an_appended_text_ends_the_system_prompt_and_the_configured_one_stands_before_it(shell: Shell) -> None:
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text('[prompt]\nappend = "Speak like a pirate."\n')
    ran, (body,) = served(shell, ends("Done."), arguments=("--append-system-prompt", "Be brief."))
    assert ran.code == 0
    assert body["messages"][0]["content"].endswith("Speak like a pirate.\n\nBe brief.")


def test_another_folder_is_worked_in_and_its_files_are_the_workspace(shell: Shell, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    write = {"calls": [call("write_to_file", path="made.txt", content="made\n")]}
    ran = shell.run("-C", str(other), "-p", "x", "--model", shell.script(write, ends("Done.")), "--approve", "edits")
    assert (ran.code, os.listdir(shell.folder), (other / "made.txt").read_text()) == (0, [], "made\n")


def test_an_added_folder_may_be_read_and_written_and_others_may_not(shell: Shell, tmp_path: Path) -> None:
    for name in ("added", "another"):
        (tmp_path / name).mkdir()
    writes = [call("write_to_file", path=str(tmp_path / name / "made.txt"), content="") for name in ("added", "another")]
    model = shell.script({"calls": writes}, ends("Done."))
    ran = shell.run(
        "-p", "x", "--model", model, "--approve", "all", "--add-dir", str(tmp_path / "added"), "--output-format", "json"
    )
    result = json.loads(ran.out)
    assert [denial["what"] for denial in result["denials"]] == [str(tmp_path / "another" / "made.txt")]
    assert (os.listdir(tmp_path / "added"), os.listdir(tmp_path / "another")) == (["made.txt"], [])
    assert result["files_changed"] == [str(tmp_path / "added" / "made.txt")]


@pytest.mark.parametrize("flags", [("--deny", "execute:touch *"), ("--allow", "execute", "--deny", "execute")])
def test_a_denied_rule_wins_over_every_approval(shell: Shell, flags: tuple[str, ...]) -> None:
    model = shell.script({"calls": [call("execute_command", command="touch made")]}, ends("Done."))
    ran = shell.run("-p", "x", "--model", model, "--approve", "all", *flags, "--output-format", "json")
    (denial,) = json.loads(ran.out)["denials"]
    assert (ran.code, denial["tool"], os.listdir(shell.folder)) == (0, "execute_command", [])


def test_everything_that_is_kept_lies_in_the_state_folder_for_the_owner_alone(shell: Shell) -> None:
    long = {"calls": [call("execute_command", command="seq 100000")]}
    before = set(shell.home.rglob("*"))
    model = shell.script(long, ends("Done."))
    assert shell.run("-p", "x", "--model", model, "--approve", "all").code == 0
    kept = list(shell.state.rglob("*"))
    assert {path.name for path in shell.state.glob("*")} >= {"sessions", "blobs"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept if path.is_file()} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in [shell.state, *kept] if path.is_dir()} == {0o700}
    assert set(shell.home.rglob("*")) - before == {shell.home / "script.json"}


def age(session: Path, days: int) -> None:
    """Make a journal older than it is; its chain of hashes is computed anew."""
    previous = "0" * 64
    with closing(sqlite3.connect(session)) as connection:
        rows = connection.execute("SELECT seq, branch, kind, time, payload FROM records ORDER BY seq").fetchall()
        for seq, branch, kind, written, payload in rows:
            earlier = written - days * 86_400_000_000
            digest = hashlib.sha256()
            for field in (previous, session.stem, branch, str(seq), kind, str(earlier)):
                digest.update(f"{len(field.encode())}:{field}".encode())
            digest.update(b"%d:%b" % (len(payload), payload))
            previous = digest.hexdigest()
            connection.execute("UPDATE records SET time = ?, hash = ? WHERE seq = ?", (earlier, previous, seq))
        connection.commit()


def test_sessions_that_were_not_written_for_long_are_removed_only_where_it_is_set(shell: Shell) -> None:
    assert shell.run("-p", "old", "--model", shell.script(ends("Old."))).code == 0
    (old,) = shell.state.glob("sessions/*.db")
    age(old, 60)
    assert shell.run("-p", "new", "--model", shell.script(ends("New."))).code == 0
    assert len(list(shell.state.glob("sessions/*.db"))) == 2
    ran = shell.run("-p", "newest", "--model", shell.script(ends("Newest.")), FERRULE_RETENTION_DAYS="30")
    assert (ran.code, old.exists(), len(list(shell.state.glob("sessions/*.db")))) == (0, False, 2)


def test_a_key_alone_chooses_its_vendors_default_model_and_says_so(shell: Shell) -> None:
    with FakeServer({"version": 1, "steps": [ends("Done.")]}) as server:
        ran = shell.run("-p", "x", ANTHROPIC_API_KEY="loopback", ANTHROPIC_BASE_URL=server.url)
        (body,) = server.bodies
    assert (ran.code, ran.out) == (0, "Done.\n")
    assert f"no model is configured; the key that is set leads to anthropic/{body['model']}" in ran.err


SMALL = ["attempt_completion", "edit", "execute_command", "list_files", "read_file", "search_files", "write_to_file"]
"""What a small model is offered."""
SERVERS = (11434, 1234, 8080, 8000)


def test_without_any_model_a_server_on_this_machine_is_found_else_the_ways_on_are_named(shell: Shell) -> None:
    for port in SERVERS:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                pytest.skip(f"something on this machine serves port {port}")
    ran = shell.run("-p", "x", "--output-format", "json")
    result = json.loads(ran.out)
    assert (ran.code, result["outcome"], result["exit_code"]) == (2, "usage_error", 2)
    tried, ways = result["error"].split("Ways on:\n")
    for name in ("--model", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", *map(str, SERVERS)):
        assert name in tried
    assert len(ways.splitlines()) == 3
    assert list(shell.state.rglob("*.db")) == []

    reply = {"text": json.dumps({"call": {"tool": "attempt_completion", "arguments": {"result": "Found."}}})}
    with FakeServer({"version": 1, "steps": [reply]}, port=8000) as server:
        ran = shell.run("-p", "x")
        asked = [request.path for request in server.requests]
        (body,) = server.bodies
    assert (ran.code, ran.out, asked) == (0, "Found.\n", ["/v1/models", "/v1/chat/completions"])
    assert f"ferrule: no model is configured; using {body['model']} of the server at http://127.0.0.1:8000/v1" in ran.err
    options = body["response_format"]["json_schema"]["schema"]["properties"]["call"]["anyOf"]
    assert sorted(option["properties"]["tool"]["const"] for option in options) == SMALL
    assert not {"maxLength", "minLength", "pattern", "minimum", "maximum"} & set(re.findall(r'"(\w+)":', json.dumps(options)))
