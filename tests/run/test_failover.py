"""Whom to ask next: OpenClaw's decision table against an oracle of its own, cool-downs by a clock, and whole runs."""

import itertools
from pathlib import Path
from typing import get_args

import pytest

from ferrule.attempt.lineup import LEAST_PAUSE, LONG_PAUSES, PAUSES, Candidate, Lineup, pause
from ferrule.providers.base import Endpoint
from ferrule.run.failover import REASONS, Reason, Situation, decide
from ferrule.types.fault import Fault, FaultCode
from ferrule.types.messages import Assistant
from ferrule.types.outcome import Outcome
from ferrule.types.records import AssistantSaid, CallStarted, ModelChosen, Receipt, Retried
from ferrule.types.result import Limits

from .driving import Clock, Driven, call, drive, ends, http

REASONED = ("failover", "timeout", "format", "refusal", "abort")
YES = (False, True)


def oracle(stage: str, reason: str, ours: bool, visible: bool, key: bool, model: bool) -> str:
    """The rows of the fact sheet, said in another way: what is left after everything that stops the run is tried in order."""
    if reason == "abort" or ours:
        return "surface"
    if stage == "prompt":
        wanted = ["rotate"] if reason == "failover" else []
        wanted.append("fallback")
    elif reason == "format" or (reason == "refusal" and visible):
        wanted = []
    else:
        wanted = ["fallback"] if reason == "refusal" else ["rotate", "fallback"]
    left = {"rotate": key, "fallback": model}
    return next((move for move in wanted if left[move]), "surface")


ALL = list(itertools.product(("prompt", "assistant"), REASONED, YES, YES, YES, YES))


@pytest.mark.parametrize("case", ALL, ids=lambda case: "-".join(str(part) for part in case))
def test_each_situation_has_the_move_of_the_table(case: tuple[str, Reason, bool, bool, bool, bool]) -> None:
    stage, reason, ours, visible, key, model = case
    made = decide(Situation(stage, reason, ours, visible, key, model))  # type: ignore[arg-type]
    assert made == oracle(*case)


def test_an_answer_is_gone_on_from() -> None:
    assert decide(Situation("assistant", None, key_left=True, model_left=True)) == "continue"


def test_every_fault_has_its_reason() -> None:
    assert set(REASONS) == set(get_args(FaultCode))
    assert {code for code, reason in REASONS.items() if reason == "timeout"} == {
        *(code for code in get_args(FaultCode) if code.endswith("timeout")),
        "connection",
        "cut",
    }


class Named:
    def __init__(self, name: str) -> None:
        self.endpoint = Endpoint("openai", name, "http://127.0.0.1:1/v1")


def lineup(clock: Clock) -> Lineup:
    one, two = Named("one"), Named("two")
    return Lineup([Candidate(one, 1, 1), Candidate(one, 1, 2), Candidate(two, 2, 1)], clock)  # type: ignore[arg-type]


def test_who_failed_is_skipped_for_a_time_and_comes_back() -> None:
    clock = Clock()
    who = lineup(clock)
    first, second, third = who.candidates
    assert (who.current, who.other_key(), who.other_model()) == (first, second, third)
    who.move(second, Fault("rate_limit"))
    assert (who.current, who.other_key()) == (second, None)
    who.move(third, Fault("rate_limit"))
    assert (who.other_key(), who.other_model(), who.begin()) == (None, None, third)
    clock.now += PAUSES[0]
    assert (who.other_model(), who.begin()) == (first, first)


def test_repeated_failures_are_left_alone_longer_and_success_forgives() -> None:
    clock = Clock()
    who = lineup(clock)
    first, second, _ = who.candidates
    for expected in (*PAUSES, PAUSES[-1]):
        who.current = first
        who.move(second, Fault("overloaded"))
        clock.now += expected - 1
        assert not who.free(first)
        clock.now += 1
        assert who.free(first)
    who.current = first
    who.worked()
    who.move(second, Fault("overloaded"))
    clock.now += PAUSES[0]
    assert who.free(first)


def test_who_is_soonest_free_begins_when_nobody_is() -> None:
    clock = Clock()
    who = lineup(clock)
    first, second, third = who.candidates
    who.move(second, Fault("billing"))
    who.move(third, Fault("rate_limit", retry_after=9.0))
    who.move(first, Fault("auth_permanent"))
    assert who.begin() is second


@pytest.mark.parametrize(
    ("fault", "failures", "seconds"),
    [
        (Fault("rate_limit"), 1, 60),
        (Fault("rate_limit"), 9, 3600),
        (Fault("rate_limit", retry_after=7), 3, 7),
        (Fault("rate_limit", retry_after=0), 3, LEAST_PAUSE),
        (Fault("billing"), 1, 5 * 3600),
        (Fault("quota"), 2, 10 * 3600),
        (Fault("billing"), 9, LONG_PAUSES[-1]),
        (Fault("auth_permanent"), 1, float("inf")),
        (Fault("model_not_found"), 1, float("inf")),
        (Fault("auth"), 2, 300),
    ],
)
def test_how_long_somebody_is_left_alone(fault: Fault, failures: int, seconds: float) -> None:
    assert pause(fault, failures) == seconds


WORK = call("write_to_file", path="a.txt", content="a\n")


