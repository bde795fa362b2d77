"""What `ferrule undo` does to real files and sessions, killed wherever that is possible."""

import os
from pathlib import Path

import pytest

from tests.fakes.server import FakeServer
from tests.judge import violations

from .driving import KILLED, Json, Project, call, completes, keys, step, until

ALL = ("--approve", "all", "--output-format", "json")


def write(name: str, content: str) -> Json:
    return call("write_to_file", path=name, content=content)


FIRST = (write("a.txt", "two\n"), write("new/deep/b.txt", "b\n"), write("run.sh", "changed\n"))
SECOND = (call("edit", file_path="a.txt", old_string="two", new_string="three"), write("c.txt", "c\n"))
STEPS = (*(step(each) for each in FIRST), step(completes()), *(step(each) for each in SECOND), step(completes()))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.write("a.txt", "one\n")
    project.write("run.sh", "#!/bin/sh\n").chmod(0o750)
    return project


def tree(project: Project) -> dict[str, tuple[int, str]]:
    files = [path for path in sorted(project.folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(project.folder)): (path.stat().st_mode & 0o777, path.read_text()) for path in files}


def two_runs(project: Project) -> None:
    model = project.model(*STEPS)
    assert project.run("-p", "Begin.", "--model", model, *ALL).code == 0
    assert project.run("-c", "-p", "Go on.", "--model", model, *ALL).code == 0


def test_a_prompt_is_undone_and_redone_and_everything_too(project: Project) -> None:
    before = tree(project)
    two_runs(project)
    edited = tree(project)
    ran = project.run("undo")
    assert (ran.code, ran.err) == (0, "")
    assert "  a.txt: restored\n  c.txt: removed\n" in ran.out
    assert (tree(project)["a.txt"][1], "c.txt" in tree(project)) == ("two\n", False)
    assert project.run("undo").code == 0
    assert tree(project) == edited
    assert project.run("undo", "--all").code == 0
    assert tree(project) == before
    assert not (project.folder / "new").exists()


@pytest.mark.parametrize("point", ["before:undoing:1", "after:undoing:1", "before:undone:1", "after:undone:1"])
def test_an_undo_killed_at_any_record_is_repeated_or_comes_to_its_end(project: Project, point: str) -> None:
    before = tree(project)
    two_runs(project)
    edited = tree(project)
    assert project.run("undo", "--all", FERRULE_FAULT_POINT=point).code == KILLED
    pending = point in ("after:undoing:1", "before:undone:1")
    if pending:
        refused = project.run("-c", "-p", "x", *ALL)
        assert (refused.code, "An undo of session" in refused.err) == (2, True)
    if point != "after:undone:1":
        ran = project.run("undo", "--all")
        assert (ran.code, "comes to its end" in ran.out) == (0, pending)
    assert tree(project) == before
    kinds = project.journal.kinds()
    assert (kinds.count("undoing"), kinds.count("undone")) == (1, 1)
    assert project.run("undo").code == 0
    assert tree(project) == edited


@pytest.mark.parametrize("done", range(4))
def test_an_undo_killed_between_two_files_comes_to_its_end(project: Project, done: int) -> None:
    before = tree(project)
    two_runs(project)
    edited = tree(project)
    assert project.run("undo", "--all", FERRULE_FAULT_POINT="before:undone:1").code == KILLED
    undone = tree(project)
    for name in sorted(edited)[done:]:
        path = project.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(edited[name][1])
        path.chmod(edited[name][0])
    assert tree(project) != undone
    assert project.run("undo").code == 0
    assert tree(project) == before


@pytest.mark.parametrize("point", ["before:call_finished:2", "after:call_started:2", "after:call_finished:2"])
def test_a_run_that_was_killed_is_undone(project: Project, point: str) -> None:
    before = tree(project)
    model = project.model(*STEPS)
    assert project.run("-p", "Begin.", "--model", model, *ALL, FERRULE_FAULT_POINT=point).code == KILLED
    ran = project.run("undo", "--output-format", "json")
    unknown = point == "before:call_finished:2"
    assert (ran.code, ran.result["state"]) == ((1, "refused") if unknown else (0, "done"))
    if unknown:
        assert "was broken off" in ran.out
        assert project.run("undo", "--force").code == 0
    assert tree(project) == before
    assert project.run("undo").code == 0
    assert tree(project)["a.txt"] == (before["a.txt"][0], "two\n")


