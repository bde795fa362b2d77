import time
from pathlib import Path

import pytest

from ferrule.process.protocol import Command, Ended
from ferrule.process.supervisor import Supervisor
from tests.tools.bench import Bench

PYTHON = "import os\n\n\nclass A:\n    def f(self):\n        return os\n\n    def g(self):\n        pass\n"


def test_the_block_around_a_line_comes_with_the_imports_and_signatures_of_its_file(bench: Bench) -> None:
    (bench.root / "a.py").write_text(PYTHON)
    assert bench.text("read_file", path="a.py", mode="indentation", anchor_line=6, max_levels=1) == (
        "File: a.py\nBlock around line 6, by syntax (Python): lines 5-6, of 9 in the file.\n"
        "1 | import os\n----\n4 | class A:\n5 |     def f(self):\n6 |         return os"
    )


def test_an_anchor_alone_asks_for_a_block_and_the_offset_is_one_where_none_is_named(bench: Bench) -> None:
    (bench.root / "a.py").write_text(PYTHON)
    whole = bench.text("read_file", path="a.py", anchor_line=9)
    assert whole == bench.text("read_file", path="a.py", mode="indentation", offset=9)
    assert whole.split("\n")[1] == "Block around line 9, by syntax (Python): lines 4-9, of 9 in the file."
    assert bench.text("read_file", path="a.py", mode="slice", anchor_line=9, limit=1).endswith("\n1 | import os")


def test_without_a_grammar_the_unit_of_indentation_is_told(bench: Bench) -> None:
    (bench.root / "a.conf").write_text("a:\n  b:\n    c\nd:\n  e\n")
    assert bench.text("read_file", path="a.conf", anchor_line=3) == (
        "File: a.conf\nBlock around line 3, by indentation (2 spaces): lines 1-3, of 5 in the file.\n1 | a:\n2 |   b:\n3 |     c"
    )


def test_what_does_not_parse_is_read_by_indentation(bench: Bench) -> None:
    (bench.root / "a.py").write_text("def f(:\n    a\n\n\ndef g():\n    b\n")
    assert bench.text("read_file", path="a.py", anchor_line=6).split("\n")[1:] == [
        "Block around line 6, by indentation (4 spaces): lines 5-6, of 6 in the file.",
        "5 | def g():",
        "6 |     b",
    ]


def test_a_block_that_is_cut_says_where_its_rest_stands(bench: Bench) -> None:
    (bench.root / "a.py").write_text("def f():\n" + "".join(f"    s({n})\n" for n in range(2, 31)))
    text = bench.text("read_file", path="a.py", anchor_line=15, max_lines=5, limit=100)
    assert text == (
        "File: a.py\nBlock around line 15, by syntax (Python): lines 14-17 of 1-30, of 30 in the file. "
        "Go on with mode=slice, offset=18 and limit=13. What stands before: mode=slice, offset=1 and limit=13.\n"
        " 1 | def f():\n----\n14 |     s(14)\n15 |     s(15)\n16 |     s(16)\n17 |     s(17)"
    )
    assert bench.text("read_file", path="a.py", anchor_line=15, max_lines=1).endswith("\n15 |     s(15)")


def test_siblings_come_when_they_are_asked_for(bench: Bench) -> None:
    (bench.root / "a.py").write_text(PYTHON)
    text = bench.text("read_file", path="a.py", anchor_line=6, max_levels=1, include_siblings=True, include_header=False)
    assert [line[:1] for line in text.split("\n")[2:]] == list("56789")


def test_the_encoding_and_long_lines_of_a_block_are_named(bench: Bench) -> None:
    (bench.root / "a.txt").write_bytes(f"a\n  é{'x' * 2_500}\n".encode("utf-16"))
    assert bench.text("read_file", path="a.txt", anchor_line=2).split("\n")[:4] == [
        "File: a.txt",
        "Encoding: UTF-16 LE",
        "Block around line 2, by indentation (2 spaces): lines 1-2, of 2 in the file.",
        "Cut at 2000 characters: line 2. Read on in a line with offset=LINE and column=2001.",
    ]


