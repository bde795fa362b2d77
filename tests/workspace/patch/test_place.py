from difflib import unified_diff

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.workspace.patch.model import Hunk, Line
from ferrule.workspace.patch.parse import parse_patch
from ferrule.workspace.patch.place import apply, place


def patched(text: str, patch: str) -> str:
    (file,) = parse_patch(patch)
    placed, refused = place(text, file.hunks)
    assert not refused, refused
    return apply(text, placed)


def reason(text: str, *hunks: str) -> str:
    (file,) = parse_patch("*** Update File: a\n" + "".join(hunks))
    _, refused = place(text, file.hunks)
    return "; ".join(each.reason for each in refused)


LINES = st.sampled_from(["a", "b", "", "  c", "c  ", "-- x", "++ y", "@@ -1 +1 @@", "*** End Patch", "-", "+", " ", "\\ w", "é"])
TEXTS = st.builds(
    lambda lines, end: "\n".join(lines) + end * bool(lines), st.lists(LINES, max_size=12), st.sampled_from(["", "\n"])
)
ENDED = st.builds(lambda lines: "".join(lines), st.lists(st.sampled_from(["a\r\n", "a\n", "b\r\n", "\n", "c\n"]), max_size=12))


def diff(old: str, new: str, context: int) -> str:
    """As diff prints it."""
    sides = [[*(f"{line}\n" for line in text.split("\n")[:-1]), *text.split("\n")[-1:]] for text in (old, new)]
    lines = unified_diff(*([line for line in side if line] for side in sides), "a/f", "b/f", n=context)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


@settings(max_examples=300)
@given(TEXTS, TEXTS, st.sampled_from([0, 1, 3]))
def test_a_unified_diff_of_two_texts_makes_the_second_of_the_first_and_back(old: str, new: str, context: int) -> None:
    if old != new:
        assert patched(old, diff(old, new, context)) == new
        assert patched(new, diff(new, old, context)) == old


@settings(max_examples=200)
@given(ENDED, ENDED)
def test_a_diff_that_tells_of_carriage_returns_is_exact(old: str, new: str) -> None:
    if old != new:
        assert patched(old, diff(old, new, 20)) == new


@settings(max_examples=200)
@given(TEXTS, TEXTS)
def test_the_whole_text_as_one_hunk_without_numbers(old: str, new: str) -> None:
    """Where a text says nothing of its end, the file's stays."""
    old, new = old.rstrip("\n"), new.rstrip("\n")
    if old and new and old != new:
        removed, added = ("".join(f"{sign}{line}\n" for line in text.split("\n")) for sign, text in (("-", old), ("+", new)))
        patch = f"*** Begin Patch\n*** Update File: f\n@@\n{removed}{added}*** End Patch\n"
        assert patched(old, patch) == new
        assert patched(f"{old}\n", patch) == f"{new}\n"


CLASSES = "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n"
RETURN = "-        return 1\n+        return 2\n"


@pytest.mark.parametrize("anchors", ["@@ class B:\n", "@@ class B:\n@@     def f(self):\n", "@@ class B:\n@@ def f(self):\n"])
def test_anchors_tell_places_apart(anchors: str) -> None:
    new = CLASSES[: CLASSES.index("class B")] + CLASSES[CLASSES.index("class B") :].replace("return 1", "return 2")
    assert patched(CLASSES, f"*** Update File: a\n{anchors}{RETURN}") == new


def test_what_is_not_told_apart_is_refused_with_the_lines() -> None:
    more = "add lines around it, or `@@ LINE` with a line that comes before it."
    assert reason(CLASSES, "@@\n", RETURN) == f"its lines occur 2 times (lines 3, 7); {more}"
    assert reason(CLASSES, "@@ def f(self):\n", RETURN) == f"its lines occur 2 times (lines 3, 7); {more}"
    assert reason(CLASSES, "@@ class C:\n", RETURN) == "its lines do not come after `@@ class C:`."
    assert reason(CLASSES, "@@\n-nothing\n") == "its lines are not in the file."
    assert reason(CLASSES, "@@ def f(self):\n+x\n") == "`@@ def f(self):` occurs 2 times (lines 2, 6)."
    assert reason(CLASSES, "@@ class C:\n+x\n") == "there is no line `class C:`."
    assert reason(CLASSES, "@@ -90,0 +91 @@\n+x\n") == "the file has no line 90."
    assert reason(CLASSES, "@@\n-class A:\n", "@@\n class A:\n-    def f(self):\n") == "its lines overlap those of another hunk."


def test_a_later_hunk_is_looked_for_behind_the_one_before() -> None:
    assert patched("x\na\ny\na\n", "*** Update File: a\n@@\n-y\n+z\n@@\n-a\n+b\n") == "x\na\nz\nb\n"


def test_the_number_of_a_line_chooses_the_nearest_place() -> None:
    text = "a\n" * 3 + "b\n" * 100 + "a\n"
    assert patched(text, "--- a/f\n+++ b/f\n@@ -102 +102 @@\n-a\n+c\n") == "a\n" * 3 + "b\n" * 100 + "c\n"


def test_added_lines_go_behind_their_anchor_or_to_the_end() -> None:
    assert patched("a\nb\n", "*** Update File: f\n@@ a\n+x\n") == "a\nx\nb\n"
    assert patched("a\nb\n", "*** Update File: f\n@@\n+x\n") == "a\nb\nx\n"
    assert patched("a\nb", "*** Update File: f\n@@\n+x\n") == "a\nb\nx"
    assert patched("", "*** Update File: f\n@@\n+x\n") == "x\n"


def test_the_end_of_the_file_is_preferred_where_a_hunk_says_so() -> None:
    assert patched("a\nb\na\n", "*** Update File: f\n@@\n-a\n+c\n*** End of File\n") == "a\nb\nc\n"


@pytest.mark.parametrize(
    ("text", "patch", "result"),
    [
        ("\tif x:  \n\t\ty()\t\n", " if x:\n-    y()\n+    z()\n", "\tif x:  \n\t\tz()\n"),
        ("a  \r\nb \r\nc\r\n", " a\n-b\n+B\n c\n", "a  \r\nB\r\nc\r\n"),
        ("“a”\nb—c\nd\n", ' "a"\n b-c\n-d\n+e\n', "“a”\nb—c\ne\n"),
        ("a\nb\r\nc\n", " a\n-b\n+B\n c\n", "a\nB\r\nc\n"),
    ],
)
def test_context_keeps_every_byte_however_loosely_it_matched(text: str, patch: str, result: str) -> None:
    assert patched(text, f"*** Update File: f\n@@\n{patch}") == result


def test_many_hunks_take_linear_time() -> None:
    text = "".join(f"line {number}\n" for number in range(20_000))
    hunks = tuple(
        Hunk(1, (Line(" ", f"line {number}"), Line("-", f"line {number + 1}"), Line("+", "new")))
        for number in range(0, 20_000, 10)
    )
    placed, refused = place(text, hunks)
    assert (len(placed), refused) == (2_000, ())
    assert apply(text, placed).count("new\n") == 2_000
