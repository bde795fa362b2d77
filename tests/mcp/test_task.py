import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from ferrule.run.hooks.hook import Hook
from ferrule.task.config.schema import Config, Mcp
from ferrule.types.errors import UsageError
from ferrule.types.messages import Text
from ferrule.types.outcome import Outcome
from ferrule.types.records import CallFinished, CallStarted, HookRan, Receipt, UserSaid
from ferrule.types.tools import Effect
from tests.engine.opening import Ran, call, ends, run, step

from .serving import HERE

CATALOG = Mcp(tools=1)


def configure(base: Path, mode: str = "", **more: Any) -> Path:
    """The servers of the person; the file that takes the notes of what they did."""
    notes = base / "notes"
    program = [str(HERE / "rude.py"), mode, str(notes)] if mode else [str(HERE / "faulty.py"), str(notes)]
    file = base / ".config" / "ferrule" / "mcp.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"mcpServers": {"s": {"command": sys.executable, "args": program, **more}}}))
    return notes


def results(ran: Ran) -> list[tuple[str, str, str]]:
    """Id, kind and text of every call but the completion."""
    finished = [entry.result for entry in ran.entries(CallFinished)]
    return [(each.call_id, each.kind, each.text) for each in finished if each.name != "attempt_completion"]


def test_a_tool_of_a_server_is_a_tool_of_the_task(tmp_path: Path) -> None:
    configure(tmp_path, "plain")
    ran = run(tmp_path, step(call("mcp__s__do", word="it")), ends())
    assert ran.result.outcome is Outcome.FINISHED
    assert results(ran) == [("call_00001", "ok", "did do it")]
    assert ran.entries(CallStarted)[0].effect is Effect.EXTERNAL
    assert ran.entries(Receipt)[0].unwatched == 1


def test_a_call_is_denied_unless_something_allows_it(tmp_path: Path) -> None:
    configure(tmp_path, "plain")
    ran = run(tmp_path, step(call("mcp__s__do")), ends(), config=Config())
    assert results(ran)[0][1] == "denied"
    (denial,) = ran.result.denials
    assert (denial.tool, denial.what, denial.flag) == ("mcp__s__do", "s/do", "--allow mcp:s/do")
    ran = run(tmp_path, step(call("mcp__s__do")), ends(), config=Config(allow=("mcp:s/do",)))
    assert results(ran)[0][1] == "ok"


def test_what_a_file_always_allows_needs_no_approval_and_a_denial_still_wins(tmp_path: Path) -> None:
    configure(tmp_path, "plain", alwaysAllow=["do"])
    assert results(run(tmp_path, step(call("mcp__s__do")), ends(), config=Config()))[0][1] == "ok"
    assert results(run(tmp_path, step(call("mcp__s__do")), ends(), config=Config(deny=("mcp:s/*",))))[0][1] == "denied"


def test_a_server_that_cannot_be_started_is_said_and_the_task_goes_on(tmp_path: Path) -> None:
    file = tmp_path / ".config" / "ferrule" / "mcp.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"mcpServers": {"s": {"command": "no-such-program"}}}')
    assert run(tmp_path, ends()).result.outcome is Outcome.FINISHED


def test_a_wrong_file_ends_the_task_before_it_begins(tmp_path: Path) -> None:
    file = tmp_path / ".config" / "ferrule" / "mcp.json"
    file.parent.mkdir(parents=True)
    file.write_text("{")
    with pytest.raises(UsageError, match="is not valid JSON"):
        run(tmp_path, ends())


def test_a_secret_of_a_servers_configuration_is_in_no_result(tmp_path: Path) -> None:
    configure(tmp_path, env={"FAULTY_KEY": "sesame-open-sesame"})
    ran = run(tmp_path, step(call("mcp__s__secret")), ends())
    assert results(ran)[0][2] == "the key is [secret FAULTY_KEY of the server s]"


