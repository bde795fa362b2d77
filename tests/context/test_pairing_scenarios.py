"""The 34 scenarios of transcript repair that OpenClaw's attempt engine meets, with what is right here.

Three tables: histories that are repaired, histories that stay as they are, and what a model writes, played through the whole
engine, since what is wrong with a call is mended before it is stored and never reaches a history. A scenario that our types make
impossible stands with the nearest thing that can happen; the line above it says why.
"""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ferrule.attempt.model_call import build_request
from ferrule.context.pairing import INTERRUPTED, NO_USER, NONE, Repairs, repair
from ferrule.types.messages import Assistant, Message, Opaque, Reasoning, Results, Text, ToolCall, ToolResult, User
from ferrule.types.outcome import Outcome
from ferrule.types.records import AssistantSaid, CallFinished, Retried
from tests.engine.opening import Ran, Step, ends, run, step
from tests.engine.test_request import Half, Stored
from tests.judge import sdk_accepts, violations
from tests.wire.conversations import READ
from tests.wire.encoding import spelled
from tests.wire.endpoints import ENDPOINTS

from .histories import calls, interrupted, result, results, says, unknown, user

History = tuple[Message, ...]

REPAIRED: dict[str, tuple[History, History, Repairs]] = {
    "01 a result behind a user message moves up and its missing sibling is synthesised": (
        (user(), calls("a", "b"), user("hm"), results("a")),
        (user(), calls("a", "b"), Results((result("a"), interrupted("b"))), user("hm")),
        Repairs(added=("b",), moved=1),
    ),
    "02 a duplicate within the turn": (
        (user(), calls("a"), Results((result("a", "first"), result("a", "second")))),
        (user(), calls("a"), Results((result("a", "first"),))),
        Repairs(duplicates=1),
    ),
    "03 a duplicate across the conversation": (
        (user(), calls("a"), results("a"), user(), calls("b"), Results((result("b"), result("a", "again")))),
        (user(), calls("a"), results("a"), user(), calls("b"), results("b")),
        Repairs(duplicates=1),
    ),
    "04 an orphan": ((user(), results("x"), says("hi")), (user(), says("hi")), Repairs(orphans=1)),
    "07 a call without a result": (
        (user(), calls("a")),
        (user(), calls("a"), Results((interrupted("a"),))),
        Repairs(added=("a",)),
    ),
    # No answer that failed or was aborted is stored (05, 06), so that its result is one without a call.
    "08 a result of an answer that was aborted": (
        (user(), says("I was cut"), results("a"), user("go on")),
        (user(), says("I was cut"), user("go on")),
        Repairs(orphans=1),
    ),
    "13 text beside a call that is repaired is kept": (
        (user(), calls("a", text="look"), user("go on")),
        (user(), calls("a", text="look"), Results((interrupted("a"),)), user("go on")),
        Repairs(added=("a",)),
    ),
    "16 whatever else a call bears is kept": (
        (user(), Assistant((ToolCall("a", "read_file", "{}", opaque=Opaque("google", "m", '{"s":1}')),), "calls", "google/m")),
        (
            user(),
            Assistant((ToolCall("a", "read_file", "{}", opaque=Opaque("google", "m", '{"s":1}')),), "calls", "google/m"),
            Results((interrupted("a"),)),
        ),
        Repairs(added=("a",)),
    ),
    "20 a real result replaces a synthetic one": (
        (user(), calls("a"), Results((interrupted("a"),)), results("a")),
        (user(), calls("a"), results("a")),
        Repairs(duplicates=1, moved=1),
    ),
    "20 a synthetic one never replaces a real one": (
        (user(), calls("a"), results("a"), Results((unknown("a"),))),
        (user(), calls("a"), results("a")),
        Repairs(duplicates=1),
    ),
    "21 a result behind the next turn moves up": (
        (user(), calls("a"), calls("b"), results("b", "a")),
        (user(), calls("a"), results("a"), calls("b"), results("b")),
        Repairs(moved=1),
    ),
    # Each result is stored with the id of its call; one that has none was made by nobody here.
    "22 a result without an id is not guessed to be that of the only call": (
        (user(), calls("a"), Results((result(""),))),
        (user(), calls("a"), Results((interrupted("a"),))),
        Repairs(added=("a",), orphans=1),
    ),
    "23 a text answer between call and result": (
        (user(), calls("a"), says("wait"), results("a")),
        (user(), calls("a"), results("a"), says("wait")),
        Repairs(moved=1),
    ),
    "28 the same id in two turns": (
        (user(), calls("a"), user(), calls("a"), Results((result("a", "of the second"),))),
        (user(), calls("a"), Results((interrupted("a"),)), user(), calls("a"), Results((result("a", "of the second"),))),
        Repairs(added=("a",)),
    ),
    "29 a window that starts with results": (
        (results("a"), says("so"), user()),
        (User((Text(NO_USER),)), says("so"), user()),
        Repairs(orphans=1, opened=True),
    ),
    "30 a window that starts with calls": (
        (calls("a"), results("a"), user()),
        (User((Text(NO_USER),)), calls("a"), results("a"), user()),
        Repairs(opened=True),
    ),
    "31 a crash after the call, before its result": (
        (user(), calls("a"), user("again")),
        (user(), calls("a"), Results((interrupted("a"),)), user("again")),
        Repairs(added=("a",)),
    ),
    "32 two calls, one result, then the person": (
        (user(), calls("a", "b"), results("b"), user("stop")),
        (user(), calls("a", "b"), Results((interrupted("a"), result("b"))), user("stop")),
        Repairs(added=("a",)),
    ),
    "34 a result before its call": (
        (user(), results("a"), calls("a")),
        (user(), calls("a"), Results((interrupted("a"),))),
        Repairs(added=("a",), orphans=1),
    ),
}

