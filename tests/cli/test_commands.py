import asyncio
import http.server
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import ferrule
from ferrule.front.cli.doctor import report
from ferrule.front.cli.help import HELP
from ferrule.front.cli.show.terminal import Look
from ferrule.task.doctor import Fact, examine

from .command import FERRULE, Ran, Shell

WHAT_TO_TYPE = """\
ferrule: what shall be done? Write for example:
  ferrule -p "fix the failing test"       a task
  git diff | ferrule -p "explain this"    a task with text from a pipe
  ferrule -c -p "now add a test"          go on with the last session of this folder
  ferrule --help                          everything else
"""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--version"], Ran(0, "ferrule 0.1.0\n", "")),
        (["config", "show", "--version"], Ran(0, "ferrule 0.1.0\n", "")),
        (["--help"], Ran(0, HELP, "")),
        (["-h"], Ran(0, HELP, "")),
        ([], Ran(2, "", WHAT_TO_TYPE)),
        (["-p"], Ran(2, "", WHAT_TO_TYPE)),
        (["--modle", "x"], Ran(2, "", "ferrule: unknown flag --modle; did you mean --model?\n")),
        (["\x1b[2J"], Ran(2, "", "ferrule: \"␛[2J\" is no command; to give a task, write: ferrule -p '␛[2J'\n")),
        (
            ["-p", "x", "--max-turns", "0"],
            Ran(2, "", "ferrule: --max-turns must be a whole number of at least 1, not 0\n"),
        ),
        (
            ["-p", "x", "--max-time", "soon"],
            Ran(2, "", 'ferrule: --max-time must be a time above 0 such as 90, 90s, 10m or 2h, not "soon"\n'),
        ),
        (["-p", "x", "--approve", "yes"], Ran(2, "", 'ferrule: --approve must be one of ask, edits, all, not "yes"\n')),
        (["-p", "x", "--effort", "max"], Ran(2, "", 'ferrule: --effort must be one of none, low, medium, high, not "max"\n')),
    ],
)
def test_answers_and_refusals_are_exact(shell: Shell, arguments: list[str], expected: Ran) -> None:
    assert shell.run(*arguments) == expected


