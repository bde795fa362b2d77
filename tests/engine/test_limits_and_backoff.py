import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.attempt.ledger import Ledger
from ferrule.run.backoff import LONGEST_SECONDS, PER_FAILURE, PER_RUN, GiveUp, next_delay
from ferrule.types.fault import MEANINGS, Fault
from ferrule.types.outcome import EXIT_CODES, Outcome
from ferrule.types.result import Limits
from ferrule.types.usage import Usage


def test_every_outcome_has_its_own_exit_code():
    assert set(EXIT_CODES) == set(Outcome)
    assert len(set(EXIT_CODES.values())) == len(Outcome)
    assert EXIT_CODES[Outcome.FINISHED] == 0


@pytest.mark.parametrize("code", list(MEANINGS))
def test_only_a_retryable_fault_is_tried_again(code):
    delay = next_delay(Fault(code), 1, 0, 0, 0.5)
    assert isinstance(delay, GiveUp) != MEANINGS[code].retryable


@given(st.integers(1, PER_FAILURE), st.floats(0, 1))
def test_the_pause_grows_and_stays_bounded(failures, jitter):
    delay = next_delay(Fault("overloaded"), failures, 0, 0, jitter)
    assert isinstance(delay, float)
    assert 0.375 <= delay <= LONGEST_SECONDS * 1.25


def test_retry_after_is_honoured_and_a_long_one_gives_up():
    assert next_delay(Fault("rate_limit", retry_after=7), 1, 0, 0, 0.0) == 7
    assert isinstance(next_delay(Fault("rate_limit", retry_after=3600), 1, 0, 0, 0.0), GiveUp)


def test_tries_are_bounded_in_a_row_in_a_run_and_when_answers_stop_midway():
    assert isinstance(next_delay(Fault("overloaded"), PER_FAILURE + 1, 0, 0, 0.0), GiveUp)
    assert isinstance(next_delay(Fault("overloaded"), 1, PER_RUN, 0, 0.0), GiveUp)
    assert isinstance(next_delay(Fault("idle_timeout"), 4, 3, 4, 0.0), GiveUp)


@pytest.mark.parametrize(
    ("limits", "flag"),
    [
        (Limits(turns=2), "--max-turns"),
        (Limits(tokens=30), "--max-tokens"),
        (Limits(cost=0.5), "--max-cost"),
        (Limits(time=0.0), "--max-time"),
    ],
)
def test_each_limit_stops_by_its_flag(limits, flag):
    ledger = Ledger(limits)
    ledger.add(Usage(10, 20, cost=0.5))
    ledger.turns = 2
    assert flag in (ledger.exhausted() or "")


def test_a_call_of_unknown_cost_does_not_lift_the_limit():
    ledger = Ledger(Limits(cost=0.5))
    ledger.add(Usage(10, 20, cost=0.5))
    ledger.add(Usage(10, 20, cost=None))
    assert "--max-cost" in (ledger.exhausted() or "")
    assert ledger.usage.cost is None


def test_without_limits_nothing_is_exhausted():
    ledger = Ledger(Limits())
    ledger.add(Usage(10**9, 10**9, cost=None))
    assert ledger.exhausted() is None
    assert ledger.usage.cost is None
