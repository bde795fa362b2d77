"""The number of model calls of a run is bounded, whatever the provider and the model do (law 7)."""

import tempfile
from pathlib import Path
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.attempt.ledger import CALLS_OF_A_COMPACTION, CAUSES, Bound, Cause, Ledger
from ferrule.providers.base import Profile
from ferrule.types.outcome import EXIT_CODES
from ferrule.types.records import AssistantSaid, AttemptEnded, AttemptStarted
from ferrule.types.result import Limits

from .driving import Step, call, drive, ends

SAYS = ("auth", "billing", "rate_limit", "overloaded", "server_error", "timeout", "context_overflow", "refused", "bad_request")
STEPS: tuple[Step, ...] = (
    *({"fault": {"kind": "http", "status": 400, "says": says}} for says in SAYS),
    *({"fault": {"kind": "http", "status": 400, "says": says, "headers": {"Retry-After": "3"}}} for says in ("overloaded",)),
    *({"text": "x", "fault": {"kind": "error", "says": says}} for says in SAYS),
    {"fault": {"kind": "error", "says": "server_error", "at": "start"}},
    {"fault": {"kind": "reset"}},
    {"text": "half", "fault": {"kind": "cut"}},
    {"parts": []},
    {"parts": [{"reasoning": "Hm."}]},
    {"text": "I will do it:"},
    {"text": "It is done."},
    {"text": "No.", "stop": "refusal"},
)
WORK = call("update_todo_list", todos="[x] one")
faults = st.lists(st.sampled_from(STEPS), min_size=1, max_size=12)


def driven(*scripts: list[Step], **more: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return drive(Path(folder), *scripts, script={"on_end": "repeat_last"}, **more)


def test_the_formula_adds_up_what_the_table_allows() -> None:
    assert set(CAUSES) == set(get_args(Cause))
    rows = sum(bound.row for bound in CAUSES.values())
    assert Ledger(Limits()).most_calls == 1 + rows + CALLS_OF_A_COMPACTION * (CAUSES["overflow"].row + CAUSES["timeout"].row)
    assert Ledger(Limits(), bounds={"reminder": Bound(9)}).most_calls == Ledger(Limits()).most_calls + 7


@settings(max_examples=40, deadline=None)
@given(one=faults, other=faults, third=faults, window=st.sampled_from([None, 900, 200_000]))
def test_without_an_answer_with_a_call_the_calls_are_bounded_whatever_comes(
    one: list[Step], other: list[Step], third: list[Step], window: int | None
) -> None:
    ran = driven(one, other, third, keys={1: 0}, profile=Profile(window=window))
    assert len(ran.asked) <= ran.ledger.most_calls
    assert ran.ledger.calls == len(ran.asked)
    assert ran.conclusion.outcome.exit_code == EXIT_CODES[ran.conclusion.outcome] != 0
    assert len(ran.entries(AttemptStarted)) == len(ran.entries(AttemptEnded)) <= ran.ledger.most_calls


@settings(max_examples=30, deadline=None)
@given(between=st.lists(st.lists(st.sampled_from(STEPS), max_size=4), min_size=1, max_size=5), last=st.sampled_from(STEPS))
def test_with_work_in_between_the_bound_holds_for_each_stretch(between: list[list[Step]], last: Step) -> None:
    ran = driven([step for stretch in between for step in (*stretch, WORK)] + [{**last, "times": "always"}])
    stretches = 1 + sum(bool(entry.message.calls) for entry in ran.entries(AssistantSaid))
    assert len(ran.asked) <= stretches * ran.ledger.most_calls


@settings(max_examples=30, deadline=None)
@given(st.sampled_from([step for step in STEPS if step.get("stop") != "refusal"]))
def test_the_same_failure_for_ever_ends_and_one_of_it_costs_no_work(step: Step) -> None:
    for_ever = driven([{**step, "times": "always"}])
    assert len(for_ever.asked) <= 8
    assert for_ever.clock.now - 1000 <= 120
    once = driven([step, WORK, ends()])
    assert once.conclusion.outcome.exit_code == 0 or not for_ever.clock.waits
