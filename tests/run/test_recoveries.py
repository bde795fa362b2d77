"""What a run does about a failed or useless answer before it gives up: each once or a few times, told in the journal."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from ferrule.attempt.ledger import CAUSES, IDLE_IN_A_ROW, Bound, Cause
from ferrule.context.estimate import Estimator
from ferrule.providers.base import Profile
from ferrule.run.changed import less
from ferrule.types.messages import Assistant, Reasoning
from ferrule.types.outcome import Outcome
from ferrule.types.records import AttemptEnded, Repaired, Retried, Shrunk, UserSaid
from ferrule.types.request import Request

from .driving import Driven, call, drive, ends, http

WORK = call("write_to_file", path="a.txt", content="a\n")
THOUGHT = {**WORK, "reasoning": "I write a.txt."}


def refused(body: Any, status: int = 400) -> dict[str, Any]:
    return http(status, body={"error": {"message": body}})


def says(what: str) -> dict[str, Any]:
    return http(400, what)


def thoughts(request: Request) -> int:
    said = [message for message in request.messages if isinstance(message, Assistant)]
    return sum(isinstance(part, Reasoning) for message in said for part in message.parts)


def test_refused_reasoning_is_left_out_once_and_the_session_is_healed(tmp_path: Path) -> None:
    ran = drive(tmp_path, [THOUGHT, says("signature"), {**WORK, "reasoning": "Once more."}, ends()])
    assert ran.conclusion.outcome is Outcome.FINISHED
    (record,) = [entry for entry in ran.entries(Repaired) if entry.stripped]
    assert record.by == "signatures"
    before, after, last = ran.requests[1:4]
    assert (thoughts(before), thoughts(after), thoughts(last)) == (1, 0, 1)
    assert [entry.fault.code for entry in ran.entries(Retried)] == ["signature"]


def test_reasoning_that_is_refused_again_is_the_end(tmp_path: Path) -> None:
    ran = drive(tmp_path, [THOUGHT, {**says("signature"), "times": "always"}])
    assert (ran.conclusion.outcome, len(ran.asked)) == (Outcome.FAILED, 3)
    assert "does not take back what the model thought" in (ran.conclusion.error or "")


def test_without_reasoning_there_is_nothing_to_leave_out(tmp_path: Path) -> None:
    ran = drive(tmp_path, [{**says("signature"), "times": "always"}])
    assert (ran.conclusion.outcome, len(ran.asked)) == (Outcome.FAILED, 1)


def test_an_effort_that_the_model_does_not_know_is_lowered_once(tmp_path: Path) -> None:
    ran = drive(tmp_path, [says("effort"), WORK, ends()], effort="high")
    assert ran.conclusion.outcome is Outcome.FINISHED
    assert [request.effort for request in ran.requests] == ["high", None, None]
    assert [entry.by for entry in ran.entries(Repaired)] == ["effort"]
    again = drive(tmp_path, [{**says("effort"), "times": "always"}], effort="high")
    assert (again.conclusion.outcome, len(again.asked)) == (Outcome.FAILED, 2)


@pytest.mark.parametrize(
    ("effort", "said", "lower"),
    [
        (
            "high",
            "Unsupported value: 'high' is not supported with this model. Supported values are: 'low' and 'medium'.",
            "medium",
        ),
        ("high", "'high' is not supported; use 'low'", "low"),
        ("medium", "the effort 'medium' is not supported", "low"),
        ("low", "the effort 'low' is not supported", "none"),
        ("none", "the effort 'none' is not supported; use 'low'", None),
        ("high", "Unknown parameter: reasoning_effort", None),
    ],
)
def test_which_effort_comes_next(effort: Any, said: str, lower: str | None) -> None:
    assert less(effort, said) == lower


SUMMARY = "\n\n".join(
    f"## {heading}\nnone"
    for heading in ("Progress", "Decisions", "Open TODOs", "Constraints/Rules", "Pending user asks", "Exact identifiers")
)
HANDED = {"text": SUMMARY, "when": {"system": "You write hand-overs"}, "times": "always"}
NO_HANDOVER = {**http(400, "bad_request"), "when": {"system": "You write hand-overs"}, "times": "always"}
LONG = [call("execute_command", command=f"seq {number} 900") for number in range(6)]
OVERFLOW = http(400, "context_overflow", tokens=50_000)


def shrunk(ran: Driven) -> list[Shrunk]:
    return ran.entries(Shrunk)


def test_an_overflow_after_work_is_compacted_and_the_work_goes_on(tmp_path: Path) -> None:
    ran = drive(tmp_path, [HANDED, *LONG, OVERFLOW, WORK, ends()], profile=Profile(window=80_000))
    assert ran.conclusion.outcome is Outcome.FINISHED
    (record,) = shrunk(ran)
    assert (record.why, record.messages > 0) == ("overflow", True)
    assert [entry.fault.observed_tokens for entry in ran.entries(Retried)] == [50_000]


def test_where_nothing_can_be_summarised_every_result_is_cut_once(tmp_path: Path) -> None:
    ran = drive(tmp_path, [NO_HANDOVER, *LONG, OVERFLOW, WORK, ends()], profile=Profile(window=4_000))
    assert ran.conclusion.outcome is Outcome.FINISHED
    assert any(record.results and not record.messages for record in shrunk(ran))


def test_the_last_try_has_room_for_a_short_answer_and_no_optional_sections(tmp_path: Path) -> None:
    ran = drive(tmp_path, [OVERFLOW, WORK, ends()], profile=Profile(max_output=32_000), optional=0)
    first, second, *_ = ran.requests
    assert ran.conclusion.outcome is Outcome.FINISHED
    assert (first.max_output, second.max_output) == (32_000, 2_048)
    assert second.system == first.system[1:]
    assert [entry.by for entry in ran.entries(Repaired)] == ["smaller request"]


def test_an_overflow_that_nothing_helps_against_is_a_limit_after_one_smaller_request(tmp_path: Path) -> None:
    ran = drive(tmp_path, [{**OVERFLOW, "times": "always"}], profile=Profile(max_output=32_000))
    assert (ran.conclusion.outcome, len(ran.asked)) == (Outcome.LIMIT, 2)
    assert "no longer fits" in (ran.conclusion.error or "")


def test_an_overflow_within_a_compaction_starts_no_other_one(tmp_path: Path) -> None:
    handover = {**OVERFLOW, "when": {"system": "You write hand-overs"}, "times": "always"}
    ran = drive(tmp_path, [handover, *LONG, {**OVERFLOW, "times": "always"}], profile=Profile(window=40_000))
    assert ran.conclusion.outcome is Outcome.LIMIT
    assert ran.ledger.times("overflow") == 1


def test_a_compaction_that_no_provider_answered_leaves_it_for_later(tmp_path: Path) -> None:
    handover = {**http(503, "overloaded"), "when": {"system": "You write hand-overs"}, "times": "always"}
    ran = drive(tmp_path, [handover, WORK, {**OVERFLOW, "times": "always"}], profile=Profile(window=900, max_output=100))
    assert ran.conclusion.outcome in (Outcome.UNAVAILABLE, Outcome.LIMIT)
    assert not any(record.messages for record in shrunk(ran))


def printing(count: int, numbers: int) -> list[dict[str, Any]]:
    """Commands whose output is about five characters a number, and of which no usage is reported."""
    return [{**call("execute_command", command=f"seq {first} {first + numbers}"), "usage": None} for first in range(count)]


def test_preflight_that_cut_results_is_gone_on_from_at_once(tmp_path: Path) -> None:
    steps = [NO_HANDOVER, *printing(4, 1_200), WORK, ends()]
    ran = drive(tmp_path, steps, profile=Profile(window=24_000, max_output=1_000))
    cut, ended = ran.entries(AttemptEnded)
    times = {phase.name: phase.times for phase in cut.phases}
    assert ran.conclusion.outcome is Outcome.FINISHED
    assert (cut.how, ended.how, ran.clock.waits, len(ran.asked)) == ("shrunk", "ended", [], 6)
    assert times["preflight"] == times["submit"] + 1


def test_where_cutting_turns_out_to_be_enough_a_summary_that_cannot_be_had_ends_nothing(tmp_path: Path) -> None:
    ran = drive(tmp_path, [NO_HANDOVER, *printing(4, 4_000), WORK, ends()], profile=Profile(window=30_000, max_output=1_000))
    assert "overflow" in [entry.how for entry in ran.entries(AttemptEnded)]
    assert ran.conclusion.outcome is Outcome.FINISHED, ran.conclusion.error
    assert ran.entries(Repaired) == []


@pytest.mark.parametrize(("more", "compacted"), [(0, True), (2, False)])
def test_a_time_out_compacts_only_a_prompt_that_fills_the_window(tmp_path: Path, more: int, compacted: bool) -> None:
    work = [{**step, "usage": None} for step in LONG[:2]]
    steps = [HANDED, *work, http(504, "timeout"), WORK, ends()]
    asked = drive(tmp_path, steps, profile=Profile(window=10**6, max_output=500)).requests[2]
    window = int(Estimator().estimate(asked) / 0.65) + more
    ran = drive(tmp_path, steps, profile=Profile(window=window, max_output=500))
    assert [record.why for record in shrunk(ran)] == ["timeout"] * compacted
    assert ran.conclusion.outcome is Outcome.FINISHED


KINDS: dict[Cause, dict[str, Any]] = {
    "empty": {"parts": []},
    "reasoning_only": {"parts": [{"reasoning": "Hm."}]},
    "announced": {"text": "I will do it:"},
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_an_answer_that_nobody_can_use_is_asked_for_again_with_a_word_about_it(tmp_path: Path, kind: Cause) -> None:
    row = CAUSES[kind].row
    ran = drive(tmp_path, [{**KINDS[kind], "times": row}, WORK, ends()], reminders=0)
    assert ran.conclusion.outcome is Outcome.FINISHED
    assert [entry.origin for entry in ran.entries(UserSaid)] == ["person", *["reminder"] * row]
    too_often = drive(tmp_path, [{**KINDS[kind], "times": row + 1}, WORK, ends()], reminders=0)
    assert (too_often.conclusion.outcome, len(too_often.asked)) == (Outcome.INCOMPLETE, row + 1)


def test_each_kind_is_told_something_of_its_own(tmp_path: Path) -> None:
    texts = []
    for step in (*KINDS.values(), {"text": "It is done."}):
        ran = drive(tmp_path, [step, ends()])
        texts.append(ran.entries(UserSaid)[1].message.parts[0].text)
    assert len(set(texts)) == 4


def test_silence_in_an_answer_is_met_by_one_more_try_where_nobody_else_is_left(tmp_path: Path) -> None:
    ran = drive(tmp_path, [{"text": "half", "fault": {"kind": "error", "says": "idle_timeout"}, "times": "always"}])
    assert (ran.conclusion.outcome, len(ran.asked)) == (Outcome.UNAVAILABLE, 2)


def test_the_breaker_counts_silence_over_all_keys_and_models(tmp_path: Path) -> None:
    idle = {"text": "half", "fault": {"kind": "error", "says": "idle_timeout"}, "times": "always"}
    ran = drive(tmp_path, *[[idle]] * 6, bounds={"idle": Bound(9)})
    assert (ran.conclusion.outcome, ran.names) == (Outcome.UNAVAILABLE, list("abcde"))
    assert len(ran.asked) == IDLE_IN_A_ROW
    assert "5 answers in a row" in (ran.conclusion.error or "")


def test_only_a_completed_answer_resets_the_breaker(tmp_path: Path) -> None:
    idle = {"text": "half", "fault": {"kind": "error", "says": "idle_timeout"}}
    other = http(503, "overloaded")
    steps = [idle, idle, idle, other, idle, idle]
    without = drive(tmp_path, [*steps, ends()], bounds={"idle": Bound(99)})
    assert without.conclusion.outcome is Outcome.UNAVAILABLE
    between = [*steps[:4], WORK, *steps[4:]]
    assert drive(tmp_path, [*between, ends()], bounds={"idle": Bound(99)}).conclusion.outcome is Outcome.FINISHED


def test_a_failure_without_a_word_is_tried_three_times(tmp_path: Path) -> None:
    silent = {"fault": {"kind": "error", "says": "server_error", "at": "start"}}
    ran = drive(tmp_path, [{**silent, "times": "always"}])
    assert (ran.conclusion.outcome, len(ran.asked)) == (Outcome.UNAVAILABLE, 4)


def test_retry_after_is_waited_for_and_a_backoff_grows_else(tmp_path: Path) -> None:
    told = http(429, "rate_limit", headers={"Retry-After": "7"})
    ran = drive(tmp_path, [told, http(503, "overloaded"), http(503, "overloaded"), ends()])
    assert ran.clock.waits == [pytest.approx(7.05), pytest.approx(1.0), pytest.approx(2.0)]
    assert [entry.delay for entry in ran.entries(Retried)] == [7.05, 1.0, 2.0]


def test_a_limit_by_the_day_is_not_waited_for(tmp_path: Path) -> None:
    ran = drive(tmp_path, [{**http(429, "quota"), "times": "always"}])
    assert (ran.conclusion.outcome, len(ran.asked), ran.clock.waits) == (Outcome.UNAVAILABLE, 1, [])


def test_a_bad_request_without_a_body_is_never_compacted(tmp_path: Path) -> None:
    ran = drive(tmp_path, [HANDED, *LONG, {**http(400, body=""), "times": "always"}], profile=Profile(window=200_000))
    assert (ran.conclusion.outcome, len(ran.asked), shrunk(ran)) == (Outcome.FAILED, 7, [])


def test_words_about_an_overflow_in_an_answer_are_no_error(tmp_path: Path) -> None:
    talk = {**WORK, "text": "context_length_exceeded: prompt is too long: 210000 tokens > 200000 maximum"}
    ran = drive(tmp_path, [talk, ends("The prompt is too long.")])
    assert (ran.conclusion.outcome, shrunk(ran), ran.entries(Retried)) == (Outcome.FINISHED, [], [])


def test_counts_begin_anew_with_work(tmp_path: Path) -> None:
    busy = http(503, "overloaded")
    steps = itertools.chain.from_iterable([*[busy] * 6, call("write_to_file", path=f"{n}.txt", content="x")] for n in range(3))
    ran = drive(tmp_path, [*steps, ends()])
    assert (ran.conclusion.outcome, len(ran.entries(Retried))) == (Outcome.FINISHED, 18)


def test_a_failure_that_passes_costs_the_last_try_nothing(tmp_path: Path) -> None:
    steps = [OVERFLOW, http(503, "overloaded"), WORK, ends()]
    ran = drive(tmp_path, steps, profile=Profile(max_output=32_000))
    assert ran.conclusion.outcome is Outcome.FINISHED
    assert [request.max_output for request in ran.requests[:3]] == [32_000, 2_048, 2_048]


@pytest.mark.parametrize("numbers", [2_500, 6_000])
@pytest.mark.parametrize("window", [9_000, 14_000, 20_000, 24_000])
def test_results_of_dense_text_end_no_run_where_no_summary_can_be_had(tmp_path: Path, window: int, numbers: int) -> None:
    """A character of theirs is nearly a token: the caps, which count four to one, leave them larger than the window."""
    steps = [NO_HANDOVER, *printing(2, numbers), WORK, ends()]
    ran = drive(tmp_path, steps, profile=Profile(window=window, max_output=1_000))
    assert ran.conclusion.outcome is Outcome.FINISHED, ran.conclusion.error
    assert all(0 < record.after <= record.before for record in shrunk(ran))
    assert max(Estimator().estimate(request) for _, request in ran.asked if len(request.messages) > 1) < window
