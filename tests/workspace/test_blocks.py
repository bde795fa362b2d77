import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ferrule.workspace.blocks import Block, Malformed, apply, locate, parse_blocks

LINES = st.lists(st.text(st.sampled_from("ab \t<=>-\\"), max_size=8), max_size=5)


def written(*blocks: tuple[int | None, list[str], list[str]]) -> str:
    """Blocks as a model writes them, with every line that looks like a marker escaped."""
    out: list[str] = []
    for hint, search, replace in blocks:
        out += ["<<<<<<< SEARCH", *([f":start_line:{hint}"] if hint else []), "-------"]
        out += [_escaped(line) for line in search] + ["======="] + [_escaped(line) for line in replace] + [">>>>>>> REPLACE"]
    return "\n".join(out)


def _escaped(line: str) -> str:
    return f"\\{line}" if line.lstrip("\\").startswith(("<<<<<<<", "=======", ">>>>>>>", "-------")) else line


@given(st.integers(1, 99) | st.none(), LINES, LINES)
def test_blocks_are_read_as_they_were_written(hint: int | None, search: list[str], replace: list[str]) -> None:
    assert parse_blocks(written((hint, search, replace), (None, replace, search))) == (
        Block(1, hint, tuple(search), tuple(replace)),
        Block(2, None, tuple(replace), tuple(search)),
    )


