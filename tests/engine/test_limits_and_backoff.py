import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.attempt.ledger import CAUSES, Bound, Ledger
from ferrule.run.backoff import LONGEST_SECONDS, next_delay, too_long
from ferrule.types.fault import Fault
from ferrule.types.outcome import EXIT_CODES, Outcome
from ferrule.types.result import Limits
from ferrule.types.usage import Usage


def test_every_outcome_has_its_own_exit_code():
    assert set(EXIT_CODES) == set(Outcome)
    assert len(set(EXIT_CODES.values())) == len(Outcome)
    assert EXIT_CODES[Outcome.FINISHED] == 0


@given(st.integers(1, 20), st.floats(0, 1))
def test_the_pause_grows_and_stays_bounded(failures, jitter):
    delay = next_delay(Fault("overloaded"), failures, jitter)
    assert 0.375 <= delay <= LONGEST_SECONDS * 1.25
    assert delay <= next_delay(Fault("overloaded"), failures + 1, jitter)


def test_retry_after_is_honoured_and_a_long_one_gives_up():
    assert next_delay(Fault("rate_limit", retry_after=7), 1, 0.0) == 7
    assert too_long(Fault("rate_limit", retry_after=7)) == ""
    assert "3600 seconds" in too_long(Fault("rate_limit", retry_after=3600))
    assert too_long(Fault("quota", retry_after=7))


@pytest.mark.parametrize("cause", list(CAUSES))
def test_every_cause_is_bounded_in_a_row_and_begins_anew_when_something_gets_done(cause):
    ledger = Ledger(Limits(), bounds={cause: Bound(2, 3)})
    assert [ledger.may(cause) and ledger.count(cause) for _ in range(3)] == [1, 2, False]
    ledger.progress()
    assert [ledger.may(cause) and ledger.count(cause) for _ in range(2)] == [1, False]


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
