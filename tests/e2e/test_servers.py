import json
import secrets
import sys
from pathlib import Path

import pytest

from .driving import KILLED, Json, Project, call, carriers, command_line, completes, descendants, over, step, until

RUDE = Path(__file__).parent.parent / "mcp" / "rude.py"


@pytest.fixture
def mark() -> str:
    """A duration that no other process on this machine sleeps for."""
    return f"60.{secrets.randbelow(10**12):012}"


def configure(project: Project, file: Path, mode: str, **more: Json) -> Path:
    """One server `s`; the file that it writes its effects to."""
    notes = project.home / "notes"
    file.parent.mkdir(parents=True, exist_ok=True)
    server = {"command": sys.executable, "args": [str(RUDE), mode, str(notes)]}
    file.write_text(json.dumps({"mcpServers": {"s": server, **more}}))
    return notes


def own(project: Project) -> Path:
    return project.home / ".config" / "ferrule" / "mcp.json"


def task(project: Project, *steps: Json, approve: str = "all") -> tuple[str, ...]:
    return ("-p", "Do it.", "--model", project.model(*steps), "--approve", approve, "--output-format", "json")


def through_catalog(name: str, word: str) -> Json:
    return {"name": "call_tool", "arguments": {"name": name, "arguments": {"word": word}}}


def texts(project: Project) -> list[str]:
    finished = project.journal.entries("call_finished")
    return [each["result"]["parts"][0]["text"] for each in finished if each["result"]["name"] != "attempt_completion"]


@pytest.mark.parametrize("through", ["itself", "the catalog"])
def test_neither_a_server_nor_what_it_started_outlives_ferrule_and_its_call_is_not_sent_again(
    project: Project, mark: str, through: str
) -> None:
    direct = through == "itself"
    notes = configure(project, own(project), "sleeps")
    config = own(project).with_name("config.toml")
    config.write_text("" if direct else "[mcp]\ntools = 1\n")
    if not direct:
        configure(project, own(project), "sleeps", t={"command": sys.executable, "args": [str(RUDE), "plain"]})
    made = call("mcp__s__do", word=mark) if direct else through_catalog("mcp__s__do", mark)
    arguments = task(project, step(made), step(completes()))
    with project.started(*arguments) as process:
        until(lambda: any(mark in command_line(pid)[1:2] for pid in carriers(mark)))
        below = descendants(process.pid)
        process.kill()
        process.communicate()
        until(lambda: all(over(pid) for pid in below) and carriers(mark) == [])
    assert process.returncode == KILLED
    assert len(below) >= 2
    ran = project.run("-c", "--model", arguments[3], "--approve", "all", "--output-format", "json")
    assert (ran.code, ran.result["outcome"]) == (0, "finished")
    assert notes.read_text().split() == [mark]
    state = project.journal.state()
    unknown = {id: kinds for id, kinds in state.results.items() if kinds == ["unknown"]}
    assert [*unknown] == (["call_00001"] if direct else ["call_00001.1", "call_00001"])
    assert all(count == 1 for count in state.started.values())
    assert state.started.keys() == state.results.keys()
    project.journal.check()


def test_a_signal_in_a_call_ends_the_server_and_the_call_has_its_result(project: Project, mark: str) -> None:
    configure(project, own(project), "sleeps")
    with project.started(*task(project, step(call("mcp__s__do", word=mark)), step(completes()))) as process:
        until(lambda: any(mark in command_line(pid)[1:2] for pid in carriers(mark)))
        below = descendants(process.pid)
        process.terminate()
        process.communicate(timeout=30)
        until(lambda: all(over(pid) for pid in below) and carriers(mark) == [])
    assert process.returncode == 130
    assert project.journal.state().results["call_00001"] == ["interrupted"]


def test_the_report_names_the_flag_that_allows_a_tool(project: Project) -> None:
    configure(project, own(project), "plain")
    steps = step(call("mcp__s__do", word="it")), step(completes())
    ran = project.run(*task(project, *steps, approve="edits"))
    assert [denial["flag"] for denial in ran.result["denials"]] == ["--allow mcp:s/do"]
    ran = project.run(*task(project, *steps, approve="ask"), "--allow", "mcp:s/do", "--no-session")
    assert (ran.code, ran.result["denials"]) == (0, [])


def test_the_servers_of_a_project_count_once_its_folder_is_trusted(project: Project, mark: str) -> None:
    notes = configure(project, project.folder / ".mcp.json", "stays")
    steps = step(call("mcp__s__do")), step(completes())
    ran = project.run(*task(project, *steps))
    assert texts(project)[0].startswith("The tool 'mcp__s__do' does not exist. Nothing was run.")
    assert "is ignored because its folder is not trusted; to trust it: ferrule config trust" in ran.err
    assert not notes.exists()
    assert project.run("config", "trust").code == 0
    ran = project.run(*task(project, *steps), "--no-session")
    assert ran.code == 0 and notes.exists()
    until(lambda: over(int(notes.read_text())))


def test_a_server_that_cannot_be_started_is_said_with_its_log_and_the_run_goes_on(project: Project) -> None:
    configure(project, own(project), "plain", t={"command": "no-such-program"})
    ran = project.run(*task(project, step(call("mcp__s__do", word="it")), step(completes())))
    assert (ran.code, texts(project)) == (0, ["did do it"])
    (log,) = (project.state / "mcp").glob("t-*.log")
    assert f"The server t cannot be used: it ended with exit code 127. Its log is {log}" in ran.err
    assert "no-such-program: not found" in log.read_text()
    assert str(log) in project.run("mcp", "list").out


def test_a_catalog_takes_the_place_of_many_tools_and_its_calls_are_recorded(project: Project) -> None:
    configure(project, own(project), "many")
    searched, made = call("search_tools", query="tool_2_3"), through_catalog("mcp__s__tool_2_3", "x")
    ran = project.run(*task(project, step(searched), step(made), step(completes())))
    assert ran.code == 0
    found, inner, outer = texts(project)
    assert found.startswith("mcp__s__tool_2_3\n")
    assert inner == outer == "did tool_2_3 x"
    names = [each["name"] for each in project.journal.entries("call_started")]
    assert names == ["search_tools", "call_tool", "mcp__s__tool_2_3", "attempt_completion"]
