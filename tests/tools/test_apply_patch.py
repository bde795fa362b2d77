import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from ferrule.types.tools import Action, FileChange

from .bench import Bench, said, snapshot


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


ALL = """*** Begin Patch
*** Update File: a.py
@@ def f():
-    return 1
+    return 2
*** Add File: new/deep.txt
+one
+two
*** Delete File: old
*** Update File: b
*** Move to: moved/b
@@
-b
+c
*** Update File: picture
*** Move to: moved/picture
*** End Patch
"""


def test_files_are_updated_added_deleted_and_moved_in_one_call(bench: Bench) -> None:
    root = bench.root
    (root / "a.py").write_bytes(b"def f():\r\n    return 1\r\n")
    (root / "old").write_text("old\n")
    (root / "b").write_text("b\n")
    (root / "b").chmod(0o750)
    (root / "picture").write_bytes(b"\0\xff")
    output = bench.call("apply_patch", patch=ALL)
    assert said(output) == (
        "Applied the patch; there is no need to read the files again.\n"
        "Updated a.py: hunk 1 at line 2.\nAdded new/deep.txt, 2 lines.\nDeleted old.\n"
        "Moved b to moved/b and updated it: hunk 1 at line 1.\nMoved picture to moved/picture."
    )
    assert output.changes == (
        FileChange("a.py", digest(b"def f():\r\n    return 1\r\n"), digest(b"def f():\r\n    return 2\r\n")),
        FileChange("new/deep.txt", None, digest(b"one\ntwo\n")),
        FileChange("old", digest(b"old\n"), None),
        FileChange("b", digest(b"b\n"), None),
        FileChange("moved/b", None, digest(b"c\n")),
        FileChange("picture", digest(b"\0\xff"), None),
        FileChange("moved/picture", None, digest(b"\0\xff")),
    )
    assert sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()) == [
        "a.py",
        "moved/b",
        "moved/picture",
        "new/deep.txt",
    ]
    assert (root / "moved/b").stat().st_mode & 0o777 == 0o750
    assert (root / "a.py").read_bytes() == b"def f():\r\n    return 2\r\n"


def test_what_does_not_fit_is_told_of_every_file_and_nothing_is_written(bench: Bench) -> None:
    (bench.root / "a").write_text("one\ntwo\n")
    (bench.root / "b").write_text("x\nx\n")
    patch = (
        "*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n@@\n one\n-twe\n+2\n*** Update File: b\n@@\n-x\n+y\n"
        "*** Add File: c\n+c\n*** End Patch"
    )
    assert bench.refusal("apply_patch", patch=patch) == (
        "Nothing was changed: the patch does not fit 2 of 3 files. The other 1 could be changed as it says. Send all of it again."
        "\n\na, hunk 2 (line 6 of the patch): `hunk` is not in a. The nearest region:\n1 | one\n2 | two\n"
        "First difference in line 2: the file has 'two', `hunk` has 'twe'."
        "\n\nb, hunk 1 (line 11 of the patch): its lines occur 2 times (lines 1, 2); add lines around it, or `@@ LINE` with "
        "a line that comes before it."
    )


@pytest.mark.parametrize(
    ("patch", "refusal"),
    [
        ("*** Add File: a\n+x", "a exists already; update it, or delete it by a call of its own first."),
        ("*** Add File: link\n+x", "a exists already; update it, or delete it by a call of its own first."),
        ("*** Add File: a/b\n+x", "Cannot write a/b: a is not a folder."),
        ("*** Delete File: b", "b does not exist."),
        ("*** Delete File: folder", "Cannot edit folder: it is a directory."),
        ("*** Update File: b\n@@\n-x\n+y", "b does not exist."),
        ("*** Update File: a\n*** Move to: binary", "a cannot be moved to binary, which exists already."),
        ("*** Update File: link\n*** Move to: c", "link is a link; move it with a command."),
        ("*** Update File: binary\n@@\n-x\n+y", "Cannot edit binary: it is a binary file."),
        ("*** Update File: protected\n@@\n-x\n+y", "Cannot edit protected: it is write-protected (mode 444)"),
        ("*** Update File: latin\n@@\n-x\n+→", "Cannot edit latin: the file is Windows-1252, which has no character '→'"),
        ("*** Update File: a\n@@\n x", "a already is as its hunks would make it."),
        ("--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", "a holds more than the patch deletes; nothing of it was changed."),
    ],
)
def test_each_failure_has_its_own_words(bench: Bench, patch: str, refusal: str) -> None:
    (bench.root / "a").write_text("x\nmore\n")
    (bench.root / "link").symlink_to("a")
    (bench.root / "folder").mkdir()
    (bench.root / "binary").write_bytes(b"x\0")
    (bench.root / "latin").write_bytes(b"x\n\xe9")
    (bench.root / "protected").write_text("x\n")
    (bench.root / "protected").chmod(0o444)
    head = "Nothing was changed: the patch does not fit 1 of 1 files. Send all of it again.\n\n"
    assert bench.refusal("apply_patch", patch=patch).startswith(head + refusal)


def test_a_malformed_patch_is_explained_with_the_shape(bench: Bench) -> None:
    said = bench.refusal("apply_patch", patch="*** Update File: a\nx")
    assert said.startswith(
        "`patch` is malformed: line 2: a line of a hunk begins with a blank, `-`, `+` or `@@`, got 'x'. Nothing was changed. "
        "A patch looks like this:\n*** Begin Patch\n"
    )