def test_a_refusal_in_json_is_a_result(shell: Shell) -> None:
    ran = shell.run("-p", "x", "--max-turns", "0", "--output-format", "json")
    why = "--max-turns must be a whole number of at least 1, not 0"
    assert (ran.code, ran.err) == (2, f"ferrule: {why}\n")
    assert json.loads(ran.out) == {
        "schema_version": 1,
        "session_id": None,
        "task_id": "",
        "outcome": "usage_error",
        "exit_code": 2,
        "result": "",
        "verification": [],
        "denials": [],
        "limits": {"turns": None, "tokens": None, "cost": None, "time": None},
        "usage": {"input": 0, "output": 0, "cache_read": 0, "cache_write": 0, "reasoning": 0, "cost": 0.0},
        "cost_usd": 0.0,
        "turns": 0,
        "files_changed": [],
        "receipt": None,
        "model": "",
        "question": None,
        "error": why,
        "unstored": False,
        "models": [],
    }


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--help"], ["config", "show"], ["sessions", "list", "--output-format", "json"]]
)
def test_a_reader_that_goes_away_is_no_failure_but_a_full_disk_is(shell: Shell, arguments: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    environ = shell.environ({})
    gone = subprocess.run(
        (*FERRULE, *arguments), cwd=shell.folder, env=environ, stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert (gone.returncode, gone.stderr) == (0, b"")
    with open("/dev/full", "wb") as full:
        failed = subprocess.run(
            (*FERRULE, *arguments), cwd=shell.folder, env=environ, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert failed.returncode == 1
    assert b"Traceback" not in failed.stderr


def test_the_version_costs_little_more_than_the_interpreter(shell: Shell) -> None:
    environ = shell.environ({})

    def took(*command: str) -> float:
        began = time.perf_counter()
        subprocess.run(command, env=environ, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - began

    ratios = []
    for _ in range(9):
        bare = took(sys.executable, "-c", "pass")
        ratios.append(took(*FERRULE, "--version") / bare)
    assert statistics.median(ratios) <= 4


def test_the_version_imports_nothing_of_the_product(shell: Shell) -> None:
    program = (
        "import sys; before = set(sys.modules); sys.argv = ['ferrule', '--version']; import ferrule.main as m; m.main();"
        "print(sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run(
        [sys.executable, "-S", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(ferrule.__file__).parents[1])},
    )
    assert ran.stdout == "ferrule 0.1.0\n['ferrule', 'ferrule.main']\n"


def test_settings_are_shown_with_their_origins(shell: Shell) -> None:
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text('approve = "edits"\nverify = ["make test"]\n')
    (shell.folder / ".ferrule").mkdir()
    (shell.folder / ".ferrule" / "config.toml").write_text('approve = "all"\n')
    ran = shell.run("config", "show", "--max-cost", "2", FERRULE_MODEL="openai/x", OPENAI_API_KEY="sk-secret")
    note = (
        f"{shell.folder}/.ferrule/config.toml is ignored because its folder is not trusted; "
        f"to trust it: ferrule config trust {shell.folder}"
    )
    assert ran == Ran(
        0,
        'model = "openai/x"                  # FERRULE_MODEL\n'
        "effort = (none)                     # default\n"
        f'approve = "edits"                   # {shell.config}:1\n'
        "allow = []                          # default\n"
        "deny = []                           # default\n"
        f'verify = ["make test"]              # {shell.config}:2\n'
        "verify_timeout = 300                # default\n"
        "retention_days = (none)             # default\n"
        'diagnostics = "servers"             # default\n'
        "limits.turns = (none)               # default\n"
        "limits.tokens = (none)              # default\n"
        "limits.cost = 2                     # --max-cost\n"
        "limits.time = (none)                # default\n"
        "timeouts.tool = 900                 # default\n"
        "timeouts.command = (none)           # default\n"
        "timeouts.first_event = (none)       # default\n"
        "timeouts.idle = (none)              # default\n"
        "timeouts.total = (none)             # default\n"
        "gates.require_todos_done = true     # default\n"
        "hooks = []                          # default\n"
        "env.pass = []                       # default\n"
        'sandbox.mode = "off"                # default\n'
        "sandbox.network = false             # default\n"
        'sandbox.access = "read-write"       # default\n'
        "sandbox.show = []                   # default\n"
        "ignore.show = false                 # default\n"
        'prompt.append = ""                  # default\n'
        "search.embeddings_url = (none)      # default\n"
        "search.embeddings_model = (none)    # default\n"
        "search.embeddings_key_env = (none)  # default\n"
        "mcp.tools = 40                      # default\n",
        f"ferrule: {note}\n",
    )
    shown = json.loads(shell.run("config", "show", "--output-format", "json").out)
    assert shown["settings"][:3] == [
        {"key": "model", "value": None, "origin": "default"},
        {"key": "effort", "value": None, "origin": "default"},
        {"key": "approve", "value": "edits", "origin": f"{shell.config}:1"},
    ]
    assert (shown["files"], shown["notes"]) == ([str(shell.config)], [note])


def test_a_wrong_file_stops_everything_with_its_place(shell: Shell) -> None:
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text("[limits]\nturn = 3\n")
    message = f'ferrule: {shell.config}:2: unknown key "limits.turn"; did you mean limits.turns?\n'
    assert shell.run("-p", "x") == Ran(2, "", message)
    assert shell.run("config", "show") == Ran(2, "", message)


def test_a_folder_that_was_removed_under_us_is_named(shell: Shell) -> None:
    program = f"cd '{shell.folder}' && rmdir '{shell.folder}' && exec '{FERRULE[0]}' -p x"
    ran = subprocess.run(["/bin/sh", "-c", program], env=shell.environ({}), capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (
        2,
        "ferrule: the current folder cannot be used (No such file or directory); name another one with -C DIR\n",
    )


class Models(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"data":[{"id":"qwen"},{"id":"\x1b[2Jllama"}]}'.replace(b"\x1b", b"\\u001b")
        self.send_response(200 if self.path == "/v1/models" else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def models() -> Iterator[int]:
    """The port of a server that lists two models."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Models)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_doctor_asks_servers_on_this_machine(shell: Shell, models: int) -> None:
    found = asyncio.run(examine(shell.folder, shell.environ({}), (("Silent", 9), ("Own", models))))
    none = asyncio.run(examine(shell.folder, shell.environ({}), (("Silent", 9),)))
    assert [fact for fact in found + none if fact.topic == "servers"] == [
        Fact("servers", "Own", "ok", f"127.0.0.1:{models} offers qwen, \x1b[2Jllama"),
        Fact("servers", "on this machine", "note", "none answers (Silent 9)"),
    ]


def test_the_doctor_names_what_it_finds_and_shows_no_secret(shell: Shell) -> None:
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text('[endpoints.own]\ndialect = "openai"\nbase_url = "https://h.test"\nkey_env = "OWN_KEY"\n')
    ran = shell.run("doctor", "--output-format", "json", OPENAI_API_KEY="sk-verysecret", FERRULE_MODEL="own/m")
    told = [fact for fact in json.loads(ran.out) if fact["topic"] != "servers"]
    facts = {(fact["topic"], fact["name"]): (fact["state"], fact["detail"]) for fact in told}
    assert (ran.code, ran.err) == (0, "")
    assert "verysecret" not in ran.out
    assert list(facts) == [
        ("platform", "python"),
        ("platform", "system"),
        ("programs", "supervisor"),
        ("programs", "git"),
        ("programs", "ripgrep"),
        ("sandbox", "workspace"),
        ("sandbox", "strict"),
        ("state", "sqlite"),
        ("state", "folder"),
        ("state", "journal"),
        ("configuration", "files"),
        ("configuration", "model"),
        ("keys", "set"),
        ("keys", "own"),
    ]
    assert {name: facts[name] for name in list(facts)[10:]} | {("state", "folder"): facts["state", "folder"]} == {
        ("state", "folder"): ("ok", f"{shell.state} (made when it is needed)"),
        ("configuration", "files"): ("ok", str(shell.config)),
        ("configuration", "model"): ("ok", "own/m (from FERRULE_MODEL)"),
        ("keys", "set"): ("ok", "OPENAI_API_KEY"),
        ("keys", "own"): ("note", "endpoint own wants OWN_KEY, which is not set"),
    }
    assert not shell.state.exists()


def test_the_doctor_finds_the_supervisor_and_ripgrep_without_any_path(shell: Shell) -> None:
    ran = shell.run("doctor", "--output-format", "json", PATH="/nowhere")
    states = {fact["name"]: fact["state"] for fact in json.loads(ran.out)}
    assert (ran.code, states["supervisor"], states["ripgrep"], states["git"]) == (0, "ok", "ok", "note")


def test_the_doctor_fails_where_nothing_can_be_kept_or_read(shell: Shell) -> None:
    shell.state.write_text("a file")
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text("x = 1")
    ran = shell.run("doctor", "--output-format", "json")
    failed = [fact for fact in json.loads(ran.out) if fact["state"] == "failed"]
    assert (ran.code, failed) == (
        1,
        [
            {
                "topic": "state",
                "name": "folder",
                "state": "failed",
                "detail": f"{shell.state} cannot be written: Not a directory",
            },
            {"topic": "configuration", "name": "files", "state": "failed", "detail": failed[1]["detail"]},
        ],
    )
    assert failed[1]["detail"].startswith(f'{shell.config}:1: unknown key "x"; known here: allow, approve, ')


def test_a_report_lists_facts_under_their_topics() -> None:
    facts = (Fact("a", "one", "ok", "fine"), Fact("a", "three", "note", "so so"), Fact("b", "x", "failed", "\x1b"))
    assert report(facts, Look()) == "a\n  ✓ one    fine\n  ? three  so so\nb\n  ✗ x      ␛\n"
