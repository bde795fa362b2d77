import hashlib
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.types.tools import Action, FileChange
from ferrule.workspace.encoding import MARKED, UTF_8, WINDOWS, Encoding
from ferrule.workspace.writing import WHOLE

from .bench import Bench


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_one_occurrence_is_replaced(bench: Bench) -> None:
    (bench.root / "a.py").write_text("x = 1\ny = 2\n")
    output = bench.call("edit", file_path="a.py", old_string="y = 2", new_string="y = 3")
    assert (bench.root / "a.py").read_text() == "x = 1\ny = 3\n"
    assert output.kind == "ok"
    assert output.parts[0].text == "Edited a.py at line 2. There is no need to read it again."  # type: ignore[union-attr]
    assert output.changes == (FileChange("a.py", digest(b"x = 1\ny = 2\n"), digest(b"x = 1\ny = 3\n")),)


@pytest.mark.parametrize("arguments", [{"replace_all": True}, {"expected_replacements": 3}, {"replace_all": "true"}])
def test_several_are_replaced_when_it_is_said(bench: Bench, arguments: dict[str, object]) -> None:
    (bench.root / "a").write_text("x x\ny\nx\n")
    assert bench.text("edit", file_path="a", old_string="x", new_string="xx", **arguments) == (
        "Edited a in 3 places, the first at line 1. There is no need to read it again."
    )
    assert (bench.root / "a").read_text() == "xx xx\ny\nxx\n"


