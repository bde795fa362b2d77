import os
from pathlib import Path

import pytest

from ferrule.types.tools import Action

from .bench import Bench


def test_lines_are_numbered_right_aligned(bench: Bench) -> None:
    (bench.root / "a.py").write_text("".join(f"line {n}\n" for n in range(1, 13)))
    assert bench.text("read_file", path="a.py", offset=8) == (
        "File: a.py\n 8 | line 8\n 9 | line 9\n10 | line 10\n11 | line 11\n12 | line 12"
    )


def test_a_page_names_the_offset_of_the_next_before_its_lines(bench: Bench) -> None:
    (bench.root / "a").write_text("one\ntwo\nthree\n")
    assert bench.text("read_file", path="a", limit=2) == (
        "File: a\nLines 1-2, of 3. Go on with offset=3 and limit=2.\n1 | one\n2 | two"
    )
    assert bench.text("read_file", path="a", offset=3, limit=2) == "File: a\n3 | three"


def test_two_thousand_lines_are_the_default(bench: Bench) -> None:
    (bench.root / "a").write_text("x\n" * 2_001)
    lines = bench.text("read_file", path="a").split("\n")
    assert lines[:3] == ["File: a", "Lines 1-2000, of 2001. Go on with offset=2001 and limit=2000.", "   1 | x"]
    assert lines[-1] == "2000 | x"


def test_cut_lines_are_named(bench: Bench) -> None:
    (bench.root / "a").write_text("short\n" + "y" * 2_001 + "\n")
    assert bench.text("read_file", path="a") == (
        "File: a\nCut at 2000 characters: line 2. Read on in a line with offset=LINE and column=2001.\n"
        f"1 | short\n2 | {'y' * 2_000}"
    )


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "File: a\nThe file is empty."),
        (b"\n", "File: a\n1 | "),
        (b"a\r\n\x0cb\r\n", "File: a\n1 | a\n2 | \x0cb"),
        ("\ufeffa\n".encode("utf-16-le"), "File: a\nEncoding: UTF-16 LE\n1 | a"),
        (b"\xef\xbb\xbfa\n", "File: a\nEncoding: UTF-8 with BOM\n1 | a"),
        (b"caf\xe9", "File: a\nEncoding: Windows-1252\n1 | café"),
    ],
)
def test_other_encodings_and_endings_are_shown(bench: Bench, data: bytes, text: str) -> None:
    (bench.root / "a").write_bytes(data)
    assert bench.text("read_file", path="a") == text


def test_the_number_of_lines_of_a_huge_rest_is_not_counted(bench: Bench) -> None:
    with (bench.root / "a").open("wb") as file:
        for _ in range(40):
            file.write(b"x" * 999_999 + b"\n")
    assert "Lines 1-1, more lines follow. Go on with offset=2 and limit=1." in bench.text("read_file", path="a", limit=1)


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        ({"path": "a", "offset": 0}, "`offset` counts lines from 1, got 0."),
        ({"path": "a", "offset": -3}, "`offset` counts lines from 1, got -3."),
        ({"path": "a", "limit": 0}, "`limit` must be at least 1, got 0."),
        ({"path": "a", "limit": -1}, "`limit` must be at least 1, got -1."),
        ({"path": "a", "offset": 4}, "`offset` 4 is past the end: a has 2 lines."),
        ({"path": "one", "offset": 2}, "`offset` 2 is past the end: one has 1 line."),
        ({"path": "a", "mode": "lines"}, '`mode` must be "indentation" or "slice", got "lines".'),
        ({"path": "folder"}, "Cannot read folder: it is a directory; use list_files."),
        ({"path": ""}, "Cannot read .: it is a directory; use list_files."),
        ({"path": "pipe"}, "Cannot read pipe: it is a named pipe, not a file."),
        ({"path": "/dev/zero"}, "Cannot read /dev/zero: it is a character device, not a file."),
        ({"path": "binary"}, "Cannot read binary: it is a binary file (it holds NUL bytes)."),
        ({"path": "reedme.md"}, "reedme.md does not exist. Did you mean README.md?"),
        ({"path": "lib/deep.py"}, "lib/deep.py does not exist. Did you mean folder/deep.py?"),
        ({"path": "flder/deep.py"}, "flder/deep.py does not exist. Did you mean folder/deep.py or folder?"),
        ({"path": "a/b"}, "a/b does not exist."),
        ({"path": "qqqqqqq"}, "qqqqqqq does not exist."),
        ({"path": "x\0y"}, "'x\\x00y' is not a usable path: embedded null byte"),
        ({"path": "circle"}, "'circle' is not a usable path: Symlink loop"),
    ],
)
def test_each_failure_has_its_own_words(bench: Bench, arguments: dict[str, object], refusal: str) -> None:
    (bench.root / "a").write_text("1\n2\n")
    (bench.root / "one").write_text("1\n")
    (bench.root / "folder").mkdir()
    (bench.root / "folder" / "deep.py").touch()
    os.mkfifo(bench.root / "pipe")
    (bench.root / "binary").write_bytes(b"\x7fELF\0\0")
    (bench.root / "README.md").touch()
    (bench.root / "circle").symlink_to("circle")
    output = bench.refusal("read_file", **arguments)
    assert output.startswith(refusal)


def test_a_file_without_permission_is_said(bench: Bench) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (bench.root / "a").touch(0o000)
    assert bench.refusal("read_file", path="a") == "Cannot read a: Permission denied."


def test_a_name_that_is_not_utf_8_can_be_read_as_it_is_listed(bench: Bench) -> None:
    with open(os.fsencode(bench.root) + b"/caf\xe9\xef\xbf\xbd", "w") as file:
        file.write("x\n")
    listed = bench.text("list_files", path=".")
    assert listed == "caf\N{REPLACEMENT CHARACTER}E9\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"
    assert bench.text("read_file", path=listed) == f"File: {listed}\n1 | x"


def test_the_action_names_the_file_behind_a_link(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path.resolve() / "outside"
    outside.write_text("x")
    (bench.root / "link").symlink_to(outside)
    assert bench.actions("read_file", path="link") == (Action("read", (str(outside),)),)
    assert bench.text("read_file", path="link") == f"File: {outside}\n1 | x"