@pytest.mark.parametrize("marker", ["<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "-------", ":start_line:3", "<<<<<<< HEAD"])
def test_a_line_that_looks_like_a_marker_is_escaped(marker: str) -> None:
    diff = f"<<<<<<< SEARCH\n-------\n\\{marker}\n=======\n\\{marker}\nx\n>>>>>>> REPLACE"
    assert parse_blocks(diff) == (Block(1, None, (marker,), (marker, "x")),)


@pytest.mark.parametrize(
    "diff",
    [
        "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE",
        "<<<<<<< SEARCH>\na\n=======\nb\n>>>>>>> REPLACE\n",
        "```diff\n<<<<<<< SEARCH\n-------\na\n=======\nb\n>>>>>>> REPLACE\n```\n",
        "\r\n<<<<<<< SEARCH\r\n:end_line:9\r\na\r\n=======  \r\nb\r\n>>>>>>> REPLACE \r\n",
    ],
)
def test_harmless_variants_are_read(diff: str) -> None:
    assert parse_blocks(diff) == (Block(1, None, ("a",), ("b",)),)


@pytest.mark.parametrize(
    ("diff", "said"),
    [
        ("", "there is no block"),
        ("--- a/x\n+++ b/x\n", "line 1: expected `<<<<<<< SEARCH`, got '--- a/x'"),
        ("<<<<<<< SEARCH\na\n", "block 1 is not finished: `=======` is missing"),
        ("<<<<<<< SEARCH\na\n=======\nb", "block 1 is not finished: `>>>>>>> REPLACE` is missing"),
        ("<<<<<<< SEARCH\na\n>>>>>>> REPLACE", "line 3: `>>>>>>> REPLACE` inside block 1, where `=======` must come first"),
        ("<<<<<<< SEARCH\na\n=======\nb\n=======\n", "line 5: `=======` inside block 1, where `>>>>>>> REPLACE` must come first"),
        ("<<<<<<< SEARCH\na\n=======\n<<<<<<< SEARCH\n", "line 4: `<<<<<<< SEARCH` inside block 1"),
    ],
)
def test_what_is_malformed_is_explained(diff: str, said: str) -> None:
    with pytest.raises(Malformed) as raised:
        parse_blocks(diff)
    assert said in str(raised.value)


def applied(text: str, *blocks: tuple[int | None, list[str], list[str]]) -> tuple[str, list[str]]:
    placed, refused = locate(text, [Block(n, hint, tuple(s), tuple(r)) for n, (hint, s, r) in enumerate(blocks, 1)])
    return apply(text, placed), [refusal.reason for refusal in refused]


TEN = "".join(f"{word}\n" for word in "a x b x c x d x e x".split())  # noqa: SIM905 the positions read better so


@pytest.mark.parametrize(
    ("text", "blocks", "result"),
    [
        ("a\nb\nc\n", [(None, ["b"], ["B", "BB"]), (None, ["a"], [])], "B\nBB\nc\n"),
        (TEN, [(4, ["x"], ["Y"])], TEN.replace("b\nx", "b\nY")),
        (TEN, [(8, ["x"], ["Y"]), (2, ["x"], ["1", "2"])], TEN.replace("d\nx", "d\nY").replace("a\nx", "a\n1\n2")),
        ("a\r\nb\nc\r\n", [(None, ["a", "b", "c"], ["a", "new", "c"])], "a\r\nnew\r\nc\r\n"),
        ("a\nb", [(None, ["b"], ["c"])], "a\nc"),
        ("a\nb", [(None, ["a", "b"], ["c", "d"])], "c\nd"),
        ("\tif x:\n\t\ty\n", [(None, ["    if x:", "        y"], ["    if x:", "        z"])], "\tif x:\n\t\tz\n"),
        # what differs in white space at the hint is meant rather than what is equal far away
        ("  a\n" + "-\n" * 100 + "a\n", [(1, ["a"], ["b"])], "  b\n" + "-\n" * 100 + "a\n"),
        # a wrong hint does no harm to what is unique
        ("a\n" + "-\n" * 100, [(90, ["a"], ["b"])], "b\n" + "-\n" * 100),
    ],
)
def test_each_block_finds_its_place(text: str, blocks: list[tuple[int | None, list[str], list[str]]], result: str) -> None:
    assert applied(text, *blocks) == (result, [])


@pytest.mark.parametrize(
    ("text", "blocks", "result", "reasons"),
    [
        ("a\n", [(None, ["z"], ["y"]), (None, ["a"], ["b"])], "b\n", ["its SEARCH part is not in the file."]),
        ("a\na\n", [(None, ["a"], ["b"])], None, ["its SEARCH part occurs 2 times (lines 1, 2); add lines or `:start_line:`."]),
        ("a\n-\na\n", [(2, ["a"], ["b"])], None, ["its SEARCH part occurs 2 times (lines 1, 3); add lines or `:start_line:`."]),
        (
            "a\n",
            [(None, [], ["b"])],
            None,
            ["its SEARCH part is empty; to insert lines, search for a neighbouring line and repeat it."],
        ),
        ("a\n", [(None, ["a"], ["a"])], None, ["its SEARCH and REPLACE parts are identical."]),
        ("a\nb\n", [(None, ["a", "b"], ["c"]), (None, ["b"], ["d"])], "c\n", ["its lines overlap those of block 1."]),
    ],
)
def test_a_block_without_a_place_says_why_and_the_others_are_applied(
    text: str, blocks: list[tuple[int | None, list[str], list[str]]], result: str | None, reasons: list[str]
) -> None:
    assert applied(text, *blocks) == (text if result is None else result, reasons)


@given(LINES, LINES, LINES, LINES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_blocks_and_their_reverse_give_the_original(
    around: list[str], old: list[str], new: list[str], between: list[str], ending: str, closed: bool
) -> None:
    assume(old != new)
    text = ending.join([*around, "{1", *old, "1}", *between, "{2", *old, "2}"]) + (ending if closed else "")
    blocks = [(None, [f"{{{n}", *old, f"{n}}}"], [f"{{{n}", *new, f"{n}}}"]) for n in (1, 2)]
    result, refused = applied(text, *blocks)
    assert refused == []
    assert result == ending.join([*around, "{1", *new, "1}", *between, "{2", *new, "2}"]) + (ending if closed else "")
    assert applied(result, *[(None, replace, search) for _, search, replace in blocks]) == (text, [])


def test_a_hint_may_mean_a_place_that_overlaps_another_one() -> None:
    text = "a\na\na\nb\n"
    placed, refused = locate(text, parse_blocks(written((2, ["a", "a"], ["c"]))))
    assert (apply(text, placed), refused) == ("a\nc\nb\n", ())


def test_typographic_characters_of_the_file_stay() -> None:
    text = "“a” – b\nx\n"
    placed, _ = locate(text, parse_blocks(written((None, ['"a" - b', "x"], ['"a" - b', "y"]))))
    assert (apply(text, placed), placed[0].level) == ("“a” – b\ny\n", "typography")
