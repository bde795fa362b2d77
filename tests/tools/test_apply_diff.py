import hashlib

from ferrule.types.tools import Action, FileChange

from .bench import Bench, said

DIFF = """<<<<<<< SEARCH
:start_line:1
-------
def f():
    return 1
=======
def f():
    return 10
>>>>>>> REPLACE

<<<<<<< SEARCH
:start_line:5
-------
    return 2
=======
    x = 2
    return x
>>>>>>> REPLACE
"""


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_all_blocks_are_applied_at_once(bench: Bench) -> None:
    file = bench.root / "a.py"
    file.write_bytes(b"def f():\r\n    return 1\r\n\r\ndef g():\r\n    return 2\r\n")
    file.chmod(0o700)
    before = file.read_bytes()
    output = bench.call("apply_diff", path="a.py", diff=DIFF)
    assert file.read_bytes() == b"def f():\r\n    return 10\r\n\r\ndef g():\r\n    x = 2\r\n    return x\r\n"
    assert file.stat().st_mode & 0o777 == 0o700
    assert (output.kind, output.changes) == ("ok", (FileChange("a.py", digest(before), digest(file.read_bytes())),))
    assert said(output) == (
        "Edited a.py; there is no need to read it again.\nBlock 1 replaced lines 1-2.\nBlock 2 replaced line 5."
    )


def test_what_could_be_applied_is_told_beside_each_failure(bench: Bench) -> None:
    file = bench.root / "a.py"
    file.write_text("def f():\n    return 1\n\ndef g():\n    return 3\n    return 3\n")
    output = bench.call("apply_diff", path="a.py", diff=DIFF)
    assert file.read_text() == "def f():\n    return 10\n\ndef g():\n    return 3\n    return 3\n"
    assert (output.kind, len(output.changes)) == ("error", 1)
    assert said(output) == (
        "1 of 2 blocks were applied to a.py, the others were not. Repeat only those.\nBlock 1 replaced lines 1-2.\n\n"
        "Block 2: `SEARCH` is not in a.py. The nearest region:\n2 |     return 1\n"
        "First difference in line 2: the file has '    return 1', `SEARCH` has '    return 2'."
    )


def test_when_no_block_fits_nothing_is_written(bench: Bench) -> None:
    (bench.root / "a.py").write_text("y\n")
    assert bench.refusal("apply_diff", path="a.py", diff="<<<<<<< SEARCH\nzzz\n=======\ny\n>>>>>>> REPLACE") == (
        "No block could be applied to a.py; it was not changed.\n\n"
        "Block 1: `SEARCH` is not in a.py. Nothing in the file resembles it; read the file again."
    )


def test_a_malformed_diff_is_explained_with_the_shape(bench: Bench) -> None:
    (bench.root / "a.py").write_text("y\n")
    assert bench.refusal("apply_diff", path="a.py", diff="<<<<<<< SEARCH\ny\n>>>>>>> REPLACE") == (
        "`diff` is malformed: line 3: `>>>>>>> REPLACE` inside block 1, where `=======` must come first. If the file itself "
        "holds such a line, write a backslash before it. Nothing was changed. A block looks like this:\n"
        "<<<<<<< SEARCH\n:start_line:LINE\n-------\nlines as they are in the file\n=======\nlines that replace them\n"
        ">>>>>>> REPLACE"
    )


def test_a_missing_file_is_said(bench: Bench) -> None:
    assert bench.refusal("apply_diff", path="a.py", diff=DIFF) == "a.py does not exist."


def test_blocks_that_change_nothing_in_the_file_are_refused(bench: Bench) -> None:
    (bench.root / "a").write_text("  y\n")
    diff = "<<<<<<< SEARCH\ny \n=======\ny\n>>>>>>> REPLACE"
    assert bench.refusal("apply_diff", path="a", diff=diff) == "a already is as the blocks would make it; nothing was changed."


def test_the_actions_read_and_write_the_file(bench: Bench) -> None:
    path = (str(bench.root / "a"),)
    assert bench.actions("apply_diff", path="a", diff="") == (Action("read", path), Action("write", path))
