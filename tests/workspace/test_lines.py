import os
import re
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.workspace.encoding import LATIN, MARKED, STRAY, UTF_8, WINDOWS, Encoding
from ferrule.workspace.lines import PAGE_LIMIT, LineReader, Page, Unreadable

BY_LABEL = {encoding.label: encoding for encoding in MARKED}
TEXTS = st.text(st.sampled_from("ab\n\n\n\r\t\f\x0b\x85\u2028é€😀"), max_size=80)


def naive(text: str, offset: int, limit: int) -> tuple[tuple[str, ...], int]:
    *terminated, last = text.split("\n")
    lines = [*(line.removesuffix("\r") for line in terminated), *([last] if last else [])]
    return tuple(lines[offset - 1 : offset - 1 + limit]), len(lines)


@settings(max_examples=150)
@given(
    TEXTS, st.sampled_from([UTF_8, *MARKED]), st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=4)
)
def test_any_pages_of_any_text_are_those_of_a_naive_reader(
    tmp_path: Path, text: str, encoding: Encoding, pages: list[tuple[int, int]]
) -> None:
    file = tmp_path / "file"
    file.write_bytes(encoding.encode(text))
    reader = LineReader(block=8)
    for offset, limit in pages:
        page = reader.page(file, offset, limit)
        lines, total = naive(text, offset, limit)
        assert (page.first, page.lines, page.total) == (offset, lines, total)
        assert page.more == (offset - 1 + len(lines) < total and bool(lines))


@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
@pytest.mark.parametrize("offset", [2, 17_000, 49_999, 80_000, 99_999])
def test_an_index_that_was_halved_still_finds_every_line(tmp_path: Path, codec: str, offset: int) -> None:
    file = tmp_path / "file"
    file.write_text("".join(f"{number}\r\n" for number in range(1, 100_001)), codec, newline="")
    reader = LineReader(block=4)
    for first in (offset, 100_000, offset):
        assert reader.page(file, first, 1).lines == (str(first),)
    assert reader.page(file, 100_001).total == 100_000


def test_a_character_split_between_two_blocks_is_no_obstacle(tmp_path: Path) -> None:
    file = tmp_path / "file"
    text = "".join(f"{'x' * number}😀\n" for number in range(9))
    for encoding in MARKED:
        file.write_bytes(encoding.encode(text))
        for line in range(1, 10):
            assert LineReader(block=8).page(file, line, 1).lines == (f"{'x' * (line - 1)}😀",)


@pytest.mark.parametrize(
    ("data", "lines", "encoding"),
    [
        (b"", (), UTF_8),
        (b"\n", ("",), UTF_8),
        (b"a\n\n", ("a", ""), UTF_8),
        (b"a\r\nb\r", ("a", "b\r"), UTF_8),
        (b"a\rb\x0cc\n", ("a\rb\x0cc",), UTF_8),
        (b"\xef\xbb\xbfa\n", ("a",), BY_LABEL["UTF-8 with BOM"]),
        (b"\xff\xfea\0\n\0", ("a",), BY_LABEL["UTF-16 LE"]),
        (b"\xfe\xff\0a\0\n\x0a\x0a", ("a", "\u0a0a"), BY_LABEL["UTF-16 BE"]),
        (b"\xff\xfe\x3d\xd8", ("\\x3d\\xd8",), BY_LABEL["UTF-16 LE"]),
        (b"caf\xe9\n", ("café",), WINDOWS),
        (b"\x80uro\n", ("€uro",), WINDOWS),
        (b"\x81\xe9\n", ("\x81é",), LATIN),
        ("größe äöü".encode() + b"\xff\n", ("größe äöü\\xff",), STRAY),
    ],
)
def test_each_encoding_is_recognised_and_nothing_is_replaced(
    tmp_path: Path, data: bytes, lines: tuple[str, ...], encoding: Encoding
) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)
    assert LineReader().page(file) == Page(1, lines, False, len(lines), (), encoding)


def test_a_nul_in_the_head_is_binary_and_one_further_on_is_shown(tmp_path: Path) -> None:
    binary, late = tmp_path / "binary", tmp_path / "late"
    binary.write_bytes(b"a\nb\0c\n")
    late.write_bytes(b"x" * 99 + b"\n" + (b"y" * 99 + b"\n") * 700 + b"b\0c\n")
    with pytest.raises(Unreadable, match="binary"):
        LineReader().page(binary)
    assert LineReader().page(late, 702).lines == ("b\\x00c",)


def test_a_long_line_is_cut_and_the_next_one_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("é" * 2_000 + "\n" + "é" * 2_001 + "\n" + "😀" * 90_000 + "\nend\n")
    page = LineReader().page(file)
    assert page == Page(1, ("é" * 2_000, "é" * 2_000, "😀" * 2_000, "end"), False, 4, (2, 3), UTF_8)


def test_a_line_of_fifty_megabytes_is_never_held(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with file.open("wb") as out:
        for _ in range(50):
            out.write(b"x" * 1_000_000)
        out.write(b"\nafter\n")
    tracemalloc.start()
    try:
        page = LineReader().page(file, 1, 2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert page == Page(1, ("x" * 2_000, "after"), False, 2, (1,), UTF_8)
    assert peak < 3_000_000


def test_a_page_far_into_a_large_file_needs_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with file.open("wb") as out:
        for start in range(0, 600_000, 10_000):
            out.write(b"".join(b"%08d %s\n" % (start + i, b"x" * 91) for i in range(10_000)))
    reader = LineReader()
    tracemalloc.start()
    try:
        page = reader.page(file, 500_001, 2_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [int(line[:8]) for line in page.lines] == list(range(500_000, 502_000))
    assert (page.more, page.total) == (True, 600_000)
    assert peak < 5_000_000


def test_a_page_stops_at_its_limit_of_characters_but_holds_a_line(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text(("x" * 1_999 + "\n") * 1_000)
    page = LineReader().page(file)
    assert (len(page.lines), page.more, page.total) == (PAGE_LIMIT // 1_999, True, 1_000)
    assert LineReader().page(file, page.last + 1, 1).first == page.last + 1


def test_an_offset_past_the_end_tells_the_number_of_lines(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a\nb\n")
    assert LineReader().page(file, 3) == Page(3, (), False, 2, (), UTF_8)


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "file"
    reader = LineReader(block=8)
    file.write_text("one\n" * 50)
    assert reader.page(file, 40, 1).lines == ("one",)
    file.write_text("a longer line\n" * 50)
    assert reader.page(file, 40, 1).lines == ("a longer line",)


def test_what_the_kernel_makes_up_is_read_to_its_end() -> None:
    page = LineReader().page(Path("/proc/self/status"))
    assert re.match(r"Name:", page.lines[0])
    assert page.total == len(page.lines)


@pytest.mark.parametrize(("kind", "said"), [("folder", "directory"), ("pipe", "named pipe"), ("device", "character device")])
def test_what_is_no_file_is_named_and_never_waited_for(tmp_path: Path, kind: str, said: str) -> None:
    path = {"folder": tmp_path, "pipe": tmp_path / "pipe", "device": Path("/dev/zero")}[kind]
    if kind == "pipe":
        os.mkfifo(path)
    with pytest.raises(Unreadable, match=said):
        LineReader().page(path)


def test_only_the_indexes_of_the_last_files_are_kept(tmp_path: Path) -> None:
    reader = LineReader(kept=2)
    for number in range(5):
        (tmp_path / str(number)).write_text("a\n")
        reader.page(tmp_path / str(number))
    assert len(reader._indexes) == 2
