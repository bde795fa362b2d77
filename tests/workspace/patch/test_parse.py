import pytest

from ferrule.workspace.patch.model import FilePatch, Hunk, Line, Malformed
from ferrule.workspace.patch.parse import SHAPE, parse_patch


def hunk(line: int, *lines: str, **more: object) -> Hunk:
    return Hunk(line, tuple(Line(text[0], text[1:]) for text in lines), **more)  # type: ignore[arg-type]  # the first is a sign


def test_the_shape_that_is_shown_is_read() -> None:
    assert parse_patch(SHAPE) == (
        FilePatch("update", "src/a.py", 2, (hunk(3, "     x = 1", "-    return x", "+    return x + 1", anchors=("def f():",)),)),
        FilePatch("add", "src/new.py", 7, (hunk(8, "+a line"),)),
        FilePatch("delete", "src/old.py", 9),
        FilePatch("update", "src/b.py", 10, (), "src/c.py"),
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [("", ""), ("```\n", "\n```\n"), ("apply_patch <<'EOF'\n", "\nEOF\n"), ("\n", "\n\n")],
)
def test_what_stands_around_a_patch_is_passed_over(before: str, after: str) -> None:
    patch = "*** Begin Patch\n*** Update File: a b.txt\n@@\n-x\n+y\n*** End Patch"
    (file,) = parse_patch(before + patch + after)
    assert (file.path, [line.text for line in file.hunks[0].lines]) == ("a b.txt", ["x", "y"])


def test_hunks_anchors_numbers_and_the_end_of_the_file() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a\n"
        "@@ class A:\n@@     def f(self):\n-x\n+y\n"
        "@@ -10,2 +11,2 @@ def g():\n a\n\n-b\n+c\n"
        "@@\n+last\n*** End of File\n*** End Patch\n"
    )
    assert parse_patch(patch)[0].hunks == (
        hunk(3, "-x", "+y", anchors=("class A:", "    def f(self):")),
        Hunk(7, (Line(" ", "a"), Line(" ", ""), Line("-", "b"), Line("+", "c")), hint=10),
        hunk(12, "+last", at_end=True),
    )


def test_blank_lines_before_the_next_head_are_no_lines_of_the_hunk() -> None:
    files = parse_patch("*** Update File: a\n@@\n-x\n+y\n\n*** Add File: b\n+z\n\n*** Delete File: c\n")
    assert files[0].hunks == (hunk(2, "-x", "+y"),)
    assert files[1].hunks == (hunk(7, "+z"),)
    assert [file.kind for file in files] == ["update", "add", "delete"]


GIT = """From 0 Mon Sep 17 00:00:00 2001
Subject: all of it

 x | 2 +-
diff --git a/x.py b/x.py
old mode 100644
new mode 100755
index 1..2
--- a/x.py
+++ b/x.py
@@ -1,2 +1,2 @@ def f():
--- gone
+++ come
 same
diff --git a/new b/new
new file mode 100755
index 0..1
--- /dev/null
+++ b/new
@@ -0,0 +1 @@
+n
\\ No newline at end of file
diff --git a/empty b/empty
new file mode 100644
index 0..0
diff --git a/old b/old
deleted file mode 100644
--- a/old
+++ /dev/null
@@ -1 +0,0 @@
-o
diff --git "a/\\303\\244 \\"q\\"" "b/\\303\\244 \\"q\\""
similarity index 100%
rename from "\\303\\244 \\"q\\""
rename to plain
diff --git a/run b/run
old mode 100755
new mode 100644
--\x20
2.50
"""


def test_what_git_prints_is_read() -> None:
    assert parse_patch(GIT) == (
        FilePatch("update", "x.py", 5, (hunk(11, "--- gone", "+++ come", " same", hint=1),), executable=True),
        FilePatch("add", "new", 15, (Hunk(20, (Line("+", "n", False),), hint=0, at_end=True),), executable=True),
        FilePatch("add", "empty", 23),
        FilePatch("delete", "old", 26, (hunk(30, "-o", hint=1),)),
        FilePatch("update", 'ä "q"', 32, (), "plain"),
        FilePatch("update", "run", 36, executable=False),
    )


def test_plain_diffs_keep_their_paths_but_for_the_time() -> None:
    text = "--- sub/a.py\t2024-01-01 00:00:00\n+++ sub/a.py\t2024-01-02 00:00:00\n@@ -1 +1 @@\n-x\n+y\n"
    assert parse_patch(text)[0].path == "sub/a.py"
    assert parse_patch(text)[0].move is None


@pytest.mark.parametrize("counts", ["-1,9 +1,9", "-1,2 +1,1", "-1 +1"])
def test_wrong_counts_end_no_hunk_early_or_late(counts: str) -> None:
    text = f"--- a/x\n+++ b/x\n@@ {counts} @@\n a\n-b\n+c\n d\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-e\n+f\n"
    one, two = parse_patch(text)
    assert [line.sign + line.text for line in one.hunks[0].lines] == [" a", "-b", "+c", " d"]
    assert (two.path, [line.sign + line.text for line in two.hunks[0].lines]) == ("y", ["-e", "+f"])


def test_carriage_returns_of_the_transport_are_dropped_and_those_of_lines_kept() -> None:
    text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    assert parse_patch(text.replace("\n", "\r\n")) == parse_patch(text)
    (file,) = parse_patch("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+b\r\n")
    assert file.hunks[0].lines == (Line("-", "a\r"), Line("+", "b\r"))


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        ("", "it changes no file."),
        ("*** Begin Patch\n*** End Patch\n", "it changes no file."),
        ("hello\n", "it changes no file."),
        ("*** Begin Patch\nhello\n*** End Patch\n", "line 2: expected a head such as `*** Update File: PATH`, got 'hello'."),
        ("*** Update File: a\n@@\nx\n", "line 3: a line of a hunk begins with a blank, `-`, `+` or `@@`, got 'x'."),
        ("*** Update File: a\n*** End Patch\n", "line 1: the update of a has no hunk."),
        ("*** Update File: \n@@\n-x\n", "line 1: it names no file."),
        ("*** Add File: a\nx\n", "line 2: every line of an added file begins with `+`, got 'x'."),
        ("*** Update File: a\n@@\n\\ No newline at end of file\n", "line 3: no line stands before it."),
        ("@@ -1 +1 @@\n-a\n+b\n", "line 1: no `--- PATH` and `+++ PATH` stand before this hunk."),
        ("diff --git a/x b/x\nBinary files a/x and b/x differ\n", "line 2: changes of binary files cannot be applied."),
        ("diff --git a/x b/y\ncopy from x\ncopy to y\n", "line 2: a copy; add the file with its content."),
        (
            "diff --git a/x b/x\nnew file mode 120000\n",
            "line 1: mode 120000 is not that of a file; links and submodules cannot be patched.",
        ),
        ("--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "line 1: x is added, so every line of it begins with `+`."),
        ("diff --git a/x b/x\nindex 1..2\n", "line 1: the update of x has no hunk."),
    ],
)
def test_what_is_no_patch_is_explained(patch: str, problem: str) -> None:
    with pytest.raises(Malformed) as caught:
        parse_patch(patch)
    assert str(caught.value) == problem
