from pathlib import Path
from typing import Any

import pytest

from ferrule.task.receipts.check import verify_receipt
from ferrule.types.outcome import Outcome
from ferrule.types.usage import Usage

from .receipts import call, kept

USED = {"input": 7, "output": 3}
NOTHING_SAID: dict[str, Any] = {"usage": USED, "times": 3}

RUNS: dict[str, tuple[tuple[dict[str, Any], ...], Outcome, int]] = {
    "completed": (({"calls": [call("attempt_completion", result="x")], "usage": USED},), Outcome.FINISHED, 7),
    "asked": (
        ({"calls": [call("ask_followup_question", question="Which?", follow_up=[{"text": "a"}])], "usage": USED},),
        Outcome.NEEDS_INPUT,
        7,
    ),
    "refused": (({"text": "No.", "stop": "refusal", "usage": USED},), Outcome.REFUSED, 7),
    "silent": (({**NOTHING_SAID},) * 2, Outcome.INCOMPLETE, 28),
    "talking": (({"text": "Done, I think.", **NOTHING_SAID},), Outcome.INCOMPLETE, 21),
    "no key": (({"fault": {"kind": "http", "status": 401}},), Outcome.FAILED, 0),
    "cut, then completed": (
        (
            {"text": "Half a sentence", "chunk": 2, "usage": USED, "fault": {"kind": "cut"}},
            {"calls": [call("attempt_completion", result="x")], "usage": USED},
        ),
        Outcome.FINISHED,
        -1,
    ),
    "talked, then refused": (
        ({"text": "I begin.", "usage": USED}, {"text": "No.", "stop": "refusal", "usage": USED}),
        Outcome.REFUSED,
        14,
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_the_receipt_of_every_end_can_be_made_again_from_the_journal(tmp_path: Path, name: str) -> None:
    steps, outcome, tokens = RUNS[name]
    run = kept(tmp_path, *steps)
    found = verify_receipt(run.file, run.environ, None)
    assert [field for field in found.fields if field.state != "ok"] == []
    assert (found.state, run.file.receipt.outcome) == ("ok", outcome)
    assert run.file.receipt.usage.input == tokens or tokens < 0


def test_what_calls_without_an_answer_used_is_counted(tmp_path: Path) -> None:
    run = kept(tmp_path, {"text": "No.", "stop": "refusal", "usage": USED})
    assert run.file.receipt.usage == Usage(input=7, output=3, cost=run.file.receipt.usage.cost)
