"""`ferrule trace ID`."""

import json
import re

from .command import Shell, call, ends

BUSY = {"fault": {"kind": "http", "status": 503, "headers": {"Retry-After": "0"}}}
MISSPELT = {"calls": [{"name": " functions.Read_File", "arguments": '{"path": "a.txt"}}'}]}
WORK = {"calls": [call("execute_command", command="rm -rf build")]}

HOOK = """
[[hooks]]
event = "before_tool"
match = "execute_command"
name = "keeper"
command = "echo not here >&2; exit 2"
"""


def traced(shell: Shell) -> str:
    (shell.folder / "a.txt").write_text("a\n")
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text(HOOK)
    shell.run("-p", "read", "--model", shell.script(BUSY, MISSPELT, WORK, {"text": ""}, ends("Read.")))
    return shell.run("sessions", "list").out.splitlines()[1].split()[0]


def test_phases_filters_that_acted_repairs_retries_and_hooks_of_a_run_are_told(shell: Shell) -> None:
    ran = shell.run("trace", traced(shell))
    assert (ran.code, ran.err) == (0, "")
    told = re.sub(r"scripted/\S+", "MODEL", re.sub(r"\d+(\.\d+)? m?s", "T", ran.out))
    starts = [line.split("  ") for line in told.splitlines() if re.match(r" {2,4}(attempt|\+T)", line)]
    kinds = [[each for each in line if each.strip()][:2] for line in starts]
    assert [(first.strip().split()[0], second.strip().split(":")[0]) for first, second in kinds] == [
        ("+T", "model"),
        ("attempt", "MODEL"),
        ("+T", "retry"),
        ("attempt", "MODEL"),
        ("+T", "repair"),
        ("+T", "repair"),
        ("+T", "hook"),
        ("+T", "denied"),
        ("+T", "reminder"),
        ("attempt", "MODEL"),
    ]
    assert "names: call_00001: tool name ' functions.Read_File' stored as 'read_file'" in told
    assert "arguments: call_00001: arguments mended: 1 trailing character(s) dropped" in told
    assert "before_tool keeper: block in T, not here" in told
    assert re.search(r"workspace T .* history T ×3 .* tool_loop T ×2 .* maintenance T", told.replace("\n", " "))


def test_a_trace_is_told_to_programs_with_the_same_in_it(shell: Shell) -> None:
    ran = shell.run("trace", traced(shell), "--output-format", "json")
    [run] = json.loads(ran.out)["runs"]
    assert (run["outcome"], [attempt["how"] for attempt in run["attempts"]]) == ("finished", ["failed", "yielded", "ended"])
    assert [event["kind"] for event in run["attempts"][1]["events"]] == ["repair", "repair", "hook", "denied"]
    assert all(phase["seconds"] >= 0 for attempt in run["attempts"] for phase in attempt["phases"])


def test_a_session_that_nobody_knows_is_named(shell: Shell) -> None:
    ran = shell.run("trace", "nope")
    assert (ran.code, "No session is called 'nope'" in ran.err) == (2, True)
