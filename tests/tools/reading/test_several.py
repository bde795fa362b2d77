import os

from ferrule.types.messages import Image, Text
from ferrule.types.tools import Action
from tests.tools.bench import Bench

from . import documents


def test_several_files_come_in_one_result_each_with_its_own_lines(bench: Bench) -> None:
    (bench.root / "a").write_text("1\n2\n3\n")
    (bench.root / "b.py").write_text("def f():\n    x\n\n\ny = 1\n")
    files = [{"path": "a", "offset": 2, "limit": 1}, {"path": "b.py", "anchor_line": 2}, {"path": "a", "offset": 3}]
    assert bench.text("read_file", files=files) == (
        "File: a\nLines 2-2, of 3. Go on with offset=3 and limit=1.\n2 | 2\n\n---\n\n"
        "File: b.py\nBlock around line 2, by syntax (Python): lines 1-2, of 5 in the file.\n1 | def f():\n2 |     x\n\n---\n\n"
        "File: a\n3 | 3"
    )


def test_each_file_has_its_own_error(bench: Bench) -> None:
    (bench.root / "a").write_text("1\n")
    os.mkfifo(bench.root / "pipe")
    assert bench.text("read_file", files=[{"path": "b"}, {"path": "a"}, {"path": "pipe"}, {"path": "a", "offset": 5}]) == (
        "File: b\nError: b does not exist.\n\n---\n\nFile: a\n1 | 1\n\n---\n\n"
        "File: pipe\nError: Cannot read pipe: it is a named pipe, not a file.\n\n---\n\n"
        "File: a\nError: `offset` 5 is past the end: a has 1 line."
    )


def test_when_no_file_could_be_read_the_call_failed(bench: Bench) -> None:
    assert bench.refusal("read_file", files=[{"path": "b"}, {"path": "c"}]) == (
        "File: b\nError: b does not exist.\n\n---\n\nFile: c\nError: c does not exist."
    )


def test_together_they_are_no_longer_than_one_page(bench: Bench) -> None:
    for name in "abcd":
        (bench.root / name).write_text(("x" * 99 + "\n") * 1_500)
    sections = bench.text("read_file", files=[{"path": name} for name in "abcd"]).split("\n\n---\n\n")
    assert len(sections[0]) > 150_000
    assert sections[1].split("\n")[1].startswith("Lines 1-")
    assert sections[2:] == [
        f"File: {name}\nError: Not read: the 256000 characters of one call are used up. Read it in a call of its own."
        for name in "cd"
    ]
    assert sum(map(len, sections)) < 256_000 * 1.1


def test_pictures_follow_the_text_and_are_numbered(bench: Bench) -> None:
    (bench.root / "a.png").write_bytes(documents.image("PNG", (3, 3)))
    (bench.root / "b").write_text("text\n")
    (bench.root / "c.gif").write_bytes(documents.image("GIF", (3, 3)))
    text, *pictures = bench.call("read_file", files=[{"path": "a.png"}, {"path": "b"}, {"path": "c.gif"}]).parts
    assert text == Text(
        "File: a.png\nImage: PNG, 3 × 3 pixels\nIt is picture 1 of this result.\n\n---\n\nFile: b\n1 | text\n\n---\n\n"
        "File: c.gif\nImage: GIF, 3 × 3 pixels\nIt is picture 2 of this result."
    )
    assert [picture.media_type for picture in pictures if isinstance(picture, Image)] == ["image/png", "image/gif"]


def test_no_more_pictures_than_a_result_may_hold(bench: Bench) -> None:
    (bench.root / "a.png").write_bytes(documents.image("PNG", (3, 3)))
    output = bench.call("read_file", files=[{"path": "a.png"}] * 11)
    assert sum(isinstance(part, Image) for part in output.parts) == 10
    assert isinstance(output.parts[0], Text)
    assert output.parts[0].text.endswith("are too many or too large. Read it in a call of its own.")


def test_every_path_is_judged(bench: Bench) -> None:
    files = [{"path": "a"}, {"path": "../b"}, {"path": "a"}]
    assert bench.actions("read_file", files=files) == (Action("read", (str(bench.root / "a"), str(bench.root.parent / "b"))),)


def test_one_file_or_several_must_be_named(bench: Bench) -> None:
    neither = "Name one file by `path`, or several by `files`."
    assert bench.refusal("read_file") == neither
    assert bench.refusal("read_file", path="a", files=[{"path": "b"}]) == neither
    assert bench.refusal("read_file", files=[]) == "`files` must name 1 to 50 files, got 0."
    assert bench.refusal("read_file", files=[{"path": "a"}] * 51) == "`files` must name 1 to 50 files, got 51."
    assert bench.refusal("read_file", files=[{"path": "a", "line_ranges": []}]).startswith(
        "`files[0]` is wrong (object contains unknown field `line_ranges`)"
    )
    assert bench.refusal("read_file", files=[{"path": "a", "limit": 0}]) == "`limit` must be at least 1, got 0."


def test_a_list_written_as_text_is_read(bench: Bench) -> None:
    (bench.root / "a").write_text("1\n")
    assert bench.text("read_file", files='[{"path": "a"}]') == "File: a\n1 | 1"
