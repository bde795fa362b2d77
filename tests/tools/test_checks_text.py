import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.tools.checks.text import NAMED, coverage_line, report_text
from ferrule.workspace.checkers.base import CheckerRun, CheckFinding, Coverage, Report, Skipped, State

RAN = CheckerRun("ruff", "0.17", "ran", 2)


@pytest.mark.parametrize(
    ("coverage", "line"),
    [
        (Coverage(0, 0, (), ()), "Coverage: Checked 0 changed lines in 0 files."),
        (Coverage(1, 1, (CheckerRun("json", "", "ran", 1),), ()), "Coverage: Checked 1 changed line in 1 file. json (1 file)."),
        (
            Coverage(3, 9, (RAN, CheckerRun("typos", "", "missing", 1, "not there")), ()),
            "Coverage: Checked 9 changed lines in 3 files. ruff 0.17 (2 files). NOT RUN typos (1 file): missing, not there.",
        ),
        (
            Coverage(
                3,
                9,
                (CheckerRun("ruff", "", "failed", 2, "KeyError: 'k'"), CheckerRun("typos", "", "timed out", 1, "it took long")),
                (Skipped("a\nb", "binary"), Skipped("c", "binary"), Skipped("d.py", "excluded", "ruff")),
            ),
            "Coverage: Checked 9 changed lines in 3 files. "
            "NOT RUN ruff (2 files): failed, KeyError: 'k'; typos (1 file): timed out, it took long. "
            'skipped "a\\nb", c (binary); d.py (by ruff: excluded).',
        ),
        (
            Coverage(8, 9, (), tuple(Skipped(f"f{number}", "binary") for number in range(NAMED + 3))),
            "Coverage: Checked 9 changed lines in 8 files. skipped f0, f1, f2, f3, f4 and 3 more (binary).",
        ),
    ],
)
def test_the_coverage_line_names_what_ran_what_did_not_and_what_was_left_out(coverage: Coverage, line: str) -> None:
    assert coverage_line(coverage) == line


STATES: list[State] = ["ran", "missing", "failed", "timed out"]
RUNS = st.builds(
    CheckerRun, st.from_regex("[a-z]{3,8}", fullmatch=True), st.just(""), st.sampled_from(STATES), st.just(1), st.just("why")
)


@given(st.lists(RUNS, max_size=6, unique_by=lambda run: run.checker))
def test_no_checker_is_left_out_of_the_last_line_of_a_report(runs: list[CheckerRun]) -> None:
    last = report_text(Report((), Coverage(1, 1, tuple(runs), ()))).splitlines()[-1]
    ran, _, not_run = last.partition("NOT RUN ")
    for run in runs:
        if run.state == "ran":
            assert f"{run.checker} (1 file)" in ran
        else:
            assert f"{run.checker} (1 file): {run.state}, why" in not_run


def test_findings_beyond_what_is_shown_at_once_are_counted_and_the_way_to_them_is_told() -> None:
    many = tuple(CheckFinding("a.py", line, line, "ruff", "F821", "blocking", f"Undefined {line}") for line in range(1, 251))
    report = Report(many, Coverage(1, 250, (RAN,), ()))
    first, rest = report_text(report), report_text(report, (), 200)
    assert first.startswith("250 findings.\n") and rest.startswith("250 findings.\n")
    assert "Findings 1 to 200 of 250 are shown; `skip` 200 shows the next." in first
    assert ("Undefined 200 [" in first, "Undefined 201 [" in first) == (True, False)
    assert ("Undefined 200 [" in rest, "Undefined 201 [" in rest, "are shown" in rest) == (False, True, False)
