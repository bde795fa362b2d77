from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ferrule.context.truncate import KEPT, Caps, caps, render, shorten, sizes_of_turn, sizes_under_pressure
from ferrule.types.messages import Image, Text, ToolResult
from ferrule.types.records import Cut

PICTURE = Image("image/png", "AAAA")


def result(*parts: str | Image) -> ToolResult:
    return ToolResult("c1", "run", "ok", tuple(Text(part) if isinstance(part, str) else part for part in parts))


def lines(count: int) -> str:
    return "".join(f"line {number:05d} of some output\n" for number in range(count))


@pytest.mark.parametrize(
    ("window", "one", "turn"),
    [
        (1_000, 2_000, 2_000),
        (8_000, 9_600, 9_600),
        (13_334, 16_000, 16_000),
        (32_000, 16_000, 38_400),
        (99_999, 16_000, 119_998),
        (100_000, 32_000, 120_000),
        (199_999, 32_000, 239_998),
        (200_000, 64_000, 240_000),
        (1_000_000, 64_000, 1_200_000),
    ],
)
def test_caps_follow_the_window(window: int, one: int, turn: int) -> None:
    assert caps(window) == Caps(result=one, turn=turn)


PIECES = st.lists(st.one_of(st.text(max_size=40), st.sampled_from(["\n", lines(90), "x" * 2_500, "Error: no\n"])), max_size=5)


@given(st.lists(PIECES.map("".join), min_size=1, max_size=3), st.integers(0, 6_000), st.booleans())
@example(["x" * 2_001], 0, False)
@example(["\n" * 9_000], 2_000, True)
def test_a_cut_result_is_shorter_and_has_its_head_and_its_tail(texts: list[str], most: int, picture: bool) -> None:
    whole = result(*texts, *([PICTURE] if picture else []))
    cut = shorten(whole, most)
    if cut is None:
        assert len(whole.text) <= max(most, KEPT)
        return
    short = render(whole, cut)
    assert len(short.text) <= max(most, KEPT) < len(whole.text)
    assert short.text.startswith(whole.text[: cut.head])
    assert short.text.endswith(whole.text[-cut.tail :])
    assert cut.head > KEPT // 3
    assert cut.tail > KEPT // 20
    assert f"{len(whole.text) - cut.head - cut.tail:,} of {len(whole.text):,} characters" in short.text
    assert (PICTURE in short.parts) == picture
    assert render(whole, cut) == short
    assert (short.call_id, short.name, short.kind) == (whole.call_id, whole.name, whole.kind)


@given(st.text(max_size=400), st.integers(0, 500), st.integers(0, 500))
def test_no_cut_makes_a_result_longer(text: str, head: int, tail: int) -> None:
    whole = result(text)
    short = render(whole, Cut("c1", head, tail))
    assert short is whole or len(short.text) < len(text)


def test_the_parts_of_a_result_keep_their_places() -> None:
    whole = result("a" * 1_000, PICTURE, "b" * 1_000, "c" * 1_000)
    short = render(whole, Cut("c1", 1_500, 400))
    first, second, third, fourth = short.parts
    assert (first, second, fourth) == (Text("a" * 1_000), PICTURE, Text("c" * 400))
    assert isinstance(third, Text)
    assert third.text.startswith("b" * 499 + "\n\n[1,102 of 3,002 characters are left out here")


def test_parts_between_head_and_tail_go_and_their_images_stay() -> None:
    whole = result("a" * 1_000, "b" * 500, PICTURE, "c" * 1_000)
    short = render(whole, Cut("c1", 400, 300))
    assert [type(part) for part in short.parts] == [Text, Image, Text]
    assert short.text.startswith("a" * 400 + "\n\n[1,802 of 2,502")
    assert short.text.endswith("]\n\n\n" + "c" * 300)


@pytest.mark.parametrize(
    "end",
    [
        "Traceback (most recent call last):\n  File x\nKeyError: 1\n",
        "make: *** [all] Error 2\n",
        "exit code 1\n",
        "==== 3 failed, 46 passed in 3.41s ====\n",
        "short test summary info\n",
        '  "last": true\n  }\n]\n',
    ],
)
def test_an_end_that_tells_something_is_kept_three_times_as_long(end: str) -> None:
    plain, telling = shorten(result(lines(900)), 8_000), shorten(result(lines(900) + end), 8_000)
    assert plain is not None
    assert telling is not None
    assert telling.tail > 2.5 * plain.tail > 0
    assert telling.head < plain.head