SIGNED = Reasoning("hm", Opaque("anthropic", "n", '{"type":"thinking","thinking":"hm","signature":"c2ln"}'))
WHOLE: dict[str, History] = {
    "18 ids that every vendor takes": (user(), calls("call_00001", "toolu_01Ab"), results("call_00001", "toolu_01Ab"), user()),
    "19 answers of several models": (
        user(),
        calls("a"),
        results("a"),
        Assistant((SIGNED, ToolCall("b", "read_file", "{}")), "calls", "anthropic/n"),
        results("b"),
        user(),
    ),
    "27 a whole conversation": (user(), calls("a", "b"), results("a", "b"), says("done"), user(), says("bye"), user()),
    "28 the same id in two turns, each answered": (user(), calls("a"), results("a"), user(), calls("a"), results("a")),
}


@pytest.mark.parametrize("name", REPAIRED)
def test_a_history_is_repaired(name: str) -> None:
    before, after, report = REPAIRED[name]
    assert repair(before) == (after, report)
    again, nothing = repair(after)
    assert (again is after, nothing) == (True, NONE)


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_history_is_the_same_object(name: str) -> None:
    repaired, report = repair(WHOLE[name])
    assert (repaired is WHOLE[name], report) == (True, NONE)


HISTORIES: dict[str, History] = {**{name: before for name, (before, _, _) in REPAIRED.items()}, **WHOLE}


@pytest.mark.parametrize("name", HISTORIES)
def test_every_vendor_takes_what_becomes_of_a_history(name: str) -> None:
    stored = Stored((*HISTORIES[name], user("go on")))
    for endpoint in ENDPOINTS.values():
        request, _ = build_request(Half(stored, schemas=(READ,), endpoint=endpoint))  # type: ignore[arg-type]
        body = spelled(endpoint, request)
        assert violations(endpoint.dialect, body, portable=True) + sdk_accepts(endpoint.dialect, body) == [], endpoint.name


def test_responses_is_told_in_words_that_a_call_was_not_run() -> None:
    # Scenario 24. It says more than "aborted", in every dialect alike: whether the call had begun.
    endpoint = ENDPOINTS["openai-responses/unknown"]
    stored = Stored((user(), calls("a"), user("go on")))
    request, _ = build_request(Half(stored, schemas=(READ,), endpoint=endpoint))  # type: ignore[arg-type]
    items = json.loads(spelled(endpoint, request))["input"]
    assert [item["output"] for item in items if item.get("type") == "function_call_output"] == [INTERRUPTED]


class Kept(NamedTuple):
    """A call as it is stored and answered."""

    name: str
    arguments: str
    kind: str


class Written(NamedTuple):
    """What a model writes, and what is kept of it; `failed` answers leave nothing. `said` is the text beside the calls."""

    step: Step
    kept: tuple[Kept, ...] = ()
    said: str = ""
    failed: int = 0