@pytest.mark.parametrize(
    ("data", "old", "new", "result"),
    [
        (b"a\r\nb\r\n", "a\nb\n", "a\nc\n", b"a\r\nc\r\n"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        ("\ufeffé\r\nb\r\n".encode("utf-16-le"), "é\nb", "ü\nc", "\ufeffü\r\nc\r\n".encode("utf-16-le")),
        (b"caf\xe9 x\n", "x", "\u20ac", b"caf\xe9 \x80\n"),
        ("größe äöü ".encode() + b"\xff x\n", "x", "→", "größe äöü ".encode() + b"\xff \xe2\x86\x92\n"),
        (b"a\rb\x0cc\n", "c", "d", b"a\rb\x0cd\n"),
        (b"no end", "end", "final feed", b"no final feed"),
        (b"  a  \n\tb\t\n", "b", "c", b"  a  \n\tc\t\n"),
        (b"x\n", "x", "$& \\1 &amp;", b"$& \\1 &amp;\n"),
    ],
)
def test_everything_else_stays_as_it_is(bench: Bench, data: bytes, old: str, new: str, result: bytes) -> None:
    (bench.root / "a").write_bytes(data)
    bench.text("edit", file_path="a", old_string=old, new_string=new)
    assert (bench.root / "a").read_bytes() == result


PIECES = st.text(st.sampled_from("abc é\n\r\t"), max_size=12)


@settings(max_examples=40)
@given(PIECES, PIECES, PIECES, st.sampled_from([UTF_8, WINDOWS, *MARKED]))
def test_no_byte_outside_the_match_changes_in_any_encoding(
    bench: Bench, before: str, after: str, new: str, encoding: Encoding
) -> None:
    head, tail = encoding.encode(before + "é[old"), encoding.encode("]é" + after)[len(encoding.bom) :]
    (bench.root / "a").write_bytes(head + tail)
    session = Bench(bench.root, bench.blobs)
    session.text("edit", file_path="a", old_string="[old]", new_string=f"[{new}]")
    result = (bench.root / "a").read_bytes()
    start = encoding.encode(before + "é[")
    assert result.startswith(start)
    assert result.endswith(tail)
    middle = result[len(start) : len(result) - len(tail)].decode(encoding.codec)
    assert middle.replace("\r\n", "\n") == new.replace("\r\n", "\n")


def test_mode_bits_and_links_stay(bench: Bench) -> None:
    (bench.root / "real").write_text("a\n")
    (bench.root / "real").chmod(0o750)
    (bench.root / "link").symlink_to("real")
    (bench.root / "hard").hardlink_to(bench.root / "real")
    bench.text("edit", file_path="link", old_string="a", new_string="b")
    assert (os.readlink(bench.root / "link"), (bench.root / "hard").read_text()) == ("real", "b\n")
    assert (bench.root / "real").stat().st_mode & 0o777 == 0o750


def test_a_tolerant_match_is_told(bench: Bench) -> None:
    (bench.root / "a").write_bytes(b"\tif x:\r\n\t\ty()\r\n")
    assert bench.text("edit", file_path="a", old_string="if x:\n    y()", new_string="if x:\n    z()") == (
        "Edited a at line 1. The match differed in white space; the file's own were kept. There is no need to read it again."
    )
    assert (bench.root / "a").read_bytes() == b"\tif x:\r\n\t\tz()\r\n"


def test_a_near_miss_is_shown_with_what_differs(bench: Bench) -> None:
    (bench.root / "a.py").write_text("import os\n\n\ndef f(a):\n    x = 1\n    return x\n")
    assert bench.refusal("edit", file_path="a.py", old_string="def f(a):\n    x = 2\n    return x\n", new_string="") == (
        "Nothing was changed: `old_string` is not in a.py. The nearest region:\n"
        "4 | def f(a):\n5 |     x = 1\n6 |     return x\n"
        "First difference in line 5: the file has '    x = 1', `old_string` has '    x = 2'."
    )


XY = {"old_string": "x", "new_string": "y"}


def test_a_near_miss_of_bytes_that_are_no_text_can_be_sent_as_json(bench: Bench) -> None:
    (bench.root / "a").write_bytes("größe äöü ".encode() + b"\xff one\nlast\n")
    refusal = bench.refusal("edit", file_path="a", old_string="größe äöü ?? one\nlast\n", new_string="")
    assert "1 | größe äöü \\xff one\n" in refusal
    assert refusal.encode()


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (XY, "`old_string` occurs 3 times in a (lines 1, 1, 3). Add lines around it to make it unique, or set `replace_all`."),
        ({**XY, "expected_replacements": 2}, "`old_string` occurs 3 times in a (lines 1, 1, 3), expected 2."),
        ({**XY, "old_string": "y\n", "expected_replacements": 2}, "`old_string` occurs once in a (line 2), expected 2."),
        ({**XY, "expected_replacements": 0}, "`expected_replacements` must be at least 1, got 0."),
        ({**XY, "new_string": "x"}, "`old_string` and `new_string` are identical; nothing to do."),
        ({**XY, "old_string": ""}, "`old_string` is empty. Use write_to_file"),
        ({**XY, "old_string": "zzz"}, "Nothing was changed: `old_string` is not in a. Nothing in the file resembles it"),
        (
            {**XY, "old_string": "1 | x x\n2 | q"},
            "Nothing was changed: `old_string` is not in a. It seems to contain line numbers",
        ),
        ({**XY, "old_string": " y "}, "a already holds new_string there; nothing was changed."),
        ({**XY, "file_path": "latim"}, "latim does not exist. Did you mean latin?"),
        ({**XY, "file_path": "."}, "Cannot edit .: it is a directory."),
        ({**XY, "file_path": "pipe"}, "Cannot edit pipe: it is not a regular file."),
        ({**XY, "file_path": "binary"}, "Cannot edit binary: it is a binary file."),
        ({**XY, "file_path": "protected"}, "Cannot edit protected: it is write-protected (mode 444); nothing was written."),
        (
            {"file_path": "latin", "old_string": "x", "new_string": "→"},
            "Cannot edit latin: the file is Windows-1252, which has no character '→'; nothing was written.",
        ),
        ({**XY, "file_path": "huge"}, "Cannot edit huge: it is larger than 64 MiB; change it with a command."),
        ({"old_string": "x"}, "`new_string` is missing; it must be a string."),
    ],
)
def test_each_failure_has_its_own_words_and_changes_nothing(bench: Bench, arguments: dict[str, object], refusal: str) -> None:
    (bench.root / "a").write_text("x x\ny\nx\n")
    (bench.root / "binary").write_bytes(b"x\0")
    if arguments.get("file_path") == "huge":
        with (bench.root / "huge").open("wb") as huge:
            huge.truncate(WHOLE + 1)
    (bench.root / "latin").write_bytes(b"x\xe9")
    (bench.root / "protected").write_text("x")
    (bench.root / "protected").chmod(0o444)
    os.mkfifo(bench.root / "pipe")
    assert bench.refusal("edit", **{"file_path": "a", **arguments}).startswith(refusal)


def test_the_actions_read_and_write_the_file_behind_a_link(bench: Bench) -> None:
    (bench.root / "link").symlink_to("real")
    path = (str(bench.root / "real"),)
    assert bench.actions("edit", file_path="link", old_string="a", new_string="b") == (
        Action("read", path),
        Action("write", path),
    )
