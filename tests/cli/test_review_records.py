"""What a review leaves behind: its receipt, its session, and what can be made of that afterwards."""

import json

import pytest

from tests.workspace.repository import Repository, repository

from .command import Ran, Shell, call, lines

FAULTY = b"import os\n\nprint(os.sep, undefined)\n"


@pytest.fixture
def repo(shell: Shell) -> Repository:
    found = repository(shell.folder)
    found.write("a.py", b"import os\n\nprint(os.sep)\n")
    found.commit()
    found.write("a.py", FAULTY)
    return found


def review(shell: Shell, *more: str) -> Ran:
    return shell.run("review", "--receipt", str(shell.home / "r.json"), *more)


def test_a_review_leaves_a_receipt_that_verifies(shell: Shell, repo: Repository) -> None:
    assert review(shell, "--fail-on", "blocking").code == 10
    receipt = json.loads((shell.home / "r.json").read_text())
    assert (receipt["outcome"], receipt["terminal_action"], receipt["models"]) == (
        "finished",
        "submit_review",
        ["builtin/checks"],
    )
    assert [(gate["gate"], gate["passed"]) for gate in receipt["gates"]] == [("failed_tool", True), ("findings", False)]
    assert (receipt["changes"], receipt["unwatched"]) == ([], 0)
    verified = shell.run("receipt", "verify", str(shell.home / "r.json"))
    assert (verified.code, verified.err) == (0, "")


def test_a_receipt_that_hides_what_a_review_found_does_not_verify(shell: Shell, repo: Repository) -> None:
    review(shell, "--fail-on", "blocking")
    path = shell.home / "r.json"
    receipt = json.loads(path.read_text())
    receipt["gates"][-1]["passed"] = True
    path.write_text(json.dumps(receipt))
    ran = shell.run("receipt", "verify", str(path), "--output-format", "json")
    assert ran.code == 1
    assert [field["name"] for field in json.loads(ran.out)["fields"] if field["state"] == "differs"] == ["gates"]


def test_a_review_that_is_given_up_has_a_receipt_too(shell: Shell, repo: Repository) -> None:
    model = shell.script({"calls": [call("abort_task", reason="No base.")]})
    assert review(shell, "--model", model).code == 9
    receipt = json.loads((shell.home / "r.json").read_text())
    assert (receipt["outcome"], receipt["terminal_action"]) == ("aborted", "abort_task")
    assert shell.run("receipt", "verify", str(shell.home / "r.json")).code == 0


def test_a_review_is_listed_shown_searched_exported_and_replayed(shell: Shell, repo: Repository) -> None:
    live = shell.run("review", "--output-format", "json")
    [path] = shell.state.glob("sessions/*.db")
    assert path.stem in shell.run("sessions", "list").out
    assert "review_comment" in shell.run("sessions", "show", path.stem).out
    found = shell.run("sessions", "search", "Undefined name `undefined`")
    assert (found.code, path.stem[-4:] in found.out) == (0, True)
    rows = lines(shell.run("sessions", "export", path.stem, "--format", "jsonl").out)
    staged = [json.loads(row["payload"]) for row in rows if row["kind"] == "staged"]
    assert [row["kind"] for row in rows].count("subject") == 1
    assert [(each["finding"]["path"], each["finding"]["line"], each["finding"]["severity"]) for each in staged] == [
        ("a.py", 3, "blocking")
    ]
    replayed = shell.run("replay", path.stem)
    assert replayed.code == 0
    assert replayed.out == json.loads(live.out)["result"] + "\n"
    assert "review_comment a.py" in replayed.err


def test_without_a_model_the_checks_review_and_with_a_key_its_vendor_s_model(shell: Shell, repo: Repository) -> None:
    alone = json.loads(shell.run("review", "--output-format", "json").out)
    assert (alone["model"], alone["outcome"]) == ("builtin/checks", "finished")
    keyed = shell.run(
        *("review", "--output-format", "json", "--max-time", "1s"),
        ANTHROPIC_API_KEY="key-of-a-test-000",
        ANTHROPIC_BASE_URL="http://127.0.0.1:9",
    )
    said = json.loads(keyed.out)
    assert said["model"].startswith("anthropic/")
    assert (keyed.code in (4, 75), said["findings"]) == (True, [])


def test_a_clean_change_has_no_findings_and_says_what_was_checked(shell: Shell, repo: Repository) -> None:
    repo.write("a.py", b"import os\n\nprint(os.linesep)\n")
    ran = shell.run("review", "--fail-on", "nit")
    assert ran.code == 0
    assert "No findings in the working tree against " in ran.out
    last = ran.out.splitlines()[-1]
    assert last.startswith("Coverage: 1 file of the change (1 full). Checked 1 changed line in 1 file. ruff ")
    assert "NOT RUN" not in last
    found = json.loads(shell.run("review", "--output-format", "json").out)
    assert (found["findings"], found["coverage"]["line"]) == ([], last)


def test_a_checker_that_is_missing_is_named_in_the_last_line(shell: Shell, repo: Repository) -> None:
    (shell.home / "sitecustomize.py").write_text("import sys\n\nsys.modules['markdown_it'] = None\n")
    repo.write("b.md", b"[a](nowhere.md)\n")
    ran = shell.run("review", PYTHONPATH=str(shell.home))
    assert (ran.code, "nowhere.md" in ran.out) == (0, False)
    assert "NOT RUN links (1 file): missing, markdown-it-py is not installed." in ran.out.splitlines()[-1]
    assert "broken-link" in shell.run("review").out


def test_what_was_left_out_of_a_change_is_told_in_the_last_line(shell: Shell, repo: Repository) -> None:
    repository(repo.root / "other").commit()
    with (repo.root / "huge.bin").open("wb") as file:
        file.truncate(6_000_000)
    last = shell.run("review").out.splitlines()[-1]
    assert last.startswith("Coverage: 1 file of the change (1 full). ")
    assert "Untracked and left out (a repository of its own): other/." in last
    assert " huge.bin." in last.partition("Untracked and left out (over ")[2]
    found = json.loads(shell.run("review", "--output-format", "json").out)["coverage"]
    assert (len(found["notes"]), found["line"]) == (2, last)


def test_how_a_merge_was_compared_is_told_in_the_last_line(shell: Shell, repo: Repository) -> None:
    first = repo.commit()
    repo.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    repo.write("b.py", FAULTY)
    repo.commit()
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--quiet", "--no-edit", "side")
    last = shell.run("review", "--commit", "HEAD").out.splitlines()[-1]
    assert last.endswith(f" is a merge of 2 commits, compared with the first of them: {first[:12]}.")
