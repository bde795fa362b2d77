"""Reports 1 to 19: a call without its result, a result without its call."""

import json
from itertools import combinations_with_replacement
from pathlib import Path

import pytest

from ferrule.providers.base import Endpoint
from ferrule.types.messages import Assistant, Opaque, Reasoning, ToolCall
from ferrule.types.outcome import Outcome
from ferrule.types.records import AssistantSaid, CallFinished, Entry, Shrunk
from ferrule.types.usage import NOTHING
from tests.e2e.driving import Project, completes, runs, step
from tests.engine import opening
from tests.judge import violations_history
from tests.store.entries import answered, finished, said, started
from tests.wire.conversations import REQUESTS
from tests.wire.encoding import spelled
from tests.wire.endpoints import ENDPOINTS

from .sessions import UNKNOWN, complaints, sent

dialects = pytest.mark.parametrize("endpoint", UNKNOWN, ids=[endpoint.dialect for endpoint in UNKNOWN])

HISTORY: tuple[Entry, ...] = (
    said("Read them all."),
    answered("a1", "a2", "a3", text="I look."),
    *(started(id) for id in ("a1", "a2", "a3")),
    *(finished(id) for id in ("a3", "a1", "a2")),
    answered("b1"),
    finished("b1"),
    said("And the others."),
    answered("c1", "c2"),
    started("c1"),
    said("Go on."),
    answered("d1"),
    finished("d1"),
    said("Well?"),
)
"""Nine messages once it is folded; the calls c1 and c2 were never answered."""


def test_report_03_a_command_that_ends_what_runs_it_has_one_result_all_the_same(tmp_path: Path) -> None:
    ran = opening.run(tmp_path, opening.step(opening.call("execute_command", command="kill -9 $PPID")), opening.ends())
    assert ran.result.outcome is Outcome.FINISHED
    assert [entry.result.call_id for entry in ran.entries(CallFinished)] == ["call_00001", "call_00002"]


def test_report_06_a_denied_call_stays_with_its_result_when_the_session_goes_on(tmp_path: Path) -> None:
    project = Project(tmp_path)
    model = project.model(step(runs("echo 1 >> effects")), {"text": "So be it."}, step(completes()), step(completes()))
    first = project.run("-p", "x", "--model", model, "--output-format", "json")
    second = project.run("-c", "-p", "go on", "--model", model, "--output-format", "json")
    assert [(ran.code, ran.result["outcome"]) for ran in (first, second)] == [(0, "finished")] * 2
    assert project.journal.state().results == {"call_00001": ["denied"], "call_00002": ["ok"], "call_00003": ["ok"]}
    assert project.lines("effects") == []


@dialects
@pytest.mark.parametrize("report", ["05", "08", "10", "11", "13", "15"], ids="report_{}".format)
def test_wherever_two_compactions_end_no_call_is_parted_from_its_result(endpoint: Endpoint, report: str) -> None:
    """One input for all of them: a summary up to any message, and a second one up to that or a later one."""
    for first, second in combinations_with_replacement(range(10), 2):
        cuts = (Shrunk("overflow", messages=first, summary="first summary"), Shrunk("asked", messages=second, summary="the last"))
        body = sent(endpoint, *HISTORY, *cuts)
        assert complaints(endpoint, body) == []
        assert ("the last" in body, "first summary" in body) == (second > 0, first > 0 and not second)
        assert [words for words in ("Read them all.", "And the others.", "Go on.", "Well?") if words not in body] == []


@dialects
def test_report_09_what_stood_in_for_a_result_vanishes_with_its_call(endpoint: Endpoint) -> None:
    before = sent(endpoint, *HISTORY)
    after = sent(endpoint, *HISTORY, Shrunk("overflow", messages=8, summary="Read."))
    assert ("was not run" in before, "was not run" in after) == (True, False)
    assert complaints(endpoint, before) + complaints(endpoint, after) == []


@dialects
def test_report_12_what_was_repaired_once_is_repaired_alike_ever_after(endpoint: Endpoint) -> None:
    shrunk = Shrunk("overflow", messages=4, summary="Read.")
    first = sent(endpoint, *HISTORY, shrunk)
    again = sent(endpoint, *HISTORY, shrunk)
    later = sent(endpoint, *HISTORY, shrunk, answered(text="So."), said("Is that all?"))
    assert again == first
    assert violations_history(endpoint.dialect, [first.encode(), later.encode()]) == []


@pytest.mark.parametrize("name", [name for name in ENDPOINTS if name.startswith("openai-responses")])
def test_report_17_no_request_relies_on_what_the_provider_remembers(name: str) -> None:
    for what, question in REQUESTS.items():
        body = json.loads(spelled(ENDPOINTS[name], question))
        assert ("previous_response_id" in body, body["store"]) == (False, False), what


@pytest.mark.parametrize("name", [name for name in ENDPOINTS if name.startswith("openai-responses")])
@pytest.mark.parametrize("model", ["the same model", "another model"])
@pytest.mark.parametrize("calls", [("a",), ()], ids=["report_18", "report_19"])
def test_reasoning_goes_back_only_with_what_it_led_to(name: str, model: str, calls: tuple[str, ...]) -> None:
    endpoint = ENDPOINTS[name]
    made = Opaque("openai-responses", endpoint.model if model == "the same model" else "other", json.dumps(ITEM))
    thought = AssistantSaid(
        Assistant((Reasoning("", made), *(ToolCall(id, "read_file", "{}") for id in calls)), "calls", "x/y"), NOTHING, 0.1
    )
    body = sent(endpoint, said("go"), thought, *(finished(id) for id in calls), said("on"))
    assert complaints(endpoint, body) == []
    kinds = [item.get("type") for item in json.loads(body)["input"]]
    assert kinds.count("reasoning") == (model == "the same model" and bool(calls))
    assert kinds.count("function_call") == kinds.count("function_call_output") == len(calls)


ITEM = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "Z0FBQUFBQm9="}
