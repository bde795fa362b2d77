import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ferrule.store.sessions import Sessions
from ferrule.types.errors import LeaseHeld, UsageError
from ferrule.workspace.restoring.looking import LARGEST

from .world import call, delete, states, tree, world, write


def replaced(folder: Path) -> None:
    (folder / "a.txt").write_text("mine\n")


def removed(folder: Path) -> None:
    (folder / "a.txt").unlink()


def linked(folder: Path) -> None:
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to("b.txt")


def made_a_folder(folder: Path) -> None:
    (folder / "a.txt").unlink()
    (folder / "a.txt").mkdir()


def made_a_pipe(folder: Path) -> None:
    (folder / "a.txt").unlink()
    os.mkfifo(folder / "a.txt")


def forgot(folder: Path) -> None:
    shutil.rmtree(folder.parent / "state" / "preimages")


CONFLICTS: dict[str, tuple[Callable[[Path], None], str, bool]] = {
    "changed": (replaced, "somebody else changed it since", True),
    "removed": (removed, "somebody else removed it since", True),
    "a link in its place": (linked, "somebody else changed it since", True),
    "a folder in its place": (made_a_folder, "a folder stands there now", False),
    "a pipe in its place": (made_a_pipe, "what stands there now is no file", False),
    "its content is gone": (forgot, "what it held is not kept here", False),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_what_somebody_else_did_since_is_named_and_stands_until_it_is_forced(tmp_path: Path, name: str) -> None:
    act, why, forcible = CONFLICTS[name]
    made = world(tmp_path, {"a.txt": "one\n"})
    made.run(write("a.txt", "two\n"), write("b.txt", "new\n"))
    act(made.folder)
    stands = sorted(path.name for path in made.folder.iterdir())
    refused = made.undo()
    assert (refused.state, states(refused)["a.txt"]) == ("refused", why)
    assert made.preview()[0].state == "refused"
    assert sorted(path.name for path in made.folder.iterdir()) == stands

    assert made.undo(force=True).state == "done"
    assert not (made.folder / "b.txt").exists()
    file = made.folder / "a.txt"
    assert (file.is_file() and not file.is_symlink() and file.read_text() == "one\n") is forcible


def test_what_was_forced_over_comes_back_when_the_undo_is_undone(tmp_path: Path) -> None:
    made = world(tmp_path, {"a.txt": "one\n"})
    made.run(write("a.txt", "two\n"))
    replaced(made.folder)
    made.undo(force=True)
    assert made.undo().state == "done"
    assert (made.folder / "a.txt").read_text() == "mine\n"


def test_a_change_between_two_edits_is_not_lost_either(tmp_path: Path) -> None:
    made = world(tmp_path, {"a.txt": "one\n"})
    made.run(write("a.txt", "two\n"))
    replaced(made.folder)
    made.run(write("a.txt", "three\n"), prompt="More.", more=True)
    assert made.undo(all=True).state == "refused"
    assert made.undo().state == "done"
    assert (made.folder / "a.txt").read_text() == "mine\n"


def test_a_command_of_the_session_is_suspected_where_one_ran(tmp_path: Path) -> None:
    made = world(tmp_path, {"a.txt": "one\n"})
    made.run(write("a.txt", "two\n"), call("execute_command", command="echo x >> a.txt"))
    refused = made.undo()
    assert states(refused) == {"a.txt": "somebody else, or a command of the session, changed it since"}
    assert refused.commands == ("echo x >> a.txt",)


def test_what_is_again_as_it_was_is_no_conflict(tmp_path: Path) -> None:
    made = world(tmp_path, {"a.txt": "one\n", "b.txt": "one\n"})
    made.run(write("a.txt", "two\n"), write("b.txt", "two\n"))
    (made.folder / "a.txt").write_text("one\n")
    assert states(made.undo()) == {"b.txt": ""}


def test_nothing_is_written_through_a_folder_that_became_a_link(tmp_path: Path) -> None:
    made = world(tmp_path, {"sub/a.txt": "one\n"})
    made.run(write("sub/a.txt", "two\n"))
    outside = made.base / "outside"
    (made.folder / "sub").rename(outside)
    (made.folder / "sub").symlink_to(outside)
    assert "leads elsewhere by a link" in states(made.undo())["sub/a.txt"]
    assert made.undo(files=True, conversation=False, force=True).state == "refused"
    assert (outside / "a.txt").read_text() == "two\n"


def test_a_file_over_the_limit_cannot_be_restored_and_that_is_said(tmp_path: Path) -> None:
    made = world(tmp_path, {"b.txt": "one\n"})
    with (made.folder / "huge.bin").open("wb") as file:
        file.truncate(LARGEST + 1)
    made.run(write("huge.bin", "small\n"), write("b.txt", "two\n"))
    why = f"what it held cannot be brought back: it is larger than {LARGEST >> 20} MiB"
    assert states(made.undo()) == {"huge.bin": why, "b.txt": ""}
    assert (made.folder / "b.txt").read_text() == "two\n"
    assert states(made.undo(force=True)) == {"huge.bin": why, "b.txt": ""}
    assert ((made.folder / "huge.bin").read_text(), (made.folder / "b.txt").read_text()) == ("small\n", "one\n")


def test_a_large_binary_file_comes_back_in_pieces(tmp_path: Path) -> None:
    data = os.urandom(3_000_001)
    made = world(tmp_path, {"data.bin": data})
    made.run(write("data.bin", "small\n"))
    assert made.preview()[1] == ("restore data.bin\n(binary or long: not shown)\n",)
    made.undo()
    assert (made.folder / "data.bin").read_bytes() == data


def test_a_damaged_content_is_not_put_back_and_the_undo_can_be_finished(tmp_path: Path) -> None:
    made = world(tmp_path, {"a.txt": "one\n", "b.txt": "uno\n"})
    made.run(write("a.txt", "two\n"), write("b.txt", "due\n"))
    (stored,) = [path for path in (made.base / "state/preimages").glob("*/*") if path.read_bytes() == b"one\n"]
    stored.write_bytes(b"bad\n")
    told = made.undo()
    assert (told.state, [path for path, why in states(told).items() if why]) == ("unfinished", ["a.txt"])
    with pytest.raises(UsageError, match=r"An undo of session .* was broken off"):
        made.run(prompt="More.", more=True)
    stored.write_bytes(b"one\n")
    told = made.undo()
    assert (told.state, told.resumed) == ("done", True)
    assert [(made.folder / name).read_text() for name in ("a.txt", "b.txt")] == ["one\n", "uno\n"]


def test_an_undo_that_cannot_be_finished_is_forced_to_its_end(tmp_path: Path) -> None:
    made = world(tmp_path, {"a.txt": "one\n", "b.txt": "uno\n"})
    made.run(write("a.txt", "two\n"), write("b.txt", "due\n"))
    (stored,) = [path for path in (made.base / "state/preimages").glob("*/*") if path.read_bytes() == b"one\n"]
    stored.write_bytes(b"bad\n")
    made.undo()
    assert made.undo(force=True).state == "done"
    assert [(made.folder / name).read_text() for name in ("a.txt", "b.txt")] == ["two\n", "uno\n"]
    assert made.undo().state == "done"
    assert [(made.folder / name).read_text() for name in ("a.txt", "b.txt")] == ["two\n", "due\n"]


WRONG = {
    "no such record": ({"to": 900}, "records; --to takes the number of an earlier one"),
    "too far": ({"last": 7}, "can go back by 1 at most"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_point_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    wanted, why = WRONG[name]
    made = world(tmp_path)
    made.run(write("a.txt", "x\n"))
    with pytest.raises(UsageError, match=why):
        made.undo(**wanted)


def test_a_session_that_is_open_elsewhere_is_refused_and_can_be_looked_at(tmp_path: Path) -> None:
    made = world(tmp_path)
    made.run(write("a.txt", "x\n"))
    sessions = Sessions(made.base / "state")
    (info,) = sessions.list()
    journal = sessions.open(info.id)
    try:
        with pytest.raises(LeaseHeld):
            made.undo()
        told, differences = made.preview()
    finally:
        asyncio.run(journal.close())
    assert (told.state, differences[0].splitlines()[0]) == ("possible", "remove a.txt")
    assert made.undo().state == "done"


def test_a_preview_is_a_diff_and_writes_nothing(tmp_path: Path) -> None:
    made = world(tmp_path, {"a.txt": "one\nsame\n", "gone.txt": "x"})
    made.run(write("a.txt", "two\nsame\n"), delete("gone.txt"))
    before, head, stored = made.tree, made.records[-1].hash, tree(made.base / "state/preimages")
    told, differences = made.preview()
    assert (told.state, made.tree, made.records[-1].hash) == ("possible", before, head)
    assert tree(made.base / "state/preimages") == stored
    assert differences == (
        "restore a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-two\n+one\n same\n",
        "bring back gone.txt\n--- /dev/null\n+++ b/gone.txt\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n",
    )
