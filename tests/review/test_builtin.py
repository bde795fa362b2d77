import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.review import builtin
from ferrule.review.builtin import BuiltinReviewer, comments_in, decide
from ferrule.tools.checks.text import MOST, report_text
from ferrule.types.messages import Message, ResultKind, Results, Text, ToolCall, ToolResult, User
from ferrule.types.request import Request
from ferrule.types.stream import Done, PartBegan, PartDelta
from ferrule.types.usage import NOTHING
from ferrule.workspace.checkers.base import CheckerRun, CheckFinding, Coverage, Report, Skipped

CLEAN = "No findings.\n\nCoverage: Checked 1 changed line in 1 file. ruff 0.17 (1 file)."
FOUND = (
    "2 findings.\n\n# a.py\n    2 | nit | Unused. [ruff F401]\n      > import os\n      > \n  4-5 | blocking | Wrong. [ruff F821]"
    "\n\nCoverage: Checked 3 changed lines in 1 file. ruff 0.17 (1 file)."
)
COMMENTS: list[dict[str, Any]] = [
    {"path": "a.py", "severity": "nit", "text": "Unused.", "source": "ruff/F401", "line": 2, "suggestion": "import os\n"},
    {"path": "a.py", "severity": "blocking", "text": "Wrong.", "source": "ruff/F821", "line": 5, "start_line": 4},
]
ALONE = "This review was made by checks alone; nobody read the change for what it means."
BEGUN: Message = User((Text("Review this change."),))


def results(*each: tuple[str, ResultKind, str]) -> Results:
    return Results(tuple(ToolResult(f"c{n}", name, kind, (Text(text),)) for n, (name, kind, text) in enumerate(each)))


def checked(text: str = FOUND, kind: ResultKind = "ok") -> Results:
    return results(("run_checks", kind, text))


def staged(*kinds: ResultKind) -> Results:
    return results(*(("review_comment", kind, "Staged.") for kind in kinds))


