"""Everything that a file holds can be read: by pages, by pieces of long lines, by windows."""

import os
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.workspace.encoding import LATIN, MARKED, STRAY, UTF_8, WINDOWS, Encoding
from ferrule.workspace.lines import LINE_LIMIT, LineReader, Unreadable

RUNS = st.tuples(st.sampled_from(["a", "b ", "é", "€", "😀", "\t", "\f", "\r", "\x0b", "\x85", "\u2028"]), st.integers(1, 3_000))
LINES = st.lists(RUNS, max_size=3).map(lambda runs: "".join(text * count for text, count in runs))
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, st.lists(LINES, max_size=6), st.sampled_from(["", "\n", "\n\n"]))
SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=3)


def paged(reader: LineReader, file: Path, limits: list[int], room: int) -> list[str]:
    """Every line of a file, from pages of these sizes in turn, the rest of each cut line from pieces of `room` characters."""
    lines: list[str] = []
    turn, more = 0, True
    while more:
        page = reader.page(file, len(lines) + 1, limits[turn % len(limits)], room)
        assert page.lines or not lines
        for number, line in enumerate(page.lines, page.first):
            lines.append(line + (rest(reader, file, number, room) if number in page.cut else ""))
        turn, more = turn + 1, page.more
    return lines


def rest(reader: LineReader, file: Path, line: int, room: int) -> str:
    pieces: list[str] = []
    column, more = LINE_LIMIT + 1, True
    while more:
        piece = reader.piece(file, line, column, room)
        assert piece is not None
        assert len(piece.text) == room or not piece.more
        pieces.append(piece.text)
        column, more = column + len(piece.text), piece.more
    return "".join(pieces)


def expected(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [*(line.removesuffix("\r") for line in lines), *([last] if last else [])]


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.sampled_from([UTF_8, *MARKED]), SIZES, st.integers(400, 9_000))
def test_paging_any_file_in_any_page_sizes_gives_back_its_exact_text(
    tmp_path: Path, text: str, encoding: Encoding, limits: list[int], room: int
) -> None:
    file = tmp_path / "file"
    file.write_bytes(encoding.encode(text))
    assert paged(LineReader(block=64), file, limits, room) == expected(text)


@pytest.mark.parametrize(
    ("data", "shown", "encoding"),
    [
        (b"caf\xe9 " * 900 + b"\n\xe9", ["café " * 900, "é"], WINDOWS),
        (b"\x90\xe9 " * 900, ["\x90é " * 900], LATIN),
        ("é".encode() * 1_500 + b"\xff" + "é".encode() * 1_500, ["é" * 1_500 + "\\xff" + "é" * 1_500], STRAY),
        (b"x" * 66_000 + b"\0y" * 3, ["x" * 66_000 + "\\x00y" * 3], UTF_8),
        (b"a\rb\r\nc\r", ["a\rb", "c\r"], UTF_8),
        (b"a\rb" * 1_000, ["a\rb" * 1_000], UTF_8),
        (b"a\x0cb\n\x0c\n", ["a\x0cb", "\x0c"], UTF_8),
    ],
)
def test_odd_bytes_are_named_and_none_is_lost(tmp_path: Path, data: bytes, shown: list[str], encoding: Encoding) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)
    reader = LineReader()
    assert paged(reader, file, [2], 5_000) == shown
    assert reader.page(file).encoding == encoding
    assert reader.window(file, 1).encoding == encoding


@settings(max_examples=60, deadline=None)
@given(TEXTS.filter(len), st.sampled_from([UTF_8, *MARKED]), st.integers(1, 8), st.sampled_from([64, 4_096, 65_536]))
def test_a_window_holds_the_whole_lines_around_its_line(
    tmp_path: Path, text: str, encoding: Encoding, line: int, span: int
) -> None:
    file = tmp_path / "file"
    file.write_bytes(encoding.encode(text))
    window = LineReader(block=64).window(file, line, span)
    lines = text.removesuffix("\n").split("\n")
    if line > len(lines):
        assert (window.lines, window.total) == ((), len(lines))
        return
    whole = tuple(expected(text))
    assert window.first <= line <= window.last
    assert (window.total, window.ends) == (len(lines), window.last == len(lines) and window.ends)
    for number, each in enumerate(window.lines, window.first):
        cut = number == line == window.last and not window.ends
        assert whole[number - 1] == each or (cut and lines[number - 1].startswith(each))
    if span == 65_536 and len(encoding.encode(text)) < span:
        assert (window.lines, window.ends) == (whole, True)


def test_a_line_of_a_gigabyte_is_read_in_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with file.open("wb") as out:
        out.write(b"first\n" + b"x" * 70_000)
        out.truncate(1_000_000_000)  # NUL bytes, which take no room on the disk
        out.seek(0, os.SEEK_END)
        out.write(b"\nlast\n")
    reader = LineReader()
    tracemalloc.start()
    try:
        page = reader.page(file)
        piece = reader.piece(file, 2, 69_995, 10)
        window = reader.window(file, 2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (page.lines, page.cut, page.total) == (("first", "x" * 2_000, "last"), (2,), 3)
    assert piece is not None
    assert (piece.text, piece.more) == ("xxxxxx" + "\\x00", True)
    assert (window.first, len(window.lines), window.ends) == (1, 2, False)
    assert peak < 40_000_000


def test_what_is_appended_while_a_file_is_read_belongs_to_the_next_page(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text("line\n" * 1_000)
    reader = LineReader()
    with reader._opened(file) as (fd, index):
        with file.open("a") as out:
            out.write("later\n" * 1_000)
        page = index.page(fd, 1, 5_000, 1_000_000)
    assert (page.total, page.last, page.more) == (1_000, 1_000, False)
    later = reader.page(file, 1_001, 5_000)
    assert (later.total, set(later.lines)) == (2_000, {"later"})


def test_a_file_that_vanishes_while_it_is_read_is_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("line\n" * 100)
    with LineReader()._opened(file) as (fd, index):
        file.unlink()
        assert index.page(fd, 50, 5, 1_000).lines == ("line",) * 5


def test_a_file_that_shrinks_while_it_is_read_is_said_to_have_changed(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("line\n" * 100_000)
    with LineReader()._opened(file) as (fd, index):
        index.page(fd, 90_000, 1, 1_000)
        os.truncate(file, 10)
        with pytest.raises(Unreadable, match="changed while it was read"):
            index.page(fd, 90_000, 1, 1_000)
        assert index.window(fd, 1, 4_096).lines == ("line", "line")


@pytest.mark.parametrize("read", ["page", "piece", "window"])
def test_a_fifo_is_refused_at_once(tmp_path: Path, read: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    began = time.monotonic()
    with pytest.raises(Unreadable, match="named pipe"):
        getattr(LineReader(), read)(tmp_path / "pipe", 1, *([1] if read == "piece" else []))
    assert time.monotonic() - began < 30