@pytest.mark.parametrize(("most", "end", "tail"), [(64_000, "", 1_000), (64_000, "Error", 4_000), (4_000, "Error", 1_200)])
def test_a_tail_has_a_most(most: int, end: str, tail: int) -> None:
    cut = shorten(result("x" * 100_000 + end), most)
    assert cut is not None
    assert tail * 0.9 < cut.tail <= tail


def test_head_and_tail_end_with_lines() -> None:
    whole = result(lines(900))
    cut = shorten(whole, 8_000)
    assert cut is not None
    assert whole.text[: cut.head].endswith("output\n")
    assert whole.text[-cut.tail :].startswith("line ")


def test_a_line_end_far_from_the_cut_is_not_sought() -> None:
    cut = shorten(result("x" * 2_500 + "\n" + "x" * 9_000 + "\n" + "y" * 150), 4_000)
    assert cut is not None
    assert cut.head > 3_000
    assert cut.tail > 300


def test_a_result_within_the_cap_is_left_alone() -> None:
    assert shorten(result("x" * 4_000), 4_000) is None
    assert shorten(result("x" * KEPT), 10) is None
    assert shorten(result(PICTURE), 10) is None


@pytest.mark.parametrize(
    ("lengths", "most", "sizes"),
    [
        ({"a": 9_000}, Caps(16_000, 20_000), {}),
        ({"a": 17_000}, Caps(16_000, 20_000), {"a": 16_000}),
        ({"a": 15_000, "b": 15_000, "c": 3_000}, Caps(16_000, 20_000), {"a": 8_500, "b": 8_500}),
        ({"a": 15_000, "b": 15_000}, Caps(16_000, 30_000), {}),
        ({"a": 5_000, "b": 5_000, "c": 5_000}, Caps(5_000, 5_000), {"a": 2_000, "b": 2_000, "c": 2_000}),
        ({"a": 1_000, "b": 1_900}, Caps(2_000, 2_000), {}),
    ],
)
def test_what_a_turn_brings_in_is_shared(lengths: dict[str, int], most: Caps, sizes: dict[str, int]) -> None:
    assert sizes_of_turn(lengths, most) == sizes


@pytest.mark.parametrize(
    ("lengths", "wanted", "sizes"),
    [
        ({"a": 30_000, "b": 20_000}, 1, {"a": 16_000}),
        ({"a": 30_000, "b": 20_000}, 14_001, {"a": 16_000, "b": 16_000}),
        ({"a": 30_000, "b": 20_000}, 18_001, {"a": 2_000, "b": 16_000}),
        ({"a": 30_000, "b": 20_000}, None, {"a": 2_000, "b": 14_000}),
        ({"a": 9_000, "b": 9_000, "c": 9_000}, None, {"a": 2_000, "b": 5_000}),
        ({"a": 9_000, "b": 9_000, "c": 9_000}, 7_000, {"a": 2_000}),
        ({"a": 30_000}, None, {"a": 16_000}),
        ({"a": 9_000}, None, {}),
        ({f"{number}": 1_500 for number in range(40)}, None, {}),
        ({}, None, {}),
    ],
)
def test_under_pressure_the_oldest_give_first(lengths: dict[str, int], wanted: int | None, sizes: dict[str, int]) -> None:
    assert sizes_under_pressure(lengths, 16_000, wanted) == sizes


@given(st.lists(st.integers(0, 40_000), max_size=8), st.integers(2_000, 20_000), st.one_of(st.none(), st.integers(0, 100_000)))
def test_sizes_only_shrink_and_free_what_is_wanted_if_that_can_be(lengths: list[int], most: int, wanted: int | None) -> None:
    named = {str(at): length for at, length in enumerate(lengths)}
    sizes = sizes_under_pressure(named, most, wanted)
    every = sizes_under_pressure(named, most)
    freed, possible = (sum(named[id] - size for id, size in found.items()) for found in (sizes, every))
    assert all(KEPT <= size < named[id] for id, size in sizes.items())
    assert freed >= (possible if wanted is None else min(wanted, possible))
    if len(named) > 1 and all(length >= KEPT for length in lengths):
        assert sum({**named, **every}.values()) <= max(most, KEPT * len(named))


@given(st.lists(st.integers(0, 40_000), min_size=1, max_size=8), st.integers(2_000, 20_000), st.integers(2_000, 60_000))
def test_a_turn_is_held_to_its_cap_and_longer_results_never_get_less(lengths: list[int], one: int, turn: int) -> None:
    named = {str(at): length for at, length in enumerate(sorted(lengths))}
    sizes = {**named, **sizes_of_turn(named, Caps(one, turn))}
    assert sum(max(0, size - KEPT) for size in sizes.values()) <= turn
    assert all(size <= max(one, KEPT) for size in sizes.values())
    assert all(small <= large for small, large in pairwise(sizes.values()))
