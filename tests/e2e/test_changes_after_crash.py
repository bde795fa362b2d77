import hashlib

import pytest

from .driving import KILLED, Project, call, completes, step

JSON = ("--approve", "all", "--output-format", "json")
WRITE = call("write_to_file", path="a.txt", content="new\n")
EDIT = call("edit", file_path="a.txt", old_string="old", new_string="new")


@pytest.mark.parametrize("words", [("-c",), ("-c", "-p", "Go on.")], ids=["silent", "spoken"])
@pytest.mark.parametrize("change", [WRITE, EDIT], ids=["write_to_file", "edit"])
def test_a_file_changed_by_a_call_that_was_killed_is_in_the_receipt_as_it_was_before(project: Project, change, words) -> None:
    project.write("a.txt", "old\n")
    model = project.model(step(change), step(completes()))
    assert project.run("-p", "x", "--model", model, *JSON, FERRULE_FAULT_POINT="before:call_finished:1").code == KILLED
    assert (project.folder / "a.txt").read_text() == "new\n"
    ran = project.run(*words, *JSON)
    receipt = next(row.entry for row in reversed(project.journal.rows()) if row.kind == "receipt")
    digests = [hashlib.sha256(text).hexdigest() for text in (b"old\n", b"new\n")]
    assert (ran.code, ran.result["files_changed"]) == (0, ["a.txt"])
    assert receipt["changes"] == [{"path": "a.txt", "before": digests[0], "after": digests[1]}]


def test_a_file_that_a_killed_call_had_not_changed_yet_is_not_in_the_receipt(project: Project) -> None:
    project.write("a.txt", "old\n")
    model = project.model(step(EDIT), step(completes()))
    assert project.run("-p", "x", "--model", model, *JSON, FERRULE_FAULT_POINT="after:call_started:1").code == KILLED
    ran = project.run("-c", *JSON)
    assert (ran.code, ran.result["files_changed"], (project.folder / "a.txt").read_text()) == (0, [], "old\n")
