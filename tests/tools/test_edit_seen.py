"""What the model builds an edit on must be what the file holds."""

import pytest

from .bench import Bench, said

CHANGED = (
    "a was changed by something else since you last read or wrote it. Nothing was changed. "
    "Read it again, then repeat the edit against what it holds."
)
EDITS = {
    "edit": {"file_path": "a", "old_string": "one", "new_string": "1"},
    "apply_diff": {"path": "a", "diff": "<<<<<<< SEARCH\none\n=======\n1\n>>>>>>> REPLACE\n"},
    "write_to_file": {"path": "a", "content": "1\n"},
    "apply_patch": {"patch": "*** Update File: a\n@@\n-one\n+1\n"},
}


@pytest.mark.parametrize("tool", EDITS)
def test_a_file_that_changed_since_it_was_read_is_not_edited_before_it_is_read_again(bench: Bench, tool: str) -> None:
    file = bench.root / "a"
    file.write_text("one\n")
    bench.text("read_file", path="a")
    file.write_text("one\ntwo\n")
    assert bench.refusal(tool, **EDITS[tool]).endswith(CHANGED)
    bench.text("read_file", path="a")
    bench.text(tool, **EDITS[tool])
    assert file.read_text().startswith("1\n")


@pytest.mark.parametrize("tool", EDITS)
def test_a_file_that_changed_since_it_was_written_is_not_edited(bench: Bench, tool: str) -> None:
    bench.text("write_to_file", path="a", content="zero\n")
    (bench.root / "a").write_text("one\n")
    assert bench.refusal(tool, **EDITS[tool]).endswith(CHANGED)


@pytest.mark.parametrize("tool", EDITS)
def test_ones_own_edits_are_no_change(bench: Bench, tool: str) -> None:
    (bench.root / "a").write_text("zero\n")
    bench.text("read_file", path="a")
    bench.text("edit", file_path="a", old_string="zero", new_string="none")
    bench.text("apply_patch", patch="*** Update File: a\n@@\n-none\n+one\n")
    bench.text(tool, **EDITS[tool])
    assert (bench.root / "a").read_text() == "1\n"


def test_a_file_that_was_never_read_may_be_edited(bench: Bench) -> None:
    (bench.root / "a").write_text("one\n")
    bench.text("edit", **EDITS["edit"])


def test_it_is_the_file_that_counts_not_its_name(bench: Bench) -> None:
    (bench.root / "a").write_text("one\n")
    (bench.root / "link").symlink_to("a")
    bench.text("read_file", path="link")
    (bench.root / "a").write_text("one two\n")
    assert bench.refusal("edit", **EDITS["edit"]) == CHANGED


def test_deleting_or_moving_what_changed_is_refused_too(bench: Bench) -> None:
    (bench.root / "a").write_text("one\n")
    bench.text("read_file", files=[{"path": "a"}])
    (bench.root / "a").write_text("two\n")
    for patch in ("*** Delete File: a\n", "*** Update File: a\n*** Move to: b\n"):
        assert bench.refusal("apply_patch", patch=patch).endswith(CHANGED)


def test_a_deleted_file_is_told_once_and_then_made_again(bench: Bench) -> None:
    bench.text("write_to_file", path="a", content="zero\n")
    (bench.root / "a").unlink()
    assert bench.refusal("write_to_file", **EDITS["write_to_file"]).startswith("a was deleted by something else")
    assert '"created"' in bench.text("write_to_file", **EDITS["write_to_file"])


def test_what_a_patch_moved_is_known_where_it_is(bench: Bench) -> None:
    (bench.root / "b").write_text("one\n")
    bench.text("apply_patch", patch="*** Update File: b\n*** Move to: a\n")
    bench.text("write_to_file", path="b", content="new\n")
    (bench.root / "a").write_text("other\n")
    assert said(bench.call("edit", **EDITS["edit"])) == CHANGED
