import pytest

from .driving import KILLED, Project, call, step
from .reviewing import CHANGED, Reviewed, answers, comments, places, submits


@pytest.fixture
def changed(project: Project) -> Reviewed:
    found = Reviewed(project.base)
    found.write("a.py", CHANGED)
    return found


def test_staged_findings_and_a_summary_are_the_result(changed: Reviewed) -> None:
    ran = changed.scripted(
        step(
            comments(5, "Second."), comments(4, "First.", "blocking", suggestion="print(os.sep)"), comments(None, "Whole.", "nit")
        ),
        submits("Two things stand in the way."),
    )
    assert (ran.code, ran.result["outcome"], ran.result["result"]) == (0, "finished", "Two things stand in the way.")
    assert places(ran) == [("a.py", None, "nit"), ("a.py", 4, "blocking"), ("a.py", 5, "should-fix")]
    assert ran.result["findings"][1]["suggestion"] == "print(os.sep)"
    assert changed.lines("a.py") == CHANGED.splitlines()


def test_findings_written_as_text_are_reminded_twice_and_then_lost(changed: Reviewed) -> None:
    ran = changed.scripted({"text": "a.py:4 is wrong."}, step(comments()), {"text": "Also line 5."}, {"text": "That is all."})
    assert (ran.code, ran.result["outcome"]) == (7, "incomplete")
    assert places(ran) == [("a.py", 4, "should-fix")]
    reminders = [said["message"]["parts"][0]["text"] for said in changed.journal.entries("user") if said["origin"] == "reminder"]
    assert len(reminders) == 2
    assert all("Findings written as text are lost" in reminder for reminder in reminders)
    assert len(changed.sessions) == 1


def test_a_review_that_is_given_up_says_why_and_keeps_what_it_found(changed: Reviewed) -> None:
    ran = changed.scripted(step(comments()), step(call("abort_task", reason="The base does not build.")))
    assert (ran.code, ran.result["outcome"], ran.result["result"]) == (9, "aborted", "The base does not build.")
    assert places(ran) == [("a.py", 4, "should-fix")]


def test_a_submission_beside_a_failed_call_is_refused(changed: Reviewed) -> None:
    ran = changed.scripted(step(call("submit_review", summary="Good."), comments(400)), submits("Now it is."))
    assert (ran.code, ran.result["result"]) == (0, "Now it is.")
    assert [(name, kind) for name, kind, _ in answers(changed)] == [
        ("review_comment", "error"),
        ("submit_review", "error"),
        ("submit_review", "ok"),
    ]
    assert "review_comment (error) did not succeed" in answers(changed)[1][2]


def test_a_submission_is_judged_after_the_findings_beside_it(changed: Reviewed) -> None:
    ran = changed.scripted(step(call("submit_review", summary="Two."), comments(4), comments(5)))
    assert (ran.code, len(ran.result["findings"])) == (0, 2)
    assert answers(changed)[-1] == ("submit_review", "ok", "Submitted with 2 findings.")


def test_refused_submissions_are_bounded(changed: Reviewed) -> None:
    steps = [step(call("submit_review", summary=f"Try {number}."), comments(400 + number)) for number in range(9)]
    ran = changed.scripted(*steps)
    assert (ran.code, ran.result["outcome"]) == (8, "unverified")
    assert [kind for name, kind, _ in answers(changed) if name == "submit_review"] == ["error"] * 5
    assert [gate["passed"] for gate in ran.result["verification"]] == [False]


@pytest.mark.parametrize(
    "tried",
    [
        call("write_to_file", path="a.py", content="x"),
        call("execute_command", command="touch made"),
        call("edit", file_path="a.py", old_string="os", new_string="sys"),
        call("apply_diff", path="a.py", diff="x"),
        call("attempt_completion", result="Done."),
    ],
    ids=lambda tried: str(tried["name"]),
)
def test_a_reviewer_can_change_nothing(changed: Reviewed, tried: dict[str, object]) -> None:
    before = sorted(changed.folder.iterdir())
    ran = changed.run(
        "review", "--model", changed.model(step(tried), submits()), "--approve", "all", "--output-format", "stream-json"
    )
    assert ran.code == 0, ran
    assert answers(changed)[0][:2] == (tried["name"], "error")
    assert answers(changed)[0][2].startswith(f"The tool '{tried['name']}' does not exist. Nothing was run.")
    session = ran.out.splitlines()[0]
    assert str(tried["name"]) not in session
    assert "read_diff" in session
    assert (sorted(changed.folder.iterdir()), (changed.folder / "a.py").read_text()) == (before, CHANGED)


