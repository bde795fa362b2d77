"""Several keys and models on the wire, and what is tried before a run gives up."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.wire import DIALECTS, KEY, MAKE, Home, Played, Step, ends, http, shell
from tests.judge import sdk_accepts, violations

OTHER = "anthropic"
SECOND = "other-7Hq2mWz9sKd4VbXcR1tLpYgN"
TWO = f"""
[endpoints.two]
dialect = "{OTHER}"
base_url = "BASE_URL"
"""
HASTY = """
[timeouts]
idle = 0.3
"""


def keys_of(played: Played) -> list[str]:
    """The key that each call was asked with."""
    found = []
    for call in played.calls:
        named = [
            value for name, value in call.headers.items() if name.lower() in ("authorization", "x-api-key", "x-goog-api-key")
        ]
        found.append(named[0].removeprefix("Bearer "))
    return found


def complaints(played: Played) -> list[str]:
    """What the vendor of each call, and its SDK, would hold against it."""
    found = list(played.problems)
    for call in played.calls:
        found += violations(call.dialect or "", call.raw, portable=True) + sdk_accepts(call.dialect or "", call.raw)
    return found


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_next_key_is_asked_and_neither_is_shown(tmp_path: Path, dialect: str):
    look = shell("echo ok > ok.txt; env; cat /proc/$PPID/environ | tr '\\0' '\\n'")
    played = Home(tmp_path).play(dialect, http(429, "60"), look, ends(), key=f"{KEY}, {SECOND}")

    assert (played.code, keys_of(played), complaints(played)) == (0, [KEY, SECOND, SECOND], [])
    for secret in (KEY, SECOND):
        assert not any(secret.encode() in call.raw for call in played.calls)
        assert secret not in played.out + played.err
        assert secret.encode() not in played.stored()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_another_model_goes_on_with_the_work_of_the_first(tmp_path: Path, dialect: str):
    thought: Step = {"reasoning": "I make it.", **shell("echo once >> ok.txt")}
    model = f"{dialect}/nobody-knows-this,two/other"
    played = Home(tmp_path).play(dialect, thought, http(529, "60"), shell("cat ok.txt"), ends(), model=model, config=TWO)

    assert (played.code, played.lines("ok.txt"), complaints(played)) == (0, 1, [])
    assert [call.dialect for call in played.calls] == [dialect, dialect, OTHER, OTHER]
    assert played.result["models"][0] == f"{dialect}/nobody-knows-this"
    assert "two/other" in played.result["models"]
    assert "echo once" in json.dumps(played.bodies[2])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_refused_reasoning_is_left_out_once_and_not_sent_again(tmp_path: Path, dialect: str):
    thought: Step = {"reasoning": "I make it with echo.", **MAKE}
    home = Home(tmp_path)
    played = home.play(dialect, thought, http(400, None, says="signature"), shell("cat ok.txt"), ends())

    assert (played.code, played.lines("ok.txt"), len(played.calls), played.problems) == (0, 1, 4, [])
    again = home.play(dialect, ends(), prompt=("-c", "-p", "go on"))
    assert (again.code, len(again.calls)) == (0, 1)
    refused = re.findall(r'"(?:thoughtSignature|signature|encrypted_content)": "([^"]+)"', json.dumps(played.bodies[1]))
    assert refused or dialect == "openai"
    later = json.dumps([*played.bodies[2:], *again.bodies])
    assert not any(signed in later for signed in refused)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_effort_that_is_refused_is_lowered_once(tmp_path: Path, dialect: str):
    played = Home(tmp_path).play(dialect, http(400, None, says="effort"), MAKE, ends(), arguments=("--effort", "high"))
    assert (played.code, played.lines("ok.txt"), len(played.calls)) == (0, 1, 3)
    assert json.dumps(played.bodies[0]) != json.dumps(played.bodies[1]) or dialect == OTHER


def stalled(seconds: float, **more: Any) -> Step:
    return {"text": "I will now", "fault": {"kind": "stall", "seconds": seconds}, **more}


def test_a_silent_model_is_left_for_the_next_one(tmp_path: Path):
    model = "openai/nobody-knows-this,two/other"
    played = Home(tmp_path).play("openai", stalled(30), MAKE, ends(), model=model, config=HASTY + TWO)

    assert (played.code, played.lines("ok.txt")) == (0, 1)
    assert [call.dialect for call in played.calls] == ["openai", OTHER, OTHER]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_request_outlives_the_time_of_the_run(tmp_path: Path, dialect: str):
    played = Home(tmp_path).play(dialect, stalled(30, times="always"), arguments=("--max-time", "1s"))
    assert (played.code, played.result["outcome"], len(played.calls)) == (4, "limit", 1)
    assert "--max-time" in played.result["error"]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("openai/a,nowhere/b", "the model 'nowhere/b' does not begin with a known dialect or endpoint"),
        ("openai/a,", "--model must be DIALECT/NAME or ENDPOINT/NAME"),
        ("openai/a,google/b", "google/b needs a key: set GEMINI_API_KEY"),
    ],
)
def test_each_of_several_models_is_checked_before_anything_is_asked(tmp_path: Path, model: str, said: str):
    played = Home(tmp_path).play("openai", ends(), model=model, output="text")
    assert (played.code, played.calls) == (2, [])
    assert said in played.err


def test_a_pause_that_the_provider_asks_for_is_kept(tmp_path: Path):
    played = Home(tmp_path).play("openai", http(429, "1"), MAKE, ends())
    first, second, _ = played.calls
    assert played.code == 0
    assert second.arrived - first.arrived >= 1
