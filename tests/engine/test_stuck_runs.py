"""Repetition in whole runs: warned once more with every turn, then the run ends as stuck."""

from pathlib import Path

from ferrule.attempt.stuck import FAILING, SAME, UNKNOWN
from ferrule.types.outcome import Outcome
from ferrule.types.records import AttemptStarted, CallFinished, Shrunk, UserSaid

from .opening import call, run, step

READS = step(call("list_files", path="."))
FAULT = {"fault": {"kind": "cut"}}
HEADINGS = ("Progress", "Decisions", "Open TODOs", "Constraints/Rules", "Pending user asks", "Exact identifiers")
HANDOVER = "\n\n".join(f"## {heading}\nnone" for heading in HEADINGS)


def test_what_repeats_is_counted_over_attempts(tmp_path: Path) -> None:
    ran = run(tmp_path, *[each for _ in range(SAME.stop) for each in ({**READS, **FAULT}, READS)])
    assert (ran.result.outcome, ran.result.exit_code) == (Outcome.STUCK, 5)
    assert len(ran.entries(AttemptStarted)) > SAME.stop
    assert len(ran.entries(CallFinished)) == SAME.stop
    assert len([said for said in ran.entries(UserSaid) if said.origin == "note"]) == SAME.stop - SAME.warn


def test_an_edit_that_keeps_failing_is_stuck_although_something_is_read_between(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("one\ntwo\n")
    edits = [
        each
        for n in range(FAILING.stop)
        for each in (
            step(call("edit", file_path="a.txt", old_string=f"no {n}", new_string="x")),
            step(call("read_file", path="a.txt", offset=n % 2 + 1, limit=n + 1)),
        )
    ]
    ran = run(tmp_path, *edits)
    assert ran.result.outcome is Outcome.STUCK
    assert ran.result.error == f"edit failed in the same way {FAILING.stop} times, with no success between."


def test_tools_that_do_not_exist_are_stuck(tmp_path: Path) -> None:
    ran = run(tmp_path, *[step(call(f"invented_{n}", x=n)) for n in range(9)])
    assert ran.result.outcome is Outcome.STUCK
    assert len(ran.entries(CallFinished)) == UNKNOWN.stop
    assert "The tools are: read_file, " in ran.entries(UserSaid)[1].message.parts[0].text


def test_what_repeats_is_counted_over_a_compaction(tmp_path: Path) -> None:
    overflow = {"fault": {"kind": "http", "status": 400, "says": "context_overflow", "tokens": 3000}}
    summary = {"when": {"system": "hand-over"}, "text": HANDOVER, "times": "always"}
    filling = [step(call("execute_command", command=f"seq {n}000 {n}380")) for n in range(1, 9)]
    before, after = [READS] * 3, [{**READS, "times": "always"}]
    ran = run(tmp_path, *filling, *before, overflow, *after, summary)
    (shrunk,) = [entry for entry in ran.entries(Shrunk) if entry.messages]
    assert shrunk.summary
    assert ran.result.outcome is Outcome.STUCK
    assert len(ran.entries(CallFinished)) == len(filling) + SAME.stop