def test_what_was_undone_of_a_killed_run_is_not_in_its_receipt(project: Project) -> None:
    model = project.model(step(FIRST[0]), step(completes()), step(SECOND[1]), step(completes()))
    point = "after:call_finished:1"
    assert project.run("-p", "Begin.", "--model", model, *ALL, FERRULE_FAULT_POINT=point).code == KILLED
    assert project.run("undo", "--files").code == 0
    receipt = str(project.base / "receipt.json")
    ran = project.run("-c", "-p", "Go on.", "--model", model, "--receipt", receipt, *ALL)
    assert (ran.code, "a.txt" in ran.result["files_changed"]) == (0, False)
    verified = project.run("receipt", "verify", receipt)
    assert verified.code == 0, verified.out


def test_a_session_that_is_open_elsewhere_is_not_undone(project: Project) -> None:
    model = project.model(step(FIRST[0]), step(call("execute_command", command="touch begun; sleep 20")), step(completes()))
    with project.started("-p", "Begin.", "--model", model, *ALL):
        until((project.folder / "begun").exists)
        ran = project.run("undo")
        assert (ran.code, "is open for writing" in ran.err) == (75, True)
        assert project.run("undo", "--dry-run").code == 0
        assert tree(project)["a.txt"][1] == "two\n"


@pytest.mark.parametrize("dialect", ["openai", "openai-responses", "anthropic", "google"])
@pytest.mark.parametrize("sides", [(), ("--files",), ("--conversation",)], ids=["both", "files", "conversation"])
def test_a_session_goes_on_after_an_undo_with_a_request_that_the_vendor_takes(
    project: Project, dialect: str, sides: tuple[str, ...]
) -> None:
    steps = (*STEPS, step(write("d.txt", "d\n")), step(completes()))
    with FakeServer({"version": 1, "on_lost": "again", "steps": list(steps)}, validate=violations) as server:
        model, environ = ("--model", f"{dialect}/m"), keys(server.url)
        assert project.run("-p", "Begin.", *model, *ALL, **environ).code == 0
        assert project.run("-c", "-p", "Go on.", *model, *ALL, **environ).code == 0
        asked = len(server.bodies)
        assert project.run("undo", *sides).code == 0
        ran = project.run("-c", "-p", "Once more.", *model, *ALL, **environ)
        assert (ran.code, server.problems) == (0, [])
        body = str(server.bodies[asked])
        assert ("Go on." in body, "Once more." in body) == (sides == ("--files",), True)
        assert ("[Note]" in body) is bool(sides)


def test_a_conflict_is_named_and_a_preview_writes_nothing(project: Project) -> None:
    two_runs(project)
    project.write("a.txt", "mine\n")
    ran = project.run("undo")
    assert (ran.code, "  a.txt: somebody else changed it since\n" in ran.out) == (1, True)
    shown = project.run("undo", "--dry-run")
    assert (shown.code, "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-mine\n+two\n" in shown.out) == (1, True)
    assert project.lines("a.txt") == ["mine"]
    assert project.run("undo", "--force").code == 0
    assert project.lines("a.txt") == ["two"]


def test_points_are_listed_and_one_of_them_is_gone_back_to(project: Project) -> None:
    before = tree(project)
    two_runs(project)
    listed = project.run("undo", "--list", "--output-format", "json").result["points"]
    assert [(point["text"], len(point["files"])) for point in listed] == [("Begin.", 3), ("Go on.", 2)]
    text = project.run("undo", "--list").out.splitlines()
    assert [line.split()[0] for line in text[2:]] == [str(point["to"]) for point in listed]
    assert project.run("undo", "--to", str(listed[0]["to"])).code == 0
    assert tree(project) == before


def test_nested_repositories_and_their_state_are_left_alone(project: Project) -> None:
    for name in (".git", "vendor/.git"):
        (project.folder / name).mkdir(parents=True)
        (project.folder / name / "HEAD").write_text("ref: refs/heads/main\n")
    model = project.model(
        step(write("vendor/a.txt", "x\n")), step(call("execute_command", command="touch made")), step(completes())
    )
    assert project.run("-p", "Begin.", "--model", model, *ALL).code == 0
    before = {name: os.stat(project.folder / name / "HEAD").st_mtime_ns for name in (".git", "vendor/.git")}
    ran = project.run("undo")
    assert (ran.code, "  not undone: what 1 command (touch made) did\n" in ran.out) == (0, True)
    assert {name: os.stat(project.folder / name / "HEAD").st_mtime_ns for name in before} == before
    assert ((project.folder / "vendor/a.txt").exists(), (project.folder / "made").exists()) == (False, True)
