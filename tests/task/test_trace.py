"""What a trace tells of runs: from records as the engine made them, from broken prefixes, and from crafted ones."""

from pathlib import Path

from ferrule.task.sessions.trace import trace
from ferrule.types.records import AttemptEnded, PhaseTime, Repaired, RunEnded, Shrunk
from tests.engine.opening import call, ends, run, step

TURN = ("history", "preflight", "submit", "tool_loop", "settle")
ORDER = ("workspace", "lease", "tools", "prompt", *TURN, "maintenance")


def in_order(phases: tuple[PhaseTime, ...]) -> bool:
    places = [ORDER.index(phase.name) for phase in phases]
    return places == sorted(set(places))


def test_each_phase_is_listed_once_in_order_with_how_often_it_was_entered(tmp_path: Path) -> None:
    listing = step(call("list_files", path="."))
    ran = run(tmp_path, listing, listing, ends())
    [traced] = trace(ran.records)
    [attempt] = traced.attempts
    assert in_order(attempt.phases)
    times = {phase.name: phase.times for phase in attempt.phases}
    assert (times["workspace"], times["history"], times["submit"], times["tool_loop"]) == (1, 3, 3, 3)
    assert (traced.outcome, attempt.how, attempt.turns, attempt.calls) == ("finished", "ended", 3, 3)


def test_an_attempt_that_failed_lists_what_it_reached(tmp_path: Path) -> None:
    ran = run(tmp_path, {"fault": {"kind": "http", "status": 401}})
    [traced] = trace(ran.records)
    [attempt] = traced.attempts
    names = [phase.name for phase in attempt.phases]
    assert in_order(attempt.phases)
    assert (names[0], names[-2:]) == ("workspace", ["submit", "maintenance"])
    assert (traced.outcome, attempt.how) == ("failed", "failed")


def test_what_the_engine_did_by_itself_is_told_at_its_time_and_attempt(tmp_path: Path) -> None:
    broken = {"fault": {"kind": "http", "status": 503}}
    ran = run(tmp_path, broken, step(call(" List_Files", path=".")), {"text": "Done, I think."}, ends())
    [traced] = trace(ran.records)
    assert [event.kind for event in traced.events] == ["model", "retry", "reminder"]
    assert [[event.kind for event in attempt.events] for attempt in traced.attempts] == [[], ["repair"], []]
    assert all(0 <= event.at <= traced.seconds for event in traced.events)
    repaired = traced.attempts[1].events[0].what
    assert "List_Files" in repaired and "list_files" in repaired


def test_every_prefix_of_a_journal_has_a_trace(tmp_path: Path) -> None:
    ran = run(tmp_path, step(call("list_files", path=".")), {"text": "Hm."}, ends())
    seen = [len(trace(ran.records[:size])) for size in range(len(ran.records) + 1)]
    assert seen == sorted(seen) and set(seen) == {0, 1}
    cut = next(size for size, record in enumerate(ran.records) if isinstance(record.entry, AttemptEnded))
    [broken] = trace(ran.records[:cut])
    assert (broken.outcome, broken.attempts[-1].how, broken.attempts[-1].phases) == (None, "", ())


def test_shrinking_and_stripping_are_told_in_one_line_each(tmp_path: Path) -> None:
    ran = run(tmp_path, ends())
    made = (
        Shrunk("overflow", messages=7, before=9000, after=1200, seconds=2.0),
        Repaired("signatures", ("left out",), stripped=True),
    )
    at = next(place for place, record in enumerate(ran.records) if isinstance(record.entry, RunEnded))
    last = ran.records[at]
    crafted = [type(last)(last.seq, last.branch, last.time, entry, last.hash) for entry in made]
    [traced] = trace([*ran.records[:at], *crafted, last])
    assert [(event.kind, event.what) for event in traced.events[-2:]] == [
        ("shrunk", "overflow: 7 messages summarised in 2.0 s; 9000 tokens before, 1200 after"),
        ("stripped", "signatures: left out"),
    ]


def test_what_is_done_to_a_session_between_its_runs_is_told(tmp_path: Path) -> None:
    ran = run(tmp_path, ends())
    last = ran.records[-1]
    shrunk = Shrunk("asked", messages=1, before=9000, after=1200, seconds=2.0)
    later = type(last)(last.seq + 1, last.branch, last.time + 60, shrunk, last.hash)
    [traced] = trace([*ran.records, later])
    assert [(event.kind, event.at >= 60) for event in traced.events[-1:]] == [("shrunk", True)]
    assert (traced.outcome, traced.seconds < 60) == ("finished", True)
    assert traced.events[-1].what == "asked: 1 message summarised in 2.0 s; 9000 tokens before, 1200 after"


def test_an_answer_of_nothing_is_a_turn_too(tmp_path: Path) -> None:
    ran = run(tmp_path, {"text": ""}, ends())
    [traced] = trace(ran.records)
    assert [attempt.turns for attempt in traced.attempts] == [1, 1]
    assert ran.result.turns == 2
