"""Reports 20 to 30: a conversation that outgrows the window."""

import json
from pathlib import Path

import pytest

from ferrule.types.outcome import Outcome
from ferrule.types.records import Retried, Shrunk
from tests.e2e.wire import MAKE, Home, Step, ends, http, shell
from tests.engine.opening import call, run, step
from tests.engine.opening import ends as done

WORDS = "context_length_exceeded: prompt is too long, 999999 tokens > 200000 maximum; exceeds the context window"
WINDOW = 24_000
SMALL = f'[endpoints.small]\ndialect = "openai"\nbase_url = "BASE_URL"\nwindow = {WINDOW}\nmax_output = 2000\n'
SUMMARY: Step = {"when": {"system": "hand-over"}, "text": "Commands ran.", "times": "always"}


def lines(first: int) -> Step:
    """A command with about 40,000 characters of output, which are not those of the others."""
    return shell(f"seq -f 'line %g: the quick brown fox jumps over the lazy dog' {first}000 {first}700")


NUMBERS = {"calls": [shell(f"seq {first}0000 {first}6500")["calls"][0] for first in range(1, 7)]}


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([shell("seq 100000")], id="report_20"),
        pytest.param([{"calls": [lines(number)["calls"][0] for number in range(1, 9)]}], id="report_21"),
        pytest.param([NUMBERS], id="report_21-text of many tokens"),
        pytest.param([lines(number) for number in range(1, 9)], id="report_25"),
    ],
)
def test_results_are_cut_before_the_next_request_and_no_summary_is_asked_for(tmp_path: Path, steps: list[Step]) -> None:
    played = Home(tmp_path).play("openai", *steps, MAKE, ends(), SUMMARY, model="small/m", config=SMALL)
    assert (played.code, played.complaints(shrunk=True), played.lines("ok.txt")) == (0, [], 1), played.err
    assert played.steps == list(range(1, len(steps) + 3))
    assert max(len(call.raw) // 4 for call in played.calls) <= WINDOW * 11 // 10  # a byte is not quite a quarter of a token


def test_report_28_words_about_an_overflow_are_no_overflow(tmp_path: Path) -> None:
    says = step(call("execute_command", command=f"echo '{WORDS}'"), text=WORDS)
    ran = run(
        tmp_path, says, {"fault": {"kind": "http", "status": 503, "headers": {"Retry-After": "0"}}}, {"text": WORDS}, done()
    )
    assert ran.result.outcome is Outcome.FINISHED
    assert [entry.fault.code for entry in ran.entries(Retried)] == ["overloaded"]
    assert ran.entries(Shrunk) == []


def test_report_28_an_error_that_quotes_them_is_what_its_status_says(tmp_path: Path) -> None:
    body = {"error": {"message": f"Overloaded. Request: {WORDS}", "type": "server_error", "code": None}}
    played = Home(tmp_path).play("openai", http(503, body=body), MAKE, ends())
    assert (played.code, played.steps) == (0, [1, 2, 3])


@pytest.mark.parametrize("report", ["25", "26", "29", "30"], ids="report_{}".format)
def test_after_an_overflow_another_request_is_sent_and_the_session_is_whole(tmp_path: Path, report: str) -> None:
    """One input for all of them: one verbose command, of which the provider says that it was too much."""
    overflow = http(400, None, says="context_overflow", tokens=9_000)
    home = Home(tmp_path)
    played = home.play("openai", shell("seq 100000"), overflow, MAKE, ends(), SUMMARY)
    assert (played.code, played.complaints(shrunk=True), played.lines("ok.txt")) == (0, [], 1), played.err
    assert played.steps == [1, 2, 3, 4], "cutting a result costs nothing, a summary costs a request"
    assert len(played.calls[2].raw) < len(played.calls[1].raw)
    stored = played.stored()
    again = home.play("openai", ends(), SUMMARY, prompt=("-c", "-p", "go on"))
    assert (again.code, again.complaints(shrunk=True), again.steps) == (0, [], [1])
    assert b"seq 100000" in stored and "make ok.txt" in json.dumps(again.bodies[0])
