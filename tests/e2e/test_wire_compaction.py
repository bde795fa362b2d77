"""A run that is much longer than the window of its model: it is compacted as often as it takes, and ends like any other."""

import json
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.judge import violations_history

from .wire import DIALECTS, WIRES, Home, Played, Step, call, ends

SMALL = """
[endpoints.small]
dialect = "{dialect}"
base_url = "BASE_URL"
key_env = "{key}"
window = 12000
max_output = 1024
"""
HEADINGS = ("Progress", "Decisions", "Open TODOs", "Constraints/Rules", "Pending user asks", "Exact identifiers")
SUMMARY: Step = {
    "when": {"system": "You write hand-overs"},
    "times": "always",
    "text": "\n\n".join(f"## {heading}\nThe numbers are counted one by one." for heading in HEADINGS),
}
WINDOW = 12_000
COUNT = 45
ASK = "Count as far as told in count.txt. Never touch vendor/keep.txt."
TODO = "count on to the very end"


def turns(count: int) -> list[Step]:
    """Each with too little in its result to be cut, but with much that is said."""
    said = [f"Now number {number}. " + f"I consider what {number} means. " * 45 for number in range(count)]
    listed = {"calls": [call("update_todo_list", todos=f"[ ] {TODO}")]}
    return [
        listed,
        *(
            {
                "text": text,
                "calls": [call("execute_command", command=f"echo {number} >> count.txt; seq {number} 200 | head -c 900")],
            }
            for number, text in enumerate(said)
        ),
        {"calls": [call("update_todo_list", todos=f"[x] {TODO}")]},
        ends("Counted."),
    ]


def play(home: Home, dialect: str, *steps: Step) -> Played:
    config = SMALL.format(dialect=dialect, key=WIRES[dialect].key)
    return home.play(dialect, *steps, prompt=("-p", ASK), model="small/any", config=config)


def records(home: Home, kind: str) -> list[Any]:
    (path,) = home.state.glob("sessions/*.db")
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT payload FROM records WHERE kind = ? ORDER BY seq", (kind,))
        return [json.loads(payload) for (payload,) in found]


def is_summary(body: Any) -> bool:
    return "You write hand-overs" in json.dumps(body)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_run_longer_than_the_window_is_compacted_and_finishes(tmp_path: Path, dialect: str):
    home = Home(tmp_path)
    played = play(home, dialect, SUMMARY, *turns(COUNT))
    assert (played.code, played.result["result"]) == (0, "Counted."), played.err
    assert played.problems == []
    assert (home.folder / "count.txt").read_text().split() == [str(number) for number in range(COUNT)]

    asked = [body for body in played.bodies if not is_summary(body)]
    shrunk = [record for record in records(home, "shrunk") if record["messages"]]
    assert 2 <= len(shrunk) < 10
    assert len(shrunk) <= len(played.bodies) - len(asked) <= 4 * len(shrunk)
    assert all(later["messages"] > earlier["messages"] for earlier, later in pairwise(shrunk))
    assert all(record["usage"]["input"] <= WINDOW for record in records(home, "assistant"))
    assert all(len(json.dumps(body)) / 4 <= WINDOW for body in played.bodies if is_summary(body))
    assert all(json.dumps(body).count(ASK) == 1 for body in asked)
    assert all(TODO in json.dumps(body) for body in asked[2:])
    assert [record["origin"] for record in records(home, "user")] == ["person"]

    rewritten = [at for at in range(1, len(asked)) if len(json.dumps(asked[at])) < len(json.dumps(asked[at - 1]))]
    assert len(rewritten) == len(shrunk)
    assert violations_history(dialect, asked, rewritten=rewritten) == []


def test_usage_and_limits_count_the_summaries(tmp_path: Path):
    home = Home(tmp_path)
    counted = {**SUMMARY, "usage": {"input": 5_000, "output": 100}}
    played = play(home, "openai", counted, *turns(COUNT))
    spent = sum(record["usage"]["input"] for record in records(home, "shrunk"))
    assert spent >= 10_000
    (receipt,) = records(home, "receipt")
    assert receipt["usage"]["input"] == played.result["usage"]["input"] > spent


@pytest.mark.parametrize("fault", [{"kind": "http", "status": 503}, {"kind": "cut"}, {"kind": "reset"}])
def test_a_summary_that_fails_once_is_asked_for_again(tmp_path: Path, fault: dict[str, Any]):
    home = Home(tmp_path)
    failing = {**SUMMARY, "fault": fault, "times": 1}
    if fault["kind"] == "http":
        del failing["text"]
    played = play(home, "openai", failing, SUMMARY, *turns(14))
    assert (played.code, played.problems) == (0, []), played.err
    assert (home.folder / "count.txt").read_text().split() == [str(number) for number in range(14)]


def test_where_nothing_can_be_summarised_the_run_ends_and_keeps_its_work(tmp_path: Path):
    home = Home(tmp_path)
    useless = {**SUMMARY, "text": "word " * 20_000}
    refused = {"fault": {"kind": "http", "status": 400, "says": "context_overflow", "tokens": 13_000}, "times": "always"}
    played = play(home, "openai", useless, *turns(COUNT)[:24], refused)
    assert (played.code, played.result["outcome"]) == (4, "limit"), played.err
    assert len([body for body in played.bodies if is_summary(body)]) <= 12
    done = (home.folder / "count.txt").read_text().split()
    assert done == [str(number) for number in range(len(done))]
    assert done
    assert all(record["messages"] == 0 for record in records(home, "shrunk"))


def test_a_server_that_enforces_a_schema_writes_summaries_too(tmp_path: Path):
    home = Home(tmp_path)
    config = SMALL.format(dialect="openai", key=WIRES["openai"].key) + 'tools = "schema"\n'
    calls: list[Step] = []
    for step in turns(COUNT):
        (one,) = step["calls"]
        arguments = dict(one["arguments"])
        if "command" in arguments:
            arguments["command"] += f"  # {step['text']}"
        calls.append({"text": json.dumps({"call": {"tool": one["name"], "arguments": arguments}})})
    played = home.play("openai", SUMMARY, *calls, prompt=("-p", ASK), model="small/any", config=config)
    assert (played.code, played.problems) == (0, []), played.err
    assert (home.folder / "count.txt").read_text().split() == [str(number) for number in range(COUNT)]
    summaries = [body for body in played.bodies if is_summary(body)]
    assert summaries
    assert not any("response_format" in body for body in summaries)
