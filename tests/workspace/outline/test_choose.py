import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.workspace.outline.base import Span, Wanted
from ferrule.workspace.outline.indents import unit

from .choosing import chosen

LONG = "import a\n\n\nclass A:\n    def f(self):\n" + "".join(f"        step({n})\n" for n in range(100)) + "\n\nlast = 1\n"


@pytest.mark.parametrize(
    ("most", "shown"),
    [(200, (4, 105)), (103, (4, 105)), (51, (32, 79)), (10, (52, 59)), (4, (54, 56)), (2, (55, 56)), (1, (55, 55))],
)
def test_a_block_that_is_cut_surrounds_its_anchor_and_keeps_room_for_its_header(most: int, shown: tuple[int, int]) -> None:
    found = chosen(LONG, 55, wanted=Wanted(most=most))
    assert (found.block, found.shown) == (Span(4, 105), Span(*shown))
    assert len(found.shown) + sum(map(len, found.header)) <= most


def test_the_signatures_come_before_the_imports_where_there_is_little_room() -> None:
    found = chosen(LONG, 55, wanted=Wanted(most=8))
    assert found.header == (Span(4, 4), Span(5, 5))
    assert chosen(LONG, 55, wanted=Wanted(most=20)).header == (Span(1, 1), Span(4, 4), Span(5, 5))


@pytest.mark.parametrize(("anchor", "shown"), [(5, (4, 13)), (104, (96, 105))])
def test_a_cut_at_one_end_gives_its_room_to_the_other(anchor: int, shown: tuple[int, int]) -> None:
    found = chosen(LONG, anchor, wanted=Wanted(most=10, header=False))
    assert (found.shown.first, found.shown.last) == shown


def test_siblings_are_cut_around_the_anchor_too() -> None:
    found = chosen(LONG, 108, wanted=Wanted(siblings=True, most=5))
    assert (found.block, found.shown) == (Span(1, 108), Span(105, 108))


def test_blank_lines_at_the_edges_are_left_out() -> None:
    assert chosen("\n\na:\n  b\n\n  c\n\nd\n\n\n", 4, wanted=Wanted(siblings=True)).shown == Span(3, 8)
    assert chosen("\n\na:\n  b\n\n  c\n\nd\n\n\n", 5).shown == Span(3, 6)


def test_a_long_block_is_found_in_a_time_that_grows_with_its_lines() -> None:
    def seconds(lines: int) -> float:
        text = "def f():\n" + "    step()\n" * lines
        began = time.process_time()
        assert chosen(text, lines // 2, wanted=Wanted(most=lines + 1)).shown == Span(1, lines + 1)
        return time.process_time() - began

    seconds(1_000)
    assert min(seconds(40_000) for _ in range(3)) < 12 * min(seconds(10_000) for _ in range(3))


CODE = st.lists(
    st.tuples(
        st.integers(0, 4), st.sampled_from(["a", "}", "{", "# b", "else:", "", "@c", "case 1:", "def f(", ")", "- x", "import d"])
    ),
    min_size=1,
    max_size=30,
)


@given(CODE, st.data())
def test_whatever_a_file_looks_like_the_anchor_is_shown_and_no_line_twice(
    lines: list[tuple[int, str]], data: st.DataObject
) -> None:
    text = "\n".join("  " * level + word for level, word in lines)
    anchor = data.draw(st.integers(1, len(lines)))
    wanted = Wanted(
        data.draw(st.integers(0, 3)), data.draw(st.booleans()), data.draw(st.booleans()), data.draw(st.integers(1, 40))
    )
    found = chosen(text + "\n", anchor, wanted=wanted)
    numbers = [n for span in (found.shown, *found.header) for n in range(span.first, span.last + 1)]
    assert len(numbers) == len(set(numbers)) <= wanted.most
    assert set(numbers) <= set(range(1, len(lines) + 1))
    assert found.block.first <= found.shown.first <= found.shown.last <= found.block.last
    nearest = min(numbers, key=lambda n: abs(n - anchor))
    assert nearest == anchor or not lines[anchor - 1][1].strip() or lines[anchor - 1][1] in ("# b", "@c")


@pytest.mark.parametrize(
    ("lines", "label", "levels"),
    [
        (["a", "  b", "    c", "  d"], "2 spaces", [0, 1, 2, 1]),
        (["a", "    b", "        c"], "4 spaces", [0, 1, 2]),
        (["a", "\tb", "\t\tc"], "tabs", [0, 1, 2]),
        (["a", "   b", "      c"], "3 spaces", [0, 1, 2]),
        (["a", "        b"], "8 spaces", [0, 1]),
        (["a", "    b", "\tc", "\t    d", "\te", "    f"], "4 columns, tabs of 8", [0, 1, 2, 3, 2, 1]),
        (["/**", " * doc", " */", "a {", "    b", "}"], "4 spaces", [0, 0, 0, 0, 1, 0]),
        (
            ["f(a,", "  b)", "    c", "    d {", "        e", "    }", "    g", "        h", "i", "    j"],
            "4 spaces",
            [0, 0, 1, 1, 2, 1, 1, 2, 0, 1],
        ),
        (["a", "b"], "4 spaces", [0, 0]),
        (["a", "", "  b", "", "    c"], "2 spaces", [0, 1, 2]),
    ],
)
def test_the_unit_is_the_step_by_which_lines_go_deeper(lines: list[str], label: str, levels: list[int]) -> None:
    found = unit(lines)
    assert (found.label, [found.level(line) for line in lines if line]) == (label, levels)
