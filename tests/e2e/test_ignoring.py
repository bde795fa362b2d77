"""What ignore files keep from a run, and what needs an approval of its own, from the command line to the receipt."""

import shlex
from pathlib import Path

import pytest

from .driving import Json, Project, call, completes, runs, step
from .reviewing import Reviewed

ALL = ("--approve", "all", "--allow", "execute", "--output-format", "json")
SECRET = "squeamish-ossifrage"


def results(project: Project) -> list[str]:
    """The texts of all results but that of the completion."""
    finished = (entry["result"] for entry in project.journal.entries("call_finished"))
    return ["".join(part["text"] for part in each["parts"]) for each in finished if each["name"] != "attempt_completion"]


def secretive(project: Project) -> None:
    project.write("k.pem", SECRET)
    project.write("shown.txt", f"not {SECRET}\n")
    project.write(".ferruleignore", "# keys\n*.pem\n")


def test_what_is_ignored_is_refused_to_tools_and_commands_whatever_is_approved(project: Project) -> None:
    secretive(project)
    (project.folder / "link").symlink_to("k.pem")
    calls = [
        call("read_file", path="k.pem"),
        call("read_file", path="link"),
        call("write_to_file", path="new.pem", content="x"),
        call("edit", file_path="./src/../k.pem", old_string="squeamish", new_string="x"),
        runs("cat k.pem"),
        runs("cat < link"),
        runs("python3 -c 'print(open(\"k.pem\").read())'"),
        runs("grep -r squeamish ."),
    ]
    ran = project.run("-p", "x", "--model", project.model(*map(step, calls), step(completes())), *ALL)
    assert ran.code == 0, ran
    denials = ran.result["denials"]
    assert len(denials) == len(calls)
    for denial, result in zip(denials, results(project), strict=True):
        assert "ignored by .ferruleignore, line 2: `*.pem`." in denial["reason"]
        assert denial["flag"] == ""
        assert result == f"Denied: {denial['reason']} Nothing was run. Go on without it, or do it in another way that is allowed."
        assert SECRET not in result
    assert not (project.folder / "new.pem").exists()
    assert (project.folder / "k.pem").read_text() == SECRET


def test_no_listing_and_no_search_names_what_is_ignored(project: Project) -> None:
    secretive(project)
    calls = [
        call("list_files", path=".", recursive=True),
        call("search_files", path=".", regex="squeamish"),
        call("find_files", glob="*"),
    ]
    ran = project.run("-p", "x", "--model", project.model(*map(step, calls), step(completes())), *ALL)
    assert ran.code == 0, ran
    for result in results(project):
        assert "shown.txt" in result
        assert "pem" not in result


def test_a_listing_shows_what_is_locked_where_that_is_set(project: Project) -> None:
    secretive(project)
    model = project.model(step(call("list_files", path=".")), step(completes()))
    assert project.run("-p", "x", "--model", model, *ALL, FERRULE_IGNORE_SHOW="true").code == 0
    assert "\N{LOCK} k.pem" in results(project)[0].splitlines()


def test_a_changed_ignore_file_counts_for_the_very_next_call(project: Project) -> None:
    project.write("a", SECRET)
    reads = step(call("read_file", path="a"))
    hides, shows = step(runs("echo a > .rooignore")), step(runs("rm .rooignore"))
    allowed = (*ALL, "--allow", "write:.rooignore")
    ran = project.run("-p", "x", "--model", project.model(reads, hides, reads, shows, reads, step(completes())), *allowed)
    assert ran.code == 0, ran
    assert [SECRET in result for result in results(project)] == [True, False, False, False, True]
    assert [denial["reason"] for denial in ran.result["denials"]] == ["a is ignored by .rooignore, line 1: `a`."]


def test_a_broken_ignore_file_closes_the_folder_and_says_so(project: Project) -> None:
    project.write("a", SECRET)
    (project.folder / ".ferruleignore").mkdir()
    model = project.model(step(call("read_file", path="a")), step(runs("cat a")), step(completes()))
    ran = project.run("-p", "x", "--model", model, *ALL)
    assert ran.code == 0, ran
    told = "a is taken for ignored: .ferruleignore cannot be read (it is a directory)."
    assert [denial["reason"] for denial in ran.result["denials"]] == [told, told]


@pytest.mark.parametrize("approve", ["edits", "all"])
@pytest.mark.parametrize(
    "change",
    [
        call("write_to_file", path="AGENTS.md", content="x"),
        call("write_to_file", path=".github/workflows/ci.yml", content="x"),
        call("write_to_file", path=".vscode/settings.json", content="x"),
        runs("echo x > AGENTS.md"),
        runs("cp notes AGENTS.md"),
        runs("git config user.name x"),
    ],
    ids=["instructions", "ci", "editor", "redirection", "copy", "git"],
)
def test_a_protected_file_is_written_only_with_the_flag_that_the_report_names(
    project: Project, change: Json, approve: str
) -> None:
    project.write("notes", "x")
    (project.folder / ".git").mkdir()
    model = project.model(step(change), step(completes()))
    approved = ("--approve", approve, "--output-format", "json")
    (denial,) = project.run("-p", "x", "--model", model, *approved).result["denials"]
    assert "decides" in denial["reason"] or approve == "edits"
    assert denial["flag"].startswith("--allow ")
    assert not (project.folder / "AGENTS.md").exists()
    again = project.run("-p", "x", "--model", model, *approved, *shlex.split(denial["flag"]))
    assert (again.code, again.result["denials"]) == (0, [])


def test_a_review_is_shown_nothing_that_is_ignored_and_says_so(tmp_path: Path) -> None:
    repo = Reviewed(tmp_path)
    repo.write(".ferruleignore", "*.pem\n")
    repo.commit()
    repo.write("a.py", "import os\n\nprint(os.sep, 1)\n")
    repo.write("k.pem", f"print({SECRET!r})\n")
    diff = step(call("read_diff", path="k.pem"))
    ran = repo.scripted(diff, step(call("submit_review", summary="Fine.")))
    assert ran.code == 0, ran
    assert SECRET not in repo.kickoff
    assert "k.pem" not in repo.kickoff
    assert results(repo)[0].startswith("k.pem is not in the diff.")
    (left,) = [file for file in ran.result["coverage"]["files"] if file["path"] == "k.pem"]
    assert left == {"path": "k.pem", "how": "skipped", "why": "is ignored by .ferruleignore, line 1: `*.pem`."}
    assert "1 changed file is ignored and not looked at." in ran.result["coverage"]["notes"]