def test_a_path_that_occurs_twice_is_refused_unless_both_update_it(bench: Bench) -> None:
    (bench.root / "a").write_text("x\ny\n")
    (bench.root / "link").symlink_to("a")
    twice = "*** Update File: a\n@@\n-x\n+1\n*** Update File: link\n@@\n-y\n+2\n"
    assert bench.text("apply_patch", patch=twice).endswith("Updated a: hunk 1 at line 1; hunk 2 at line 2.")
    assert (bench.root / "a").read_text() == "1\n2\n"
    clash = "*** Update File: a\n*** Move to: b\n*** Add File: b\n+x\n"
    assert bench.refusal("apply_patch", patch=clash) == "line 3: b occurs twice in the patch. Nothing was changed."


def test_links_are_written_through_and_deleted_themselves(bench: Bench) -> None:
    (bench.root / "real").write_text("x\n")
    for name in ("link", "gone"):
        (bench.root / name).symlink_to("real")
    bench.text("apply_patch", patch="*** Update File: link\n@@\n-x\n+y\n*** Delete File: gone\n")
    assert ((bench.root / "real").read_text(), os.readlink(bench.root / "link")) == ("y\n", "real")
    assert sorted(os.listdir(bench.root)) == ["link", "real"]


def test_the_bit_for_running_is_set_and_cleared(bench: Bench) -> None:
    for name, mode in (("run", 0o640), ("text", 0o755)):
        (bench.root / name).write_text("x\n")
        (bench.root / name).chmod(mode)
    patch = (
        "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n"
        "diff --git a/text b/text\nold mode 100755\nnew mode 100644\n--- a/text\n+++ b/text\n@@ -1 +1 @@\n-x\n+y\n"
        "diff --git a/new b/new\nnew file mode 100755\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n"
    )
    assert bench.text("apply_patch", patch=patch).split("\n")[1:] == [
        "Made executable: run.",
        "Updated text: hunk 1 at line 1.",
        "Added new, 1 line.",
    ]
    modes = {name: (bench.root / name).stat().st_mode & 0o777 for name in ("run", "text", "new")}
    assert modes == {"run": 0o750, "text": 0o644, "new": 0o755}


def test_every_path_of_a_patch_is_an_action(bench: Bench) -> None:
    (bench.root / "link").symlink_to("/elsewhere")
    root = bench.root
    patch = "*** Update File: a\n*** Move to: ../b\n*** Add File: link\n+x\n*** Delete File: sub/../d\n"
    assert bench.actions("apply_patch", patch=patch) == (
        Action("read", (str(root / "a"),)),
        Action("write", (str(root / "a"),)),
        Action("write", (str(root.parent / "b"),)),
        Action("write", ("/elsewhere",)),
        Action("read", (str(root / "d"),)),
        Action("write", (str(root / "d"),)),
    )


def test_a_write_that_fails_puts_back_what_was_written(bench: Bench) -> None:
    """The folder of the last file takes nothing new; the first one was complete by then."""
    (bench.root / "a").write_text("x\n")
    (bench.root / "closed").symlink_to("/proc/self")
    patch = "*** Update File: a\n@@\n-x\n+y\n*** Add File: new/b\n+b\n*** Add File: closed/c\n+c\n"
    refusal = bench.refusal("apply_patch", patch=patch)
    assert refusal.startswith("Cannot write /proc/")
    assert refusal.endswith(". Nothing was changed; what had been written was put back.")


@pytest.mark.parametrize(
    ("data", "result"),
    [
        (b"\xef\xbb\xbfa\r\nx\r\n", b"\xef\xbb\xbfa\r\ny\r\n"),
        ("\ufeffa\nx".encode("utf-16-le"), "\ufeffa\ny".encode("utf-16-le")),
        (b"caf\xe9  \nx\n\t", b"caf\xe9  \ny\n\t"),
        (b"&lt; $1 ```\nx\n", b"&lt; $1 ```\ny\n"),
    ],
)
def test_everything_else_stays_as_it_is(bench: Bench, data: bytes, result: bytes) -> None:
    (bench.root / "a").write_bytes(data)
    bench.text("apply_patch", patch="*** Update File: a\n@@\n-x\n+y\n")
    assert (bench.root / "a").read_bytes() == result


def git(folder: Path, *arguments: str) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false")
    done = subprocess.run(["git", *settings, *arguments], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode()


def test_what_git_prints_of_a_change_makes_the_same_change_and_its_inverse_takes_it_back(bench: Bench, tmp_path: Path) -> None:
    root = bench.root
    for name, data in {"a": b"1\n2\r\n3", 'ä q"': b"x\n", "gone": b"", "name": b"n\n" * 9, "odd": b"\n\n-- \n"}.items():
        (root / name).write_bytes(data)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "1")
    before = {path: state for path, state in snapshot(root).items() if b"/.git" not in path}
    (root / "a").write_bytes(b"1\n2\r\n4\r\n")
    (root / 'ä q"').write_bytes(b"-- x\n++ y")
    (root / "gone").unlink()
    (root / "name").rename(root / "named")
    (root / "named").chmod(0o755)
    (root / "odd").write_bytes(b"\n-- \n\n")
    (root / "sub").mkdir()
    (root / "sub/new").write_bytes(b"")
    git(root, "add", ".")
    after = {path: state for path, state in snapshot(root).items() if b"/.git" not in path}
    there, back = git(root, "diff", "--cached", "-M"), git(root, "diff", "--cached", "-M", "-R")
    bench.text("apply_patch", patch=back)
    (root / "sub").rmdir()
    assert {path: state for path, state in snapshot(root).items() if b"/.git" not in path} == before
    bench.text("apply_patch", patch=there)
    assert {path: state for path, state in snapshot(root).items() if b"/.git" not in path} == after
