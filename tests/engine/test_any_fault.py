"""Whatever fails, wherever: one end of each model call, one result of each call, one outcome that everything agrees on."""

import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ferrule.types.outcome import Outcome
from ferrule.types.records import (
    AssistantSaid,
    AttemptEnded,
    AttemptStarted,
    CallFinished,
    Receipt,
    RunEnded,
    UserSaid,
)

from .breaking import KINDS, Break, Broken, play, prepared


@cache
def places() -> dict[str, int]:
    """How often an undisturbed run comes by each place."""
    with tempfile.TemporaryDirectory() as base:
        prepared(Path(base))
        broken = play(Path(base), None)
    assert broken.result.outcome is Outcome.FINISHED
    assert all(broken.breaking.seen.values()), broken.breaking.seen
    return broken.breaking.seen


@st.composite
def breaks(draw: st.DrawFn) -> Break:
    place = draw(st.sampled_from(sorted(KINDS)))
    return Break(place, draw(st.integers(1, places()[place])), draw(st.sampled_from(KINDS[place])))


def ends_once(broken: Broken, at: Break) -> None:
    """What holds of the run that met the fault."""
    result, entries = broken.result, [record.entry for record in broken.records]
    outcomes = [entry.outcome for entry in entries if isinstance(entry, RunEnded)]
    assert result.exit_code == result.outcome.exit_code
    assert result.unstored == (outcomes == []), at
    assert outcomes in ([], [result.outcome]), at
    assert sum(isinstance(entry, Receipt) for entry in entries) == len(outcomes)
    assert not (result.unstored and result.outcome is Outcome.FINISHED), at
    if at.what == "interrupt" and result.outcome is not Outcome.FINISHED:
        assert result.outcome is Outcome.INTERRUPTED, at
    if at.what == "lost":
        assert (result.outcome, result.unstored) == (Outcome.FAILED, True), at
    began = [entry.number for entry in entries if isinstance(entry, AttemptStarted)]
    ended = [entry.number for entry in entries if isinstance(entry, AttemptEnded)]
    assert ended in (began, began[:-1]), at
    assert result.unstored or at.what == "disk" or ended == began, at
    every_call_ends_once(broken, at, over=not result.unstored and at.what != "disk")


def every_call_ends_once(broken: Broken, at: Break, over: bool) -> None:
    """`over`: the run told its end."""
    entries = [record.entry for record in broken.records]
    calls = {call.id for said in entries if isinstance(said, AssistantSaid) for call in said.message.calls}
    results = Counter(entry.result.call_id for entry in entries if isinstance(entry, CallFinished))
    assert max(results.values(), default=1) == 1, at
    assert set(results) <= calls, at
    assert not over or calls == set(results), at


def goes_on(base: Path, broken: Broken, at: Break) -> None:
    """What holds of the session afterwards: everything of it is kept, and nothing is done twice."""
    if broken.result.outcome is not Outcome.FINISHED:
        told = any(isinstance(record.entry, UserSaid) for record in broken.records)
        again = play(base, None, None if told else "Do it.", resume=True)
        assert again.result.outcome is Outcome.FINISHED, (at, again.result)
        assert again.records[: len(broken.records)] == broken.records, at
        every_call_ends_once(again, at, over=True)
        broken = again
    done = base / "project" / "done"
    assert (done.read_text() if done.exists() else "") in ("", "one\n"), at
    assert broken.result.exit_code == 0


@settings(deadline=None, max_examples=30)
@given(at=breaks())
def test_any_fault_at_any_phase_gives_one_end_and_one_outcome_and_the_session_goes_on(at: Break) -> None:
    with tempfile.TemporaryDirectory() as base:
        prepared(Path(base))
        broken = play(Path(base), at)
        if at.place == "output":
            assume(broken.breaking.struck)  # in how many pieces output arrives is the system's affair
        assert broken.breaking.struck
        ends_once(broken, at)
        goes_on(Path(base), broken, at)


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("place", "what"), [(place, what) for place, whats in KINDS.items() for what in whats])
def test_every_fault_at_every_moment_gives_one_end_and_one_outcome(place: str, what: str) -> None:
    for number in range(1, places()[place] + 1):
        at = Break(place, number, what)
        with tempfile.TemporaryDirectory() as base:
            prepared(Path(base))
            broken = play(Path(base), at)
            ends_once(broken, at)
            goes_on(Path(base), broken, at)