@pytest.mark.parametrize(
    "fault",
    [http(401, "auth"), http(402, "billing"), http(429, "rate_limit"), http(529, "overloaded"), http(404, "model_not_found")],
    ids=lambda step: step["fault"]["says"],
)
def test_the_next_model_is_asked_at_once_and_that_is_recorded(tmp_path: Path, fault: dict[str, object]) -> None:
    ran = drive(tmp_path, [fault], [WORK, ends()])
    assert (ran.conclusion.outcome, ran.names, ran.clock.waits) == (Outcome.FINISHED, ["a", "b", "b"], [])
    assert [entry.to for entry in ran.entries(Retried)] == [f"scripted/{tmp_path}/b.json"]
    assert [entry.model for entry in ran.entries(ModelChosen)] == [f"scripted/{tmp_path}/{name}.json" for name in "ab"]


def test_another_key_of_the_same_model_comes_before_another_model(tmp_path: Path) -> None:
    ran = drive(tmp_path, [http(429, "rate_limit")], [http(401, "auth")], [ends()], keys={1: 0})
    assert (ran.conclusion.outcome, ran.names) == (Outcome.FINISHED, ["a", "b", "c"])
    assert [entry.to for entry in ran.entries(Retried)] == [
        f"scripted/{tmp_path}/b.json with key 2",
        f"scripted/{tmp_path}/c.json",
    ]


def test_a_time_out_before_the_answer_skips_the_other_keys(tmp_path: Path) -> None:
    ran = drive(tmp_path, [http(504, "timeout")], [ends()], [ends()], keys={1: 0})
    assert ran.names == ["a", "c"]


def test_what_is_mostly_over_in_a_moment_is_asked_for_once_more_before_somebody_else_is(tmp_path: Path) -> None:
    ran = drive(tmp_path, [{"fault": {"kind": "reset"}, "times": "always"}], [ends()])
    assert (ran.names, len(ran.clock.waits)) == (["a", "a", "b"], 1)
    again = drive(tmp_path, [{"fault": {"kind": "reset"}}, ends()], [ends()])
    assert again.names == ["a", "a"]


def test_a_short_limit_is_waited_for_only_when_nobody_else_is_left(tmp_path: Path) -> None:
    limited = http(429, "rate_limit", headers={"Retry-After": "2"})
    ran = drive(tmp_path, [limited, ends()], [limited, ends()])
    assert (ran.conclusion.outcome, ran.names) == (Outcome.FINISHED, ["a", "b", "b"])
    assert ran.clock.waits == [pytest.approx(2.05)]


def test_a_refusal_goes_to_another_model_only_while_nothing_was_said(tmp_path: Path) -> None:
    said = drive(tmp_path, [{"text": "I can't help.", "stop": "refusal"}], [ends()])
    assert (said.conclusion.outcome, said.names) == (Outcome.REFUSED, ["a"])
    rotated = drive(tmp_path, [http(400, "refused")], [ends()], keys={1: 0})
    assert (rotated.conclusion.outcome, rotated.names) == (Outcome.REFUSED, ["a"])
    other = drive(tmp_path, [http(400, "refused")], [ends()])
    assert (other.conclusion.outcome, other.names) == (Outcome.FINISHED, ["a", "b"])


def test_when_everybody_fails_the_last_fault_is_the_end(tmp_path: Path) -> None:
    ran = drive(tmp_path, [http(401, "auth")], [http(402, "billing")])
    assert (ran.conclusion.outcome, ran.names) == (Outcome.FAILED, ["a", "b"])
    assert "cannot pay" in (ran.conclusion.error or "")


def test_nothing_that_ran_is_run_again_when_the_model_changes(tmp_path: Path) -> None:
    command = call("execute_command", command="echo once >> ran.txt")
    ran = drive(tmp_path, [command, http(529, "overloaded")], [{"fault": {"kind": "cut"}, "text": "half"}, ends()])
    assert ran.conclusion.outcome is Outcome.FINISHED
    assert (ran.folder / "ran.txt").read_text() == "once\n"
    assert [entry.name for entry in ran.entries(CallStarted)].count("execute_command") == 1
    last = ran.requests[-1].messages
    assert [message.calls[0].name for message in last if isinstance(message, Assistant)] == ["execute_command"]


def test_our_own_time_is_up_for_everybody(tmp_path: Path) -> None:
    slow = http(503, "overloaded", headers={"Retry-After": "60"})
    ran: Driven = drive(tmp_path, [slow], limits=Limits(time=5))
    assert (ran.conclusion.outcome, ran.names) == (Outcome.LIMIT, ["a"])
    assert "--max-time" in (ran.conclusion.error or "")


def test_answers_name_who_gave_them(tmp_path: Path) -> None:
    ran = drive(tmp_path, [WORK, http(529, "overloaded")], [ends()])
    assert [entry.message.model.rsplit("/", 1)[1] for entry in ran.entries(AssistantSaid)] == ["a.json", "b.json"]
    assert ran.entries(Receipt) == []


def test_who_asks_for_a_long_pause_is_not_waited_for_while_another_one_is_left(tmp_path: Path) -> None:
    ran = drive(tmp_path, [http(500, "server_error", headers={"Retry-After": "60"})], [ends()])
    assert (ran.conclusion.outcome, ran.names, ran.clock.waits) == (Outcome.FINISHED, ["a", "b"], [])