def test_a_block_of_too_many_characters_is_cut_around_its_anchor(bench: Bench) -> None:
    (bench.root / "a.txt").write_text("top\n" + ("  " + "x" * 1_990 + "\n") * 500)
    text = bench.text("read_file", path="a.txt", anchor_line=250)
    assert len(text) < 260_000
    assert "\n250 |   x" in text
    assert " of 1-501, of 501 in the file. Go on with mode=slice, offset=" in text


def test_in_a_large_file_imports_at_its_start_are_shown_and_what_was_not_looked_at_is_said(bench: Bench) -> None:
    function = "".join(f"    step_{n} = {n}  # {'x' * 40}\n" for n in range(99))
    (bench.root / "a.py").write_text("import os\n\n" + f"def f():\n{function}" * 1_000)
    text = bench.text("read_file", path="a.py", anchor_line=80_050)
    lines = text.split("\n")
    assert lines[1].startswith(
        "Block around line 80050, by indentation (4 spaces): lines 80003-80102, of 100002 in the file. Blocks "
    )
    assert lines[2:5] == ["    1 | import os", "-----"[:4], "80003 | def f():"]
    assert len(lines) == 2 + 2 + 100


def test_siblings_that_go_on_behind_what_was_looked_at_are_said_to(bench: Bench) -> None:
    (bench.root / "a.txt").write_text("line of text\n" * 400_000)
    text = bench.text("read_file", path="a.txt", anchor_line=200_000, include_siblings=True, limit=3)
    notice, first = text.split("\n")[1], 200_000 - 2_097_152 // 13
    assert notice.startswith("Block around line 200000, by indentation (4 spaces): lines 199999-200001 of ")
    assert f" of {first}-361318 and further, of 400000 in the file. Go on with " in notice
    assert notice.endswith(f" Blocks that begin before line {first} were not looked for.")


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        ({"anchor_line": 0}, "`anchor_line` counts lines from 1, got 0."),
        ({"anchor_line": -2}, "`anchor_line` counts lines from 1, got -2."),
        ({"anchor_line": 10}, "`anchor_line` 10 is past the end: a.py has 9 lines."),
        ({"anchor_line": 1, "max_levels": -1}, "`max_levels` must be at least 0, got -1."),
        ({"anchor_line": 1, "max_lines": 0}, "`max_lines` must be at least 1, got 0."),
        ({"mode": "block"}, '`mode` must be "indentation" or "slice", got "block".'),
        ({"column": 0}, "`column` counts characters from 1, got 0."),
        ({"column": 100}, "a.py has no character 100 in line 1."),
    ],
)
def test_each_refusal_says_what_was_wrong(bench: Bench, arguments: dict[str, object], refusal: str) -> None:
    (bench.root / "a.py").write_text(PYTHON)
    assert bench.refusal("read_file", path="a.py", **arguments) == refusal


def test_a_parser_that_breaks_down_leaves_indentation(bench: Bench) -> None:
    class Broken(Supervisor):
        async def run(self, command: Command, on_output: object) -> Ended:
            on_output(b"half a li")  # type: ignore[operator]  # a callback
            return Ended(None, 11, 0.1)

    bench.processes = Broken
    (bench.root / "a.py").write_text(PYTHON)
    assert ", by indentation (4 spaces): lines 4-9" in bench.text("read_file", path="a.py", anchor_line=5)


def test_a_long_line_is_read_on_by_its_column(bench: Bench) -> None:
    (bench.root / "a").write_text("é" * 30_000 + "end\nnext\n")
    assert bench.text("read_file", path="a", offset=1, column=2_001) == (
        f"File: a\nLine 1, characters 2001-22000. Go on with offset=1 and column=22001.\n1 | {'é' * 20_000}"
    )
    assert bench.text("read_file", path="a", offset=1, column=22_001) == (
        f"File: a\nLine 1, characters 22001-30003. The line ends here; go on with offset=2.\n1 | {'é' * 8_000}end"
    )


def test_the_block_of_a_line_in_a_file_of_one_line_without_end_is_found(bench: Bench, tmp_path: Path) -> None:
    (bench.root / "a").write_text("x" * 10_000_000)
    began = time.monotonic()
    assert bench.text("read_file", path="a", anchor_line=1).startswith(
        "File: a\nBlock around line 1, by indentation (4 spaces): "
    )
    assert time.monotonic() - began < 20
