import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.store.sessions import Sessions

from .world import Call, World, call, delete, patch, world, write

NAMES = ("a.txt", "run.sh", "sub/b.txt", "sub/deep/new.txt", "made/c.txt", "link", "data.bin", "umlaut ä.txt")
TEXTS = ("", "one\n", "one\ntwo\n", "one\r\ntwo", "ä€\n")

names, texts = st.sampled_from(NAMES), st.sampled_from(TEXTS)
CALLS: st.SearchStrategy[Call] = st.one_of(
    st.builds(write, names, texts),
    st.builds(lambda name: call("edit", file_path=name, old_string="one", new_string="1 and one"), names),
    st.builds(delete, names),
    st.builds(lambda old, new: patch(f"*** Update File: {old}", f"*** Move to: {new}", "@@", "-one", "+two"), names, names),
    st.builds(lambda name: patch(f"*** Add File: {name}", "+one", "+added"), names),
    st.just(call("execute_command", command="true")),
)


def odd(base: Path) -> World:
    made = world(
        base,
        {"a.txt": "one\n", "run.sh": "#!/bin/sh\none\n", "sub/b.txt": "one\r\ntwo\r\n", "data.bin": bytes(range(256))},
        links=[("link", "a.txt"), ("dangling", "made/c.txt")],
    )
    (made.folder / "run.sh").chmod(0o755)
    (made.folder / "sub/b.txt").chmod(0o640)
    return made


@settings(max_examples=25)
@given(first=st.lists(CALLS, min_size=1, max_size=6), second=st.lists(CALLS, max_size=4))
def test_undoing_everything_gives_back_the_exact_tree_and_undoing_that_the_edited_one(
    first: list[Call], second: list[Call]
) -> None:
    base = Path(tempfile.mkdtemp())
    try:
        made = odd(base)
        before = made.tree
        made.run(*first)
        between = made.tree
        made.run(*second, prompt="More.", more=True)
        edited = made.tree

        assert made.undo(all=True).state == "done"
        assert made.tree == before
        assert made.undo().state == "done"
        assert made.tree == edited
        assert made.undo(last=3).state == "done"
        assert made.tree == between
    finally:
        shutil.rmtree(base)


def test_a_file_with_several_names_stays_one_file(tmp_path: Path) -> None:
    made = world(tmp_path, {"a.txt": "one\n"})
    os.link(made.folder / "a.txt", made.folder / "b.txt")
    made.run(write("a.txt", "two\n"))
    assert made.undo().state == "done"
    assert (made.folder / "a.txt").stat().st_nlink == 2
    assert (made.folder / "b.txt").read_text() == "one\n"


def test_a_deleted_link_comes_back_as_a_link_and_its_target_is_left_alone(tmp_path: Path) -> None:
    made = world(tmp_path, {"a.txt": "one\n"}, links=[("link", "a.txt")])
    before = made.tree
    made.run(delete("link"))
    assert set(made.tree) == {"a.txt"}
    made.undo()
    assert made.tree == before


def test_a_mode_that_a_command_set_is_not_undone_and_one_that_a_deletion_took_comes_back(tmp_path: Path) -> None:
    made = world(tmp_path, {"a.sh": "one\n", "b.sh": "one\n"})
    (made.folder / "b.sh").chmod(0o750)
    made.run(write("a.sh", "two\n"), call("execute_command", command="chmod 711 a.sh"), delete("b.sh"), write("b.sh", "new\n"))
    assert made.undo().state == "done"
    assert made.tree == {"a.sh": ("file", 0o711, b"one\n"), "b.sh": ("file", 0o750, b"one\n")}


def test_a_folder_that_somebody_uses_by_now_stays(tmp_path: Path) -> None:
    made = world(tmp_path)
    made.run(write("new/deep/a.txt", "x\n"))
    (made.folder / "new" / "theirs.txt").write_text("mine\n")
    assert made.undo().state == "done"
    assert sorted(made.tree) == ["new", "new/theirs.txt"]
    made.undo()
    assert (made.folder / "new/deep/a.txt").read_text() == "x\n"


def test_nothing_that_is_not_written_by_a_tool_is_touched(tmp_path: Path) -> None:
    made = world(tmp_path, {"theirs.txt": "theirs\n", "sub/.git/HEAD": "ref: x\n", ".git/HEAD": "ref: y\n"})
    made.run(write("a.txt", "x\n"), call("execute_command", command="echo made > built; echo more >> theirs.txt"))
    told = made.undo()
    assert (told.state, told.commands) == ("done", ("echo made > built; echo more >> theirs.txt",))
    assert {name: content for name, (kind, _, content) in made.tree.items() if kind == "file"} == {
        ".git/HEAD": b"ref: y\n",
        "sub/.git/HEAD": b"ref: x\n",
        "built": b"made\n",
        "theirs.txt": b"theirs\nmore\n",
    }


def test_contents_are_kept_privately_beside_the_outputs_and_go_with_their_session(tmp_path: Path) -> None:
    made = world(tmp_path, {"a.txt": "a secret\n"})
    made.run(write("a.txt", "two\n"))
    stored = list((made.base / "state/preimages").glob("*/*"))
    assert [(path.read_bytes(), path.stat().st_mode & 0o777) for path in stored] == [(b"a secret\n", 0o600)]
    sessions = Sessions(made.base / "state")
    sessions.remove(sessions.list()[0].id)
    assert list((made.base / "state/preimages").glob("*/*")) == []
