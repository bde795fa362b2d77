import json
import re
import signal
import sqlite3
from contextlib import suppress

import pytest
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

from .driving import Json, Project, Ran, call, keys, step, until
from .reviewing import CHANGED, Reviewed, comments, places, submits

TOKEN = "ghp_" + "R7tQz9LmX2vBn4KwYp8sDf6GhJ3cTa1Ue5Zi"
PRIVATE = [
    "MIIEpAIBAAKCAQEAxq3jv7Kp0dTzW8nYbLr5QmsV2hJc9EuXg4fPiRoN6aDkB1tM",
    "wZyCl7HvSqUeqN5cRk8TzLp2VbXj4MdWf9YhGu3AsKo6EiJ7nQtPrB1vCmDxFyHl",
]


@pytest.fixture
def changed(project: Project) -> Reviewed:
    found = Reviewed(project.base)
    found.write("a.py", CHANGED)
    return found


SEVERITIES = ("nit", "should-fix", "blocking")


@pytest.mark.parametrize("fail_on", SEVERITIES)
@pytest.mark.parametrize("worst", SEVERITIES)
def test_a_finished_review_exits_with_ten_where_a_finding_is_as_severe_as_asked_for(
    changed: Reviewed, worst: str, fail_on: str
) -> None:
    ran = changed.scripted(step(comments(4, "x", "nit"), comments(5, "y", worst)), submits(), more=("--fail-on", fail_on))
    reached = SEVERITIES.index(worst) >= SEVERITIES.index(fail_on)
    assert (ran.code, ran.result["exit_code"], ran.result["outcome"]) == (10 if reached else 0, ran.code, "finished")
    gate = ran.result["verification"][-1]
    assert (gate["gate"], gate["passed"]) == ("findings", not reached)


def test_a_review_without_findings_fails_on_none(changed: Reviewed) -> None:
    ran = changed.scripted(submits("Good."), more=("--fail-on", "nit"))
    assert (ran.code, ran.result["findings"]) == (0, [])


ENDS: dict[str, tuple[int, list[Json], tuple[str, ...]]] = {
    "failed": (1, [step(comments()), {"fault": {"kind": "http", "status": 401}}], ()),
    "limit": (4, [step(comments()), step(comments(5))], ("--max-turns", "1")),
    "stuck": (5, [step(comments()), step(call("read_file", path="a.py"), times="always")], ()),
    "refused": (6, [step(comments()), {"text": "No.", "stop": "refusal"}], ()),
    "incomplete": (7, [step(comments()), {"text": "Done.", "times": "always"}], ()),
    "unverified": (8, [step(comments()), *(step(call("submit_review", summary="x"), comments(400 + n)) for n in range(9))], ()),
    "unavailable": (75, [step(comments()), {"fault": {"kind": "http", "status": 503, "headers": {"Retry-After": "3600"}}}], ()),
    "aborted": (9, [step(comments()), step(call("abort_task", reason="No."))], ()),
}


@pytest.mark.parametrize("outcome", ENDS)
def test_every_other_end_keeps_its_code_whatever_was_found_and_tells_findings_and_coverage(
    changed: Reviewed, outcome: str
) -> None:
    code, steps, more = ENDS[outcome]
    ran = changed.scripted(*steps, more=("--fail-on", "nit", *more))
    assert (ran.code, ran.result["outcome"]) == (code, outcome)
    assert places(ran)[0] == ("a.py", 4, "should-fix")
    assert ran.result["coverage"]["files"] == [{"path": "a.py", "how": "full", "why": ""}]
    assert ran.result["coverage"]["line"] == "Coverage: 1 file of the change (1 full). No checks ran."


def staged_yet(project: Reviewed) -> bool:
    """Not while the session's file is only being made."""
    with suppress(sqlite3.Error):
        return bool(project.sessions) and "staged" in project.journal.kinds()
    return False


def test_an_interrupted_review_tells_what_it_found_until_then(changed: Reviewed) -> None:
    model = changed.model(step(comments()), {"text": "never", "delay": 60})
    with changed.started("review", "--model", model, "--output-format", "json") as process:
        until(lambda: staged_yet(changed))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    ran = Ran(process.returncode, out.decode(), err.decode())
    assert (ran.code, ran.result["outcome"], places(ran)) == (130, "interrupted", [("a.py", 4, "should-fix")])
    assert ran.result["coverage"]["line"] == "Coverage: 1 file of the change (1 full). No checks ran."