def test_a_call_through_the_catalog_is_in_the_journal_as_a_call_of_its_own(tmp_path: Path) -> None:
    configure(tmp_path, "many")
    ran = run(
        tmp_path,
        step(call("search_tools", query="tool_0_0")),
        step(call("call_tool", name="mcp__s__tool_0_0", arguments={"word": "x"})),
        step(call("call_tool", name="mcp__s__tool_1_1")),
        ends(),
    )
    assert ran.result.outcome is Outcome.FINISHED
    started = [(each.call_id, each.name, each.effect) for each in ran.entries(CallStarted)][1:-1]
    assert started == [
        ("call_00002", "call_tool", Effect.EXTERNAL),
        ("call_00002.1", "mcp__s__tool_0_0", Effect.READ),
        ("call_00003", "call_tool", Effect.EXTERNAL),
        ("call_00003.1", "mcp__s__tool_1_1", Effect.EXTERNAL),
    ]
    assert results(ran)[1:] == [
        ("call_00002.1", "ok", "did tool_0_0 x"),
        ("call_00002", "ok", "did tool_0_0 x"),
        ("call_00003.1", "error", "The server s refused: no such luck"),
        ("call_00003", "error", "The server s refused: no such luck"),
    ]
    assert ran.entries(Receipt)[0].unwatched == 2


def test_a_secret_is_in_no_record_of_a_call_through_the_catalog(tmp_path: Path) -> None:
    configure(tmp_path, env={"FAULTY_KEY": "sesame-open-sesame"})
    ran = run(tmp_path, step(call("call_tool", name="mcp__s__secret")), ends(), config=Config(approve="all", mcp=CATALOG))
    assert [text for _, _, text in results(ran)] == ["the key is [secret FAULTY_KEY of the server s]"] * 2


def test_an_unknown_tool_of_the_catalog_is_an_error_and_nothing_begins(tmp_path: Path) -> None:
    configure(tmp_path, "many")
    ran = run(tmp_path, step(call("call_tool", name="mcp__s__tool")), ends())
    ((id, kind, text),) = results(ran)
    assert (id, kind) == ("call_00001", "error") and "No server has a tool 'mcp__s__tool'" in text
    assert [each.name for each in ran.entries(CallStarted)] == ["attempt_completion"]


def test_a_call_through_the_catalog_is_denied_like_the_tool_itself(tmp_path: Path) -> None:
    configure(tmp_path, "many")
    ran = run(tmp_path, step(call("call_tool", name="mcp__s__tool_2_2")), ends(), config=Config())
    (denial,) = ran.result.denials
    assert (denial.what, denial.flag) == ("s/tool_2_2", "--allow mcp:s/tool_2_2")


def test_hooks_judge_the_tool_that_the_catalog_calls(tmp_path: Path) -> None:
    configure(tmp_path, "many")
    hook = Hook("before_tool", command='echo \'{"decision": "block", "reason": "not this one"}\'', match="mcp__s__tool_2_*")
    config = Config(approve="all", hooks=(hook,))
    ran = run(
        tmp_path,
        step(call("call_tool", name="mcp__s__tool_2_2")),
        step(call("call_tool", name="mcp__s__tool_0_2")),
        ends(),
        config=config,
    )
    assert [(id, kind) for id, kind, _ in results(ran)] == [
        ("call_00001", "denied"),
        ("call_00002.1", "ok"),
        ("call_00002", "ok"),
    ]
    assert "not this one" in results(ran)[0][2]
    assert [each.call_id for each in ran.entries(HookRan)] == ["call_00001.1"]


def test_schemas_that_cannot_be_sent_leave_out_their_tool_alone(tmp_path: Path) -> None:
    configure(tmp_path, "schemas")
    ran = run(tmp_path, step(call("mcp__s__good", word="y")), ends())
    assert results(ran) == [("call_00001", "ok", "did good y")]


@pytest.mark.parametrize("written", ["Ann", "name=Ann", "'Ann'"])
def test_a_prompt_of_a_server_that_the_person_types_follows_what_was_typed(tmp_path: Path, written: str) -> None:
    configure(tmp_path)
    ran = run(tmp_path, ends(), prompt=f"/mcp:s:greet {written}")
    (said,) = [entry.message.parts for entry in ran.entries(UserSaid)]
    assert said == (Text(f'/mcp:s:greet {written}\n\n<mcp_prompt server="s" name="greet">\nGreet Ann.\n</mcp_prompt>'),)


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("/mcp:t:greet", "there is no server t; there are: s"),
        ("/mcp:s:meet", "the server has no such prompt; it has: greet"),
        ("/mcp:s:greet", "greet needs name: write NAME=VALUE"),
        ("/mcp:s:greet a b", 'greet takes name; "b" is one too many'),
        ("/mcp:s:greet 'a", "have an open quote"),
    ],
)
def test_a_prompt_that_cannot_be_had_is_said_before_anything_runs(tmp_path: Path, typed: str, problem: str) -> None:
    configure(tmp_path)
    with pytest.raises(UsageError, match=re.escape(problem)):
        run(tmp_path, ends(), prompt=typed)
