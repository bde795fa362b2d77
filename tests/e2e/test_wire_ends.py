"""Faults whose right end is not the work: the exit code and the JSON result name it, and the calls are bounded."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.wire import BAD, DIALECTS, MAKE, Home, Step, ends, http, shell, spread

ENDS: dict[str, tuple[Step, int, str, int]] = {
    "wrong_key": (http(401, None), 1, "failed", 1),
    "forbidden": (http(403, None), 1, "failed", 1),
    "no_credit": (http(402, None), 1, "failed", 1),
    "unknown_model": (http(404, None), 1, "failed", 1),
    "invalid_request": (http(400, None), 1, "failed", 1),
    "context_length": ({**http(400, None, says="context_overflow", tokens=210_000), "times": "always"}, 4, "limit", 2),
    "prompt_refused": (http(400, None, says="refused"), 6, "refused", 1),
    "refusal": ({"text": "I can't help with that.", "stop": "refusal"}, 6, "refused", 1),
    "refusal_with_a_call": ({**shell(BAD), "stop": "refusal"}, 6, "refused", 1),
    "endless_503": ({**http(503), "times": "always"}, 75, "unavailable", 7),
    "endless_429": ({**http(429), "times": "always"}, 75, "unavailable", 7),
    "far_retry_after": (http(429, "7200"), 75, "unavailable", 1),
    "endless_text": ({"text": "I will do it now.", "times": "always"}, 7, "incomplete", 3),
    "endless_nothing": ({"parts": [], "times": "always"}, 7, "incomplete", 4),
    "endless_thoughts": ({"parts": [{"reasoning": "Hm."}], "times": "always"}, 7, "incomplete", 5),
    "endless_announcements": ({"text": "I will do this:", "times": "always"}, 7, "incomplete", 4),
    "the_same_call_for_ever": ({**shell("true"), "times": "always"}, 5, "stuck", 6),
}


@spread(ENDS)
def test_the_end_has_its_name_and_the_calls_are_bounded(tmp_path: Path, name: str, dialect: str):
    step, code, outcome, calls = ENDS[name]
    played = Home(tmp_path).play(dialect, step, MAKE, ends())

    assert (played.code, played.result["exit_code"], played.result["outcome"]) == (code, code, outcome)
    assert (len(played.calls), played.complaints(shrunk=name == "context_length")) == (calls, [])
    assert (played.lines("ok.txt"), played.lines("bad.txt")) == (0, 0)
    assert played.result["error"]


OVERFLOW = http(400, None, says="context_overflow", tokens=210_000)
HANDOVER = "## Goal\nmake ok.txt\n## Done\nThe numbers were counted.\n## Next\nmake ok.txt"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_overflow_after_work_is_compacted_and_the_work_goes_on(tmp_path: Path, dialect: str):
    work = [{**shell(f"seq {number} 400 | tee -a count.txt"), "when": {"answers": number}} for number in range(24)]
    summary = {"text": HANDOVER, "when": {"system": "hand"}, "times": "always"}
    played = Home(tmp_path).play(dialect, summary, *work, OVERFLOW, MAKE, ends())

    assert (played.code, played.result["outcome"]) == (0, "finished")
    assert (played.lines("ok.txt"), played.lines("count.txt")) == (1, sum(401 - number for number in range(24)))
    assert "The numbers were counted." in json.dumps(played.bodies[-1])
    assert len(json.dumps(played.bodies[-1])) < len(json.dumps(played.bodies[23])) * 0.8


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_overflow_that_cutting_results_helps_against_is_met_without_a_summary(tmp_path: Path, dialect: str):
    work = [shell(f"seq {number} 2900 | tee -a count.txt") for number in range(12)]
    too_long = http(400, None, says="context_overflow", tokens=135_000)
    played = Home(tmp_path).play(dialect, *work, too_long, MAKE, ends())

    assert (played.code, played.result["outcome"], played.complaints(shrunk=True)) == (0, "finished", [])
    assert (played.lines("ok.txt"), len(played.calls)) == (1, len(work) + 3)
    assert len(json.dumps(played.bodies[-1])) < len(json.dumps(played.bodies[12])) * 0.75


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_overflow_that_nothing_helps_against_names_the_limit_and_keeps_the_work(tmp_path: Path, dialect: str):
    played = Home(tmp_path).play(dialect, shell("seq 400 | tee -a count.txt"), {**OVERFLOW, "times": "always"})

    assert (played.code, played.result["outcome"], played.lines("count.txt")) == (4, "limit", 400)
    assert len(played.calls) <= 6


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_session_goes_on_after_its_provider_was_unavailable(tmp_path: Path, dialect: str):
    home = Home(tmp_path)
    first = home.play(dialect, MAKE, {**http(503), "times": "always"})
    second = home.play(dialect, shell("cat ok.txt"), ends(), prompt=("-c", "-p", "go on"))

    assert (first.code, second.code, second.complaints()) == (75, 0, [])
    last, after = json.dumps(first.bodies[-1]), second.bodies[0]
    assert "echo ok > ok.txt" in last
    assert "echo ok > ok.txt" in json.dumps(after)
    assert "go on" in json.dumps(after)


@spread(("time",))
def test_the_wait_for_an_unavailable_provider_is_bounded_by_time(tmp_path: Path, name: str, dialect: str):
    slow: dict[str, Any] = {"fault": {"kind": "http", "status": 503, "headers": {"Retry-After": "60"}}, "times": "always"}
    played = Home(tmp_path).play(dialect, slow, arguments=("--max-time", "2s"))

    assert (played.code, played.result["outcome"], len(played.calls)) == (4, "limit", 1)
    assert played.result["limits"]["time"] == 2
