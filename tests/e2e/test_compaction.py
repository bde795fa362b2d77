"""A conversation that has become too long goes on in a shorter form, and nothing that must stay is lost by it."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from .driving import Json, Project, until

HEADINGS = ("Progress", "Decisions", "Open TODOs", "Constraints/Rules", "Pending user asks", "Exact identifiers")
SUMMARY = "\n\n".join(f"## {heading}\nThe ledger is half done." for heading in HEADINGS)


def call(name: str, **arguments: Any) -> Json:
    return {"name": name, "arguments": arguments}


def summarised(text: str | None = SUMMARY, **more: Any) -> Json:
    """What answers a request for a summary, whenever one comes."""
    said = {} if text is None else {"text": text}
    return {"when": {"system": "You write hand-overs"}, "times": "always", **said, **more}


def reading(count: int) -> list[Json]:
    return [{"text": f"Page {number}.", "calls": [call("read_file", path=f"page{number}.txt")]} for number in range(count)]


def ends(result: str = "Done.", **more: Any) -> Json:
    return {"calls": [call("attempt_completion", result=result)], **more}


def pages(project: Project, count: int) -> None:
    for number in range(count):
        project.write(f"page{number}.txt", f"page {number} says: " + "word " * 600)


def shrunk(project: Project) -> list[Json]:
    return [row.entry for row in project.journal.rows() if row.kind == "shrunk"]


def has_open(pid: int, name: str) -> bool:
    try:
        return any(os.readlink(fd).endswith(name) for fd in Path(f"/proc/{pid}/fd").iterdir())
    except FileNotFoundError:  # closed between listing and looking
        return False


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    pages(project, 12)
    return project


def test_a_session_is_compacted_on_demand_and_goes_on(project: Project):
    model = project.model(*reading(12), ends("Read."), ends("Gone on."), summarised())
    assert project.run("-p", "Read all pages, never page13.", "--model", model).code == 0
    (session,) = project.sessions
    rows = len(project.journal.rows())

    ran = project.run("sessions", "compact", session[-4:], "--focus", "the ledger", "--output-format", "json")
    told = json.loads(ran.out)
    assert (ran.code, told["compacted"], told["session"]) == (0, True, session)
    assert told["after"] < 0.7 * told["before"]
    (record,) = shrunk(project)
    assert record["summary"].startswith(SUMMARY)
    assert record["why"] == "asked"
    assert len(project.journal.rows()) == rows + 1

    again = project.run("-c", "-p", "Say so.", "--output-format", "json")
    assert (again.code, again.result["result"]) == (0, "Gone on.")
    shown = project.run("sessions", "show", session)
    assert "page 3 says" in shown.out
    assert "The ledger is half done." in shown.out


def test_compacting_from_another_folder_finds_the_session(project: Project, tmp_path: Path):
    model = project.model(*reading(12), ends(), summarised())
    project.run("-p", "Read all pages.", "--model", model)
    (session,) = project.sessions
    other = tmp_path / "other"
    other.mkdir()
    ran = project.run("-C", str(other), "sessions", "compact", session)
    assert ran.code == 0, ran.err
    assert "tokens a request before" in ran.out


@pytest.mark.parametrize(
    ("pages_read", "step", "code", "says"),
    [
        (0, summarised(), 1, "There is nothing to summarise"),
        (12, summarised("word " * 20_000), 1, "saved too little"),
        (12, summarised(None, fault={"kind": "http", "status": 401}), 1, "did not accept the key"),
        (12, summarised(None, fault={"kind": "http", "status": 429, "headers": {"Retry-After": "3600"}}), 75, "limits how often"),
        (12, summarised("I can't help with that.", stop="refusal"), 6, "refused to summarise"),
    ],
)
def test_what_could_not_be_compacted_says_why_and_stays_as_it_was(project: Project, pages_read, step, code, says):
    model = project.model(*reading(pages_read), ends(), ends("Gone on."), step)
    project.run("-p", "Read the pages.", "--model", model)
    (session,) = project.sessions
    ran = project.run("sessions", "compact", session)
    assert (ran.code, ran.out) == (code, "")
    assert f"session {session} is as it was: " in ran.err
    assert says in ran.err
    assert all(record["messages"] == 0 for record in shrunk(project))
    assert project.run("-c", "-p", "Go on.", "--output-format", "json").result["result"] == "Gone on."


def test_a_focus_that_is_no_focus_is_a_wrong_command_line(project: Project):
    project.run("-p", "x", "--model", project.model(ends()))
    (session,) = project.sessions
    ran = project.run("sessions", "compact", session, "--focus", "x" * 4_001)
    assert (ran.code, ran.out) == (2, "")
    assert "at most 4000" in ran.err
    assert project.run("sessions", "show", session, "--focus", "x").code == 2


def test_an_interrupted_compaction_leaves_the_session_as_it_was(project: Project):
    slow = summarised(fault={"kind": "stall", "seconds": 60, "at": "start"})
    project.run("-p", "Read all pages.", "--model", project.model(*reading(12), ends(), ends("Gone on."), slow))
    (session,) = project.sessions
    rows = project.journal.rows()
    with project.started("sessions", "compact", session) as process:
        until(lambda: has_open(process.pid, f"{session}.lock"))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    assert project.journal.rows() == rows
    assert project.run("-c", "-p", "Go on.", "--output-format", "json").result["result"] == "Gone on."
