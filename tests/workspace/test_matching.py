import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ferrule.workspace.matching import Found, Nearest, Span, find, line_number, nearest, rewrite

WORDS = st.text(st.sampled_from("ab =\t"), max_size=6)
ENDINGS = st.sampled_from(["\n", "\r\n"])
MIXED = st.lists(st.tuples(WORDS, ENDINGS), max_size=6).map(lambda lines: "".join(word + ending for word, ending in lines))


def edited(text: str, wanted: str, new: str) -> str:
    """The text after one edit, as the tool makes it."""
    found = find(text, wanted)
    assert found is not None
    (span,) = found.spans
    return text[: span.start] + rewrite(text, span, wanted, new, found.level) + text[span.end :]


@given(MIXED, MIXED, MIXED, MIXED)
def test_an_exact_edit_changes_nothing_outside_the_match(before: str, wanted: str, after: str, new: str) -> None:
    text = before + wanted + after
    assume(wanted and text.count(wanted) == 1 and text.find(wanted) == text.rfind(wanted))
    result = edited(text, wanted, new)
    assert result.startswith(before)
    assert result.endswith(after)


@settings(max_examples=200)
@given(MIXED, MIXED, MIXED, st.lists(WORDS, max_size=4), st.sampled_from(["crlf", "indent", "trailing"]))
def test_a_tolerant_edit_changes_only_whole_lines_of_the_match(
    before: str, region: str, after: str, new: list[str], how: str
) -> None:
    text = before + region + after
    lines = [line.rstrip("\r") for line in region.split("\n")[:-1]]
    wanted = {
        "crlf": "".join(f"{line}\n" for line in lines),
        "indent": "".join(f"  {line}\n" for line in lines),
        "trailing": "".join(f"{line.rstrip()} \n" for line in lines),
    }[how]
    found = find(text, wanted) if any(line.strip() for line in lines) else None
    assume(found is not None and len(found.spans) == 1)
    assert found is not None
    assume(found.spans[0].start == len(before) and found.spans[0].end == len(before) + len(region))
    result = edited(text, wanted, "".join(f"{line}\n" for line in new))
    assert result.startswith(before)
    assert result.endswith(after)


@given(st.lists(WORDS, max_size=4), st.lists(WORDS, min_size=1, max_size=3), st.lists(WORDS, min_size=1, max_size=3), ENDINGS)
def test_an_edit_and_its_reverse_give_the_original(around: list[str], old: list[str], new: list[str], ending: str) -> None:
    text = ending.join([*around, "<" + ending.join(old) + ">", *around, "end"])
    wanted, written = "<" + "\n".join(old) + ">", "<" + "\n".join(new) + ">"
    result = edited(text, wanted, written)
    assert result == ending.join([*around, "<" + ending.join(new) + ">", *around, "end"])
    assert edited(result, written, wanted) == text


@pytest.mark.parametrize(
    ("text", "wanted", "level", "spans"),
    [
        ("aXbXc", "X", "exact", [(1, 2), (3, 4)]),
        ("aaaa", "aa", "exact", [(0, 2), (2, 4)]),
        ("a\r\nb\r\n", "a\nb\n", "line endings", [(0, 6)]),
        ("a\nb\r\nc\n", "a\nb\nc", "line endings", [(0, 6)]),
        ("a\nb\n", "a\r\nb\r\n", "line endings", [(0, 4)]),
        ("xa\r\nby", "a\nb", "line endings", [(1, 5)]),
        ("\tif x:\n\t\ty\n", "    if x:\n        y\n", "white space", [(0, 11)]),
        ("a  =  1\n", "a = 1", "white space", [(0, 7)]),
        ("a  \nb\n", "a\nb", "white space", [(0, 5)]),
    ],
)
def test_the_first_level_that_matches_is_taken(text: str, wanted: str, level: str, spans: list[tuple[int, int]]) -> None:
    found = find(text, wanted)
    assert found is not None
    assert (found.level, [tuple(span) for span in found.spans]) == (level, spans)


@pytest.mark.parametrize(
    ("text", "wanted"), [("", "a"), ("abc", "x"), ("a\n\n\nb\n", "   "), ("ab\n", "a b\n"), ("a\nb\n", "a b"), ("a.c", "a?c")]
)
def test_what_is_not_there_is_not_found(text: str, wanted: str) -> None:
    assert find(text, wanted) is None