def test_feedback_goes_on_with_the_findings_that_were_staged(changed: Reviewed) -> None:
    model = changed.model(step(comments(4)), submits("One."), step(comments(5, "More.")), submits("Two."))
    assert places(changed.review("--model", model)) == [("a.py", 4, "should-fix")]
    ran = changed.review("-c", "-p", "Look at line 5 too.", "--model", model)
    assert (ran.code, ran.result["result"]) == (0, "Two.")
    assert places(ran) == [("a.py", 4, "should-fix"), ("a.py", 5, "should-fix")]
    assert changed.journal.entries("user")[-1]["message"]["parts"][0]["text"] == "Look at line 5 too."


def test_a_review_of_what_has_changed_meanwhile_does_not_go_on(changed: Reviewed) -> None:
    model = changed.model(step(comments(4)), submits("One."))
    changed.review("--model", model)
    before = changed.journal.rows()
    changed.write("a.py", CHANGED + "print(1)\n")
    ran = changed.review("-c", "-p", "Go on.", "--model", model)
    assert (ran.code, ran.result["outcome"]) == (2, "usage_error")
    assert "another one now" in ran.result["error"]
    assert changed.journal.rows() == before


@pytest.mark.parametrize(
    "other", [("--staged",), ("--commit", "HEAD"), ("--base", "HEAD"), ("a.py",)], ids=lambda words: words[0]
)
def test_a_review_that_goes_on_keeps_its_subject(changed: Reviewed, other: tuple[str, ...]) -> None:
    model = changed.model(step(comments(4)), submits("One."))
    changed.review("--model", model)
    ran = changed.review("-c", "-p", "Go on.", "--model", model, *other)
    assert ran.code == 2
    assert "keeps its subject" in ran.result["error"]


def test_a_coding_session_is_not_continued_as_a_review(changed: Reviewed) -> None:
    model = changed.model(step(call("attempt_completion", result="Done.")))
    assert changed.run("-p", "Do it.", "--model", model).code == 0
    (session,) = changed.sessions
    ran = changed.review("-r", session, "-p", "Go on.", "--model", model)
    assert ran.code == 2
    assert "is a task of the kind code, not review_local" in ran.result["error"]
    assert "no session to continue" in changed.review("-c", "-p", "Go on.", "--model", model).result["error"]


STORY = (
    step(call("run_checks"), comments(4, "One."), comments(5, "Two.")),
    step(comments(400, "Nowhere."), comments(4, "One."), comments(2, "Three.")),
    {"text": "I think that is all."},
    submits("Three.", times="always"),
)
POINTS = {
    "subject": 1, "model": 1, "user": 2, "attempt_started": 2, "assistant": 4, "call_started": 7, "call_finished": 7, "staged": 3,
    "attempt_ended": 2, "receipt": 1, "outcome": 1,
}  # fmt: skip
EVERY = [
    (f"{side}:{kind}:{count}") for kind, most in POINTS.items() for count in range(1, most + 1) for side in ("before", "after")
]


def test_an_undisturbed_review_writes_every_kind_of_record_as_often_as_the_kills_count(changed: Reviewed) -> None:
    assert changed.scripted(*STORY).code == 0
    kinds = changed.journal.kinds()
    assert {kind: kinds.count(kind) for kind in POINTS} == POINTS


@pytest.mark.parametrize("point", [f"{side}:{kind}:{most}" for kind, most in POINTS.items() for side in ("before", "after")])
def test_a_review_killed_at_a_record_of_each_kind_goes_on_with_every_finding_once(changed: Reviewed, point: str) -> None:
    killed_at(changed, point)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("point", EVERY)
def test_a_review_killed_at_any_record_goes_on_with_every_finding_once(changed: Reviewed, point: str) -> None:
    killed_at(changed, point)


def killed_at(project: Reviewed, point: str) -> None:
    model = project.model(*STORY)
    assert project.review("--model", model, FERRULE_FAULT_POINT=point).code == KILLED
    journal = project.journal
    journal.check()
    before = journal.rows()
    state = journal.state()
    told = ("-p", "Go on.") if state.outcome == "finished" else ()
    if told:
        refused = project.review("-c", "--model", model)
        assert (refused.code, len(refused.result["findings"])) == (2, 3)
        assert "-p TEXT" in refused.result["error"]
    ran = project.review("-c", *told, "--model", model)
    assert (ran.code, ran.result["outcome"]) == (0, "finished"), ran
    assert sorted((each["line"], each["text"]) for each in ran.result["findings"]) == [(2, "Three."), (4, "One."), (5, "Two.")]
    assert journal.rows()[: len(before)] == before
    journal.check()
    state = journal.state()
    assert state.open == []
    assert {call: kinds for call, kinds in state.results.items() if len(kinds) != 1} == {}