@pytest.mark.parametrize(
    "words",
    [("--bogus",), ("--fail-on", "worst"), ("--staged", "--commit", "HEAD"), ("--commit", "gone"), ("gone.py",), ("--staged",)],
    ids=" ".join,
)
def test_a_review_that_cannot_begin_is_told_in_one_object_too(changed: Reviewed, words: tuple[str, ...]) -> None:
    ran = changed.review(*words)
    assert ran.code == 2
    assert json.loads(ran.out)["findings"] == []
    assert ran.result["coverage"] == {
        "files": [],
        "checks": None,
        "notes": [],
        "line": "Coverage: 0 files of the change (none). No checks ran.",
    }
    log = json.loads(changed.run("review", *words, "--output-format", "sarif").out)
    assert log["runs"][0]["invocations"] == [{"executionSuccessful": False, "exitCode": 2}]
    assert changed.sessions == []


def sarif(ran: Ran) -> Json:
    """The log, valid by the models that were generated from the schema of OASIS."""
    Sarif.model_validate_json(ran.out)
    parsed = json.loads(ran.out)
    assert isinstance(parsed, dict)
    return parsed


def test_sarif_is_what_its_schema_says(changed: Reviewed) -> None:
    changed.put("näme with ☃.txt", "x\n")
    steps = (
        step(
            comments(5, "Wrong.", "blocking", start_line=4, suggestion="print(os.sep)"),
            comments(3, "Why gone?", "nit", side="LEFT"),
            comments(None, "Whole.", path="näme with ☃.txt", source="own/rule"),
        ),
        submits(),
    )
    log = sarif(changed.run("review", "--model", changed.model(*steps), "--output-format", "sarif"))
    (run,) = log["runs"]
    assert run["tool"]["driver"]["rules"] == [{"id": "own/rule"}, {"id": "review"}]
    (old, both, whole) = run["results"]
    region = {"startLine": 4, "endLine": 5}
    assert both["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "a.py"}, "region": region}}]
    assert (both["level"], both["ruleId"], both["message"]) == ("error", "review", {"text": "Wrong."})
    replaced = both["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replaced == [{"deletedRegion": region, "insertedContent": {"text": "print(os.sep)"}}]
    assert old["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "a.py"}}}]
    place = whole["locations"][0]["physicalLocation"]["artifactLocation"]
    assert (place, whole["ruleId"]) == ({"uri": "n%C3%A4me%20with%20%E2%98%83.txt"}, "own/rule")
    assert len({result["partialFingerprints"]["ferrule/v1"] for result in run["results"]}) == 3
    assert run["properties"]["outcome"] == "finished"


def test_sarif_of_a_review_that_did_not_end_says_so(changed: Reviewed) -> None:
    model = changed.model(step(comments()), {"text": "Done.", "times": "always"})
    log = sarif(changed.run("review", "--model", model, "--output-format", "sarif"))
    assert log["runs"][0]["invocations"] == [{"executionSuccessful": False, "exitCode": 7}]
    assert len(log["runs"][0]["results"]) == 1


def test_text_shows_each_finding_with_its_lines_the_summary_the_reviewer_and_the_coverage(changed: Reviewed) -> None:
    model = changed.model(step(comments(4, "Wrong.\nReally.", suggestion="print(os.sep)")), submits("It can't be merged."))
    ran = changed.run("review", "--model", model)
    assert ran.code == 0
    base = changed.git("rev-parse", "HEAD")[:12]
    assert ran.out == (
        "a.py\n\n"
        "  should-fix  a.py:4\n"
        "    Wrong.\n"
        "    Really.\n"
        "      3  \n"
        "      3 -print(os.sep)\n"
        "    > 4 +print(os.sep, z)\n"
        "      5 +print(os.sep, z)\n"
        "    suggested:\n"
        "      print(os.sep)\n\n"
        "It can't be merged.\n\n"
        f"1 should-fix in the working tree against {base}.\n"
        f"Reviewed by {model}.\n"
        "Coverage: 1 file of the change (1 full). No checks ran.\n"
    )


def test_text_of_a_review_that_did_not_end_says_so(changed: Reviewed) -> None:
    ran = changed.run("review", "--model", changed.model(step(comments()), step(call("abort_task", reason="No base."))))
    assert ran.code == 9
    assert "\nNo base.\n\nThe review was given up; what was found before stands above.\n" in ran.out
    ran = changed.run("review", "--model", changed.model({"text": "Fine.", "times": "always"}))
    assert ran.code == 7
    assert "The review did not end (incomplete); what was found so far stands above.\n" in ran.out


def test_nothing_of_the_change_steers_a_terminal(changed: Reviewed) -> None:
    changed.put("b\x1b[31m.py", "print('\x1b]0;title\x07 \x1b[2J', zz)\n")
    model = changed.model(
        step(comments(1, "Look: \x1b[31m red", path="b\x1b[31m.py", suggestion="\x1b[1m")), submits("\x1b[5m blink")
    )
    for ran in (changed.run("review", "--model", model), changed.run("review")):
        assert ran.code == 0
        assert re.search(r"[\x00-\x08\x0b-\x1f\x7f]", ran.out + ran.err) is None
        assert "\u241b" in ran.out


def test_a_secret_of_the_change_is_shown_nowhere_and_sent_to_nobody(changed: Reviewed) -> None:
    changed.write("a.py", f'import os\n\nprint(os.sep)\nkey = "{TOKEN}"; print(undefined)\n')
    changed.put("old.py", f'key = "{TOKEN}"\n')
    key = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *PRIVATE, "-----END RSA PRIVATE KEY-----", ""])
    changed.put("deploy.pem", key)
    steps = (
        step(
            call("read_file", path="a.py"),
            call("read_diff", path="a.py"),
            call("read_file", path="deploy.pem"),
            call("search_files", path=".", regex="key"),
            call("run_checks"),
            comments(4),
        ),
        submits(),
    )
    model = changed.model(*steps)
    rans = [changed.run("review", "--model", model, "--output-format", form) for form in ("text", "json", "sarif", "stream-json")]
    rans += [changed.run("review", "--output-format", form) for form in ("text", "json", "sarif", "stream-json")]
    assert {ran.code for ran in rans} == {0}
    for secret in (TOKEN, *PRIVATE):
        assert [ran for ran in rans if secret in ran.out + ran.err] == []
        assert [file for file in changed.state.rglob("*") if file.is_file() and secret.encode() in file.read_bytes()] == []
    assert '+key = "[secret GitHub Token]"' in rans[0].out
    assert "secrets/github-token" in rans[5].out


def test_a_secret_that_the_change_takes_away_is_hidden_too(changed: Reviewed) -> None:
    changed.write("a.py", f'key = "{TOKEN}"\n')
    changed.commit()
    changed.write("a.py", "import os\n")
    assert changed.scripted(step(call("read_diff", path="a.py")), submits()).code == 0
    assert TOKEN not in changed.kickoff
    assert '-key = "[secret GitHub Token]"' in changed.kickoff
    assert [row for row in changed.journal.rows() if TOKEN.encode() in row.payload] == []


def test_a_model_that_cannot_be_reached_is_no_review(changed: Reviewed) -> None:
    ran = changed.review("--model", "openai/m", "--max-time", "3s", **keys("http://127.0.0.1:9"))
    assert ran.code in (4, 75)
    assert ran.result["findings"] == []
    assert ran.result["coverage"]["checks"] is None


def test_the_reviewer_without_a_model_can_be_asked_for_by_name(changed: Reviewed) -> None:
    ran = changed.review("--model", "builtin/checks", **keys("http://127.0.0.1:9"))
    assert (ran.code, ran.result["model"]) == (0, "builtin/checks")
    assert places(ran) == [("a.py", 2, "nit"), ("a.py", 4, "blocking"), ("a.py", 5, "blocking")]
    assert ran.result["result"].endswith("This review was made by checks alone; nobody read the change for what it means.")
    text = changed.run("review", "--model", "builtin/checks").out
    assert "\nReviewed by builtin/checks: by checks alone, nobody read the change for what it means.\n" in text
    task = changed.run("-p", "Do it.", "--model", "builtin/checks", "--output-format", "json")
    assert (task.code, task.result["error"]) == (
        2,
        "builtin/checks reviews and does nothing else: use it with `ferrule review`.",
    )


def test_checks_alone_say_the_same_every_time(changed: Reviewed) -> None:
    changed.put("b.yml", "a: [1\n")
    one, other = (changed.review().result for _ in range(2))
    for changing in ("session_id", "task_id", "receipt"):
        del one[changing], other[changing]
    assert one == other
    again = changed.review("-c", "-p", "Once more.").result
    assert (again["findings"], again["outcome"]) == (one["findings"], "finished")