@pytest.mark.parametrize(
    ("text", "wanted", "new", "result"),
    [
        # a new line in a file with CRLF
        ("a\r\nb\r\nc\r\n", "b", "b\nB", "a\r\nb\r\nB\r\nc\r\n"),
        # mixed endings: shared lines keep theirs, new ones take the usual one of the region
        ("a\r\nb\nc\r\nd\r\n", "a\nb\nc\nd\n", "a\nb\nnew\nd\n", "a\r\nb\nnew\r\nd\r\n"),
        ("a\r\nb\r\nc\n", "a\nb\nc\n", "a\nB\nc\n", "a\r\nB\r\nc\n"),
        # endings that are written out are meant
        ("a\r\nb\r\n", "a\r\nb\r\n", "a\nb\n", "a\nb\n"),
        ("a\nb\n", "a\nb\n", "a\r\nb\r\n", "a\r\nb\r\n"),
        # no final line feed is added or taken
        ("a\nb", "b", "c", "a\nc"),
        ("a\nb", "b", "c\n", "a\nc\n"),
        # tabs for spaces, deeper and shallower lines
        (
            "def f():\n\tif x:\n\t\treturn 1\n",
            "    if x:\n        return 1\n",
            "    if x:\n        for y in x:\n            return y\n    return 2\n",
            "def f():\n\tif x:\n\t\tfor y in x:\n\t\t\treturn y\n\treturn 2\n",
        ),
        # one depth tells the unit when it is tabs for spaces; else the text is shifted
        ("\t\tx\n", "        x\n", "    if y:\n        x\n            z\n", "\tif y:\n\t\tx\n\t\t\tz\n"),
        ("    x\n", "        x\n", "        if x:\n            y\n    z\n", "    if x:\n        y\nz\n"),
        ("  a:\n    b\n", "    a:\n        b\n", "    a:\n        if b:\n            c\n", "  a:\n    if b:\n      c\n"),
        # the model left the indentation out
        ("class A:\n    def f(self):\n        pass\n", "def f(self):\n    pass\n", "def f(self):\n    return 1\n", None),
        # trailing blanks of lines that stay are kept
        ("a  \nb\t\nc\n", "a\nb\nc\n", "a\nB\nc\n", "a  \nB\nc\n"),
        # dollars and backslashes are text
        ("x\n", "x", r"\1 $& \g<0>", "\\1 $& \\g<0>\n"),
    ],
)
def test_the_file_keeps_its_own_endings_and_indentation(text: str, wanted: str, new: str, result: str | None) -> None:
    assert edited(text, wanted, new) == (result or "class A:\n    def f(self):\n        return 1\n")


def test_the_nearest_region_says_where_and_what_differs() -> None:
    text = "import os\n\ndef f(a):\n    x = 1\n    return x\n\ndef g():\n    pass\n"
    assert nearest(text, "def f(a):\n    x = 2\n    return x\n") == Nearest(
        3, ("def f(a):", "    x = 1", "    return x"), 4, "    x = 1", "    x = 2"
    )


def test_a_single_line_is_found_by_resemblance() -> None:
    text = "alpha beta gamma\nsomething else\n"
    assert nearest(text, "alpha betta gamma") == Nearest(1, ("alpha beta gamma",), 1, "alpha beta gamma", "alpha betta gamma")
    assert nearest(text, "zzzz") is None
    assert nearest("", "a") is None


def test_text_that_goes_on_behind_the_end_of_the_file_is_said() -> None:
    assert nearest("one line\n", "one line\nanother\n") == Nearest(1, ("one line",), 2, None, "another")


@pytest.mark.parametrize(("position", "line"), [(0, 1), (1, 1), (2, 2), (4, 3)])
def test_positions_have_line_numbers(position: int, line: int) -> None:
    assert line_number("a\n\r\nb", position) == line


@pytest.mark.parametrize(
    ("text", "wanted", "new", "result"),
    [
        ("“a”\nb\n", '"a"\nb\n', '"a"\nc\n', "“a”\nc\n"),
        ("x – y\n  it’s\nz\n", "x - y\n  it's\n", "x - y\n  it's\nmore\n", "x – y\n  it’s\nmore\nz\n"),
        ("a \nx\nm \ny\nz \n", "a\nx\nm\ny\nz\n", "a\nX\nm\nY\nz\n", "a \nX\nm \nY\nz \n"),
    ],
)
def test_lines_that_an_edit_repeats_keep_every_byte_wherever_they_stand(text: str, wanted: str, new: str, result: str) -> None:
    found = find(text, wanted)
    assert found is not None
    (span,) = found.spans
    assert text[: span.start] + rewrite(text, span, wanted, new, found.level) + text[span.end :] == result


def test_typography_is_overlooked_last() -> None:
    assert find("it’s\nit's\n", "it's\n") == Found("exact", (Span(5, 10),))
    assert find("it’s\n", "it's\n") == Found("typography", (Span(0, 5),))
    assert find("it’s\n", "it`s\n") is None