CASES: dict[str, tuple[list[Message], list[tuple[str, dict[str, Any]]]]] = {
    "nothing done yet": ([], [("run_checks", {})]),
    "checks failed": (
        [checked("git failed.", "error")],
        [("abort_task", {"reason": "The checks could not be run: git failed."})],
    ),
    "checks denied": ([checked("No.", "denied")], [("abort_task", {"reason": "The checks could not be run: No."})]),
    "checks interrupted": ([checked("Stopped.", "interrupted")], [("run_checks", {})]),
    "checks found nothing": (
        [checked(CLEAN)],
        [("submit_review", {"summary": f"The checks found nothing.\n{CLEAN.splitlines()[-1]}\n{ALONE}"})],
    ),
    "checks found something": ([checked()], [("review_comment", comment) for comment in COMMENTS]),
    "all is staged": (
        [checked(), staged("ok", "ok")],
        [("submit_review", {"summary": f"The checks found 1 blocking, 1 nit.\n{FOUND.splitlines()[-1]}\n{ALONE}"})],
    ),
    "one was refused": (
        [checked(), staged("ok", "error")],
        [
            (
                "submit_review",
                {
                    "summary": "The checks found 1 blocking, 1 nit.\n1 could not be placed on lines of the change.\n"
                    f"{FOUND.splitlines()[-1]}\n{ALONE}"
                },
            )
        ],
    ),
    "staging was interrupted": (
        [checked(), staged("ok", "interrupted")],
        [("review_comment", comment) for comment in COMMENTS],
    ),
    "staging was interrupted and made again": (
        [checked(), staged("interrupted", "skipped"), staged("ok", "ok")],
        [("submit_review", {"summary": f"The checks found 1 blocking, 1 nit.\n{FOUND.splitlines()[-1]}\n{ALONE}"})],
    ),
    "the person said something": (
        [checked(CLEAN), results(("submit_review", "ok", "Submitted.")), User((Text("Look again."),))],
        [("submit_review", {"summary": f"The checks found nothing.\n{CLEAN.splitlines()[-1]}\n{ALONE}"})],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_next_calls_follow_from_the_results_alone(case: str) -> None:
    messages, expected = CASES[case]
    assert decide((BEGUN, *messages)) == expected


def test_a_report_that_goes_on_is_followed_to_its_end() -> None:
    found = tuple(CheckFinding("a.py", n, n, "ruff", "F821", "blocking", f"Wrong {n}.") for n in range(1, 2 * MOST + 2))
    report = Report(found, Coverage(1, 401, (), ()))
    messages: list[Message] = [BEGUN]
    skips, comments = [], 0
    while (calls := decide(tuple(messages)))[0][0] != "submit_review":
        if calls[0][0] == "run_checks":
            skips.append(calls[0][1].get("skip", 0))
            messages.append(checked(report_text(report, (), skips[-1])))
        else:
            comments += len(calls)
            answers: list[ResultKind] = ["ok"] * len(calls)
            messages.append(staged(*answers))
    assert (skips, comments) == ([0, MOST, 2 * MOST], 2 * MOST + 1)
    assert calls[0][1]["summary"].startswith(f"The checks found {2 * MOST + 1} blocking.\n")


def test_the_reviewer_streams_what_it_decides_for_nothing() -> None:
    async def streamed() -> list[object]:
        return [event async for event in BuiltinReviewer().stream(Request((), (BEGUN, checked()), ()))]

    events = asyncio.run(streamed())
    last = events[-1]
    assert isinstance(last, Done)
    assert (last.usage, last.message.stop, last.message.model) == (NOTHING, "calls", builtin.NAME)
    calls = last.message.calls
    assert [call.name for call in calls] == ["review_comment", "review_comment"]
    assert len({call.id for call in calls}) == 2
    began = [event for event in events if isinstance(event, PartBegan)]
    deltas = [event for event in events if isinstance(event, PartDelta)]
    told = zip(began, deltas, strict=True)
    assert [ToolCall(one.id or "", one.name or "", delta.text) for one, delta in told] == list(calls)
    assert asyncio.run(streamed()) == events


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).filter(lambda text: bool(text.strip()))
TRICKY = st.sampled_from(
    [
        "# b.py",
        "    3 | nit | x [a b]",
        "      > ",
        "file | nit | x [a b]",
        "Coverage: all.",
        "a [b c]",
        "Findings 1 to 2 of 3 are shown",
    ]
)
PATHS = st.sampled_from(
    ["a.py", "b c.py", "# x", "new\n# line", '"quoted"', "ü", "tab\t", " lead", "\u2028", "    3 | nit | x [a b]"]
)
SUGGESTED = st.lists(TRICKY | st.sampled_from(["", " ", "x\r", "\x0c", "\u2028y", "\x85"]), max_size=4).map("\n".join)
FINDINGS = st.builds(
    lambda path, span, checker, severity, text, suggestion: CheckFinding(
        path, span and span[0], span and span[0] + span[1], checker, "R-1", severity, text, suggestion if span else None
    ),
    PATHS,
    st.none() | st.tuples(st.integers(1, 99_999), st.integers(0, 3)),
    st.sampled_from(["ruff", "typos"]),
    st.sampled_from(["blocking", "should-fix", "nit"]),
    TEXTS | TRICKY,
    st.none() | SUGGESTED | TEXTS,
)


@settings(max_examples=200)
@given(st.lists(FINDINGS, max_size=6), st.lists(TRICKY, max_size=2), st.lists(PATHS, max_size=2))
def test_what_a_report_says_is_read_as_it_was_found(found: list[CheckFinding], notes: list[str], skipped: list[str]) -> None:
    run = CheckerRun("ruff", "0.17", "ran", 1)
    report = Report(tuple(found), Coverage(1, 1, (run,), tuple(Skipped(path, "binary") for path in skipped)))
    text = report_text(report, tuple(f"Untracked and left out: {note}" for note in notes))
    assert list(comments_in(text)) == [as_comment(each) for each in found]
    assert text.rpartition("\n")[2].startswith("Coverage: Checked 1 changed line in 1 file. ruff 0.17 (1 file)")


def as_comment(finding: CheckFinding) -> dict[str, Any]:
    comment: dict[str, Any] = {
        "path": finding.path,
        "severity": finding.severity,
        "text": " ".join(finding.text.split()),
        "source": f"{finding.checker}/R-1",
    }
    if finding.line is not None:
        comment["line"] = finding.end_line
        if finding.line != finding.end_line:
            comment["start_line"] = finding.line
    return comment | ({"suggestion": finding.suggestion} if finding.suggestion is not None else {})