LIST = '{"path": "."}'


def calling(name: str, **more: Any) -> Step:
    return {"name": name, "arguments": LIST, **more}


LISTED = Kept("list_files", LIST, "ok")

# A call that cannot be run stays, as a harmless one that is answered with an error: dropped, it would teach the model nothing.
WRITTEN: dict[str, Written] = {
    "05 an answer that failed leaves no call to answer": Written(step(calling("list_files"), fault={"kind": "error"}), failed=1),
    "06 an answer that was cut leaves no call to answer": Written(step(calling("list_files"), fault={"kind": "cut"}), failed=1),
    "09 a call without arguments": Written(step(calling("read_file", arguments="")), (Kept("read_file", "{}", "error"),)),
    "10 a blank name": Written(step(calling(" ")), (Kept("unnamed_tool", LIST, "error"),)),
    "10 a blank id": Written(step(calling("list_files", id=" ")), (LISTED,)),
    "11 a name with bad characters": Written(step(calling("list&files!")), (Kept("list_files", LIST, "error"),)),
    "11 a name that is too long": Written(step(calling("l" * 500)), (Kept("l" * 64, LIST, "error"),)),
    "12 a name that is no tool": Written(step(calling("no_such_tool")), (Kept("no_such_tool", LIST, "error"),)),
    "13 text beside a call that cannot be run": Written(
        step(calling("no_such_tool"), text="I look."), (Kept("no_such_tool", LIST, "error"),), "I look."
    ),
    "14 blanks before the name": Written(step(calling("  list_files")), (LISTED,)),
    "14 blanks behind the name": Written(step(calling("list_files\n")), (LISTED,)),
    "14 blanks around the name": Written(step(calling(" list_files\t")), (LISTED,)),
    "15 blanks around the name of a tool that is not offered": Written(
        step(calling(" submit_review ")), (Kept("submit_review", LIST, "error"),)
    ),
    # Every id is ours, whatever the provider's looks like; its own is kept beside and goes to nobody.
    "17 an id of Kimi's kind": Written(step(calling("list_files", id="functions.list_files:0")), (LISTED,)),
    "18 an id that every vendor takes": Written(step(calling("list_files", id="toolu_01AbCdEf")), (LISTED,)),
    "25 two ids that differ by a blank are two calls": Written(
        step(calling("list_files", id="functions.f:0"), calling("list_files", id="functions f:0")), (LISTED, LISTED)
    ),
    # There is one policy: an answer is stored whole or not at all, and the calls of one that was cut off are answered, not run.
    "26 an answer that reached its output limit": Written(
        step(calling("list_files"), stop="length", text="So"), (Kept("list_files", LIST, "error"),), "So"
    ),
}


def what_is_kept(ran: Ran) -> tuple[Kept, ...]:
    """All calls but the one that ends the task, with their results."""
    said = [one for entry in ran.entries(AssistantSaid) for one in entry.message.calls]
    found: dict[str, ToolResult] = {entry.result.call_id: entry.result for entry in ran.entries(CallFinished)}
    assert len(found) == len(said) == len({one.id for one in said})
    assert all(re.fullmatch(r"call_\d{5}", one.id) for one in said)
    return tuple(Kept(one.name, one.arguments, found[one.id].kind) for one in said if one.name != "attempt_completion")


@pytest.mark.parametrize("name", WRITTEN)
def test_what_a_model_writes_is_stored_so_that_nothing_is_to_be_repaired(tmp_path: Path, name: str) -> None:
    written = WRITTEN[name]
    ran = run(tmp_path, written.step, ends())
    assert ran.result.outcome is Outcome.FINISHED, ran.result.error  # the script judges every request
    assert what_is_kept(ran) == written.kept
    assert "".join(entry.message.text for entry in ran.entries(AssistantSaid)) == written.said
    assert len(ran.entries(Retried)) == written.failed


def test_every_scenario_has_its_case() -> None:
    # 24 is the test of Responses; 33, that repair is idempotent, is asserted of each case, and of any in `test_pairing.py`.
    numbered = {int(name[:2]) for table in (REPAIRED, WHOLE, WRITTEN) for name in table}
    assert numbered | {24, 33} == set(range(1, 35))
