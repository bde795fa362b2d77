"""What edits do to the files of a project, and what the model is told of them."""

import os
import sys
from pathlib import Path

import pytest

from .driving import Json, Project, call, carriers, completes, over, runs, step

ALL = ("--approve", "all", "--allow", "execute", "--output-format", "json")
SERVER = Path(__file__).parents[1] / "workspace" / "diagnostics" / "server.py"
PATCH = """*** Begin Patch
*** Update File: a.txt
@@
-one
+1
*** Update File: b.txt
*** Move to: sub/b.txt
*** Delete File: c.txt
*** Add File: d.txt
+new
*** End Patch
"""


def results(project: Project) -> list[tuple[str, str]]:
    """The kinds and texts of all results but that of the completion."""
    finished = (entry["result"] for entry in project.journal.entries("call_finished"))
    return [
        (each["kind"], "".join(part["text"] for part in each["parts"]))
        for each in finished
        if each["name"] != "attempt_completion"
    ]


def tree(project: Project) -> dict[str, bytes]:
    return {str(path.relative_to(project.folder)): path.read_bytes() for path in project.folder.rglob("*") if path.is_file()}


def filled(project: Project) -> dict[str, bytes]:
    for name, text in (("a.txt", "one\r\ntwo"), ("b.txt", "b\n"), ("c.txt", "c\n")):
        (project.folder / name).write_bytes(text.encode())
    return tree(project)


def did(project: Project, *steps: Json, **environ: str) -> Json:
    ran = project.run("-p", "x", "--model", project.model(*steps, step(completes())), *ALL, **environ)
    assert ran.code == 0, ran
    return ran.result


def test_a_patch_over_several_files_is_one_call_and_one_undo(project: Project) -> None:
    before = filled(project)
    result = did(project, step(call("apply_patch", patch=PATCH)))
    assert tree(project) == {"a.txt": b"1\r\ntwo", "sub/b.txt": b"b\n", "d.txt": b"new\n"}
    assert sorted(result["files_changed"]) == ["a.txt", "b.txt", "c.txt", "d.txt", "sub/b.txt"]
    undone = project.run("undo")
    assert undone.code == 0, undone
    assert tree(project) == before


@pytest.mark.parametrize("target", ["../outside.txt", ".git/hooks/pre-commit", "AGENTS.md", "secret.pem"])
def test_a_patch_of_which_one_path_is_not_allowed_does_nothing(project: Project, target: str) -> None:
    filled(project)
    project.write(".ferruleignore", "*.pem\n")
    before = tree(project)
    patch = PATCH.replace("sub/b.txt", target)
    model = project.model(step(call("apply_patch", patch=patch)), step(completes()))
    ran = project.run("-p", "x", "--model", model, "--approve", "edits", "--output-format", "json")
    (denial,) = ran.result["denials"]
    assert denial["tool"] == "apply_patch"
    assert tree(project) == before
    assert not (project.base / "outside.txt").exists()


def test_what_a_command_changed_since_it_was_read_is_read_again_before_it_is_edited(project: Project) -> None:
    filled(project)
    reads, changes = step(call("read_file", path="a.txt")), step(runs("echo three >> a.txt"))
    edits = step(call("edit", file_path="a.txt", old_string="one", new_string="1"))
    did(project, reads, changes, edits, reads, edits)
    kinds = [kind for kind, _ in results(project)]
    assert kinds == ["ok", "ok", "error", "ok", "ok"]
    assert "a.txt was changed by something else since you last read or wrote it." in results(project)[2][1]
    assert (project.folder / "a.txt").read_bytes() == b"1\r\ntwothree\n"


@pytest.mark.parametrize(("setting", "told"), [("servers", True), ("checks", True), ("off", False)])
def test_new_problems_of_an_edit_are_told_unless_that_is_off(project: Project, setting: str, told: bool) -> None:
    project.write("a.py", "import os\nprint(os.sep, missing)\n")
    edit = step(call("edit", file_path="a.py", old_string="import os\n", new_string=""))
    did(project, edit, FERRULE_DIAGNOSTICS=setting, PATH=f"{Path(sys.executable).parent}:/usr/bin:/bin")
    ((kind, text),) = results(project)
    assert (kind, text) == (
        "ok",
        "Edited a.py at line 1. There is no need to read it again."
        + "\n\nNew problems:\na.py:1: error: Undefined name `os` [ruff F821]" * told,
    )


def test_a_language_server_is_asked_and_does_not_outlive_the_run(project: Project) -> None:
    programs = project.base / "bin"
    programs.mkdir()
    mark = programs / "gopls-server.py"
    mark.write_text(SERVER.read_text())
    (programs / "gopls").write_text(f"#!/bin/sh\necho $$ > {project.base}/pid\nexec {sys.executable} {mark} pull\n")
    (programs / "gopls").chmod(0o755)
    project.write("a.go", "bad\nfine\n")
    edits = [
        step(call("edit", file_path="a.go", old_string=old, new_string=new)) for old, new in (("fine", "bad too"), ("too", "2"))
    ]
    did(project, edits[0], step(runs("sleep 1")), edits[1], PATH=f"{programs}:{os.environ['PATH']}")
    texts = [text for _, text in results(project)]
    problem = "New problems:\na.go:2: error: bad line [gopls B1]"
    assert sum(problem in text for text in texts) == 1
    assert over(int((project.base / "pid").read_text()))
    assert carriers(str(mark)) == []
