import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.review.diff_tool import PAGE_CHARACTERS, diff_tool
from ferrule.review.generated import why_not_by_hand
from ferrule.review.subject import FILE_CHARACTERS, LINE_CHARACTERS, TOTAL_CHARACTERS, Place, file_part, show
from ferrule.workspace.diff.model import Diff, File, Hunk, Line

from .staged import added, called, said

MORE = re.compile(r"\nMore follows\. Go on with hunk=(\d+), line=(\d+)\.\Z")


def changed(sizes: list[tuple[int, int]], length: int, path: str = "a.py") -> File:
    """Hunks of so many deleted and added lines, each line with its number in its text."""
    hunks: list[Hunk] = []
    old = new = 1
    for index, (gone, come) in enumerate(sizes):
        lines = [Line("deleted", old + n, None, f"d{old + n}" + "x" * length) for n in range(gone)]
        lines += [Line("added", None, new + n, f"a{new + n}" + "y" * length) for n in range(come)]
        hunks.append(Hunk(index, old, gone, new, come, "def f():", tuple(lines)))
        old, new = old + gone + 10, new + come + 10
    return File("modified", path, path, 0o100644, 0o100644, "1" * 40, "2" * 40, tuple(hunks))


SIZES = st.lists(st.tuples(st.integers(0, 400), st.integers(1, 400)), min_size=1, max_size=6)


@settings(max_examples=40)
@given(SIZES, st.sampled_from([0, 40, 400, LINE_CHARACTERS - 10, LINE_CHARACTERS * 2]))
def test_every_line_of_every_hunk_can_be_read_page_by_page(sizes: list[tuple[int, int]], length: int) -> None:
    file = changed(sizes, length)
    tool = diff_tool(Diff((file,)))
    hunk, line, seen = 1, 1, ""
    for _ in range(10_000):
        text = said(called(tool, path="a.py", hunk=hunk, line=line))
        assert len(text) <= PAGE_CHARACTERS + LINE_CHARACTERS + 500
        seen += text + "\n"
        more = MORE.search(text)
        if more is None:
            break
        following = int(more[1]), int(more[2])
        assert following > (hunk, line)
        hunk, line = following
    else:
        pytest.fail("paging never ended")
    words = re.findall(r"(?m)^.*[+-]([ad]\d+)[xy]*(?:… \(\d+ more characters\))?$", seen)
    assert words == [re.match(r"[ad]\d+", line.text)[0] for each in file.hunks for line in each.lines]  # type: ignore[index]  # all begin so


@settings(max_examples=40)
@given(st.lists(SIZES, min_size=1, max_size=12), st.sampled_from([0, 80, 800]))
def test_what_is_shown_stays_within_the_budgets_and_the_rest_begins_where_it_ends(
    files: list[list[tuple[int, int]]], length: int
) -> None:
    made = [changed(sizes, length, f"f{number}.py") for number, sizes in enumerate(files)]
    shown, text, rest = show(made, {})
    assert [each.path for each in shown] == [file.path for file in made]
    assert len(text) <= TOTAL_CHARACTERS + 2 * LINE_CHARACTERS
    assert {each.path for each in shown if each.how != "full"} == set(rest)
    for file, each in zip(made, shown, strict=True):
        block = text.partition(f"=== {file.path}: ")[2].partition("\n=== ")[0]
        lines = [line for hunk in file.hunks for line in hunk.lines]
        place = rest.get(file.path)
        before = len(lines) if place is None else sum(len(hunk.lines) for hunk in file.hunks[: place.hunk]) + place.line
        assert [line.text in block for line in (lines[:1], lines[before - 1 : before])[before > 0]] == [before > 0]
        assert len(block) <= FILE_CHARACTERS + LINE_CHARACTERS
        assert {"full": place is None, "partial": before > 0, "skipped": place == Place(0, 0)}[each.how]


def test_a_part_tells_hunks_numbers_and_where_it_begins() -> None:
    file = changed([(1, 2), (1, 1)], 0)
    assert file_part(file, 10_000).text == (
        "=== a.py: modified\n"
        "@@ hunk 1 of 2 @@ def f():\n"
        " 1    -d1\n"
        "    1 +a1\n"
        "    2 +a2\n"
        "@@ hunk 2 of 2 @@ def f():\n"
        "12    -d12\n"
        "   13 +a13"
    )
    part = file_part(file, 10_000, Place(0, 2))
    assert part.text.startswith(
        "=== a.py: modified\n@@ hunk 1 of 2, from its line 3 of 3 @@ def f():\n    2 +a2\n@@ hunk 2 of 2 @@"
    )
    assert (part.following, file_part(file, 1).following) == (None, Place(0, 1))


def test_a_rename_and_a_mode_are_told_without_lines() -> None:
    moved = File("renamed", "a.sh", "b.sh", 0o100644, 0o100755, "1" * 40, "1" * 40)
    assert file_part(moved, 1000).text == "=== b.sh (was a.sh): renamed, mode 100644 → 100755"
    shown, _, rest = show([moved], {})
    assert ([each.how for each in shown], rest) == (["full"], {})


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"path": "gone.py"}, "gone.py is not in the diff. Its files: a.py, b.sh."),
        ({"path": "b.sh"}, "b.sh has no lines in the diff."),
        ({"path": "a.py", "hunk": 0}, "`hunk` counts from 1 to 1 here, got 0."),
        ({"path": "a.py", "hunk": 2}, "`hunk` counts from 1 to 1 here, got 2."),
        ({"path": "a.py", "line": 4}, "`line` counts from 1 to 3 in hunk 1, got 4."),
        ({"path": "a.py", "line": -1}, "`line` counts from 1 to 3 in hunk 1, got -1."),
    ],
)
def test_what_is_not_in_the_diff_is_refused_with_what_is(arguments: dict[str, object], named: str) -> None:
    moved = File("renamed", "a.sh", "b.sh", 0o100644, 0o100755, "1" * 40, "1" * 40)
    output = called(diff_tool(Diff((added("a.py", ["x", "y", "z"]), moved))), **arguments)
    assert (output.kind, said(output)) == ("error", named)


@pytest.mark.parametrize(
    ("path", "attributes", "content", "why"),
    [
        ("a.py", {}, b"import os\n", None),
        ("a.py", {}, None, None),
        ("a.py", {"linguist-generated": "set"}, b"", "generated, says .gitattributes"),
        ("a.py", {"linguist-generated": "true"}, b"", "generated, says .gitattributes"),
        ("a.py", {"linguist-vendored": "set"}, b"", "vendored, says .gitattributes"),
        ("yarn.lock", {"linguist-generated": "unset"}, b"", None),
        ("vendor/a.py", {"linguist-vendored": "false"}, b"@generated", None),
        ("sub/uv.lock", {}, b"", "a lock file"),
        ("my-uv.lock", {}, b"", None),
        ("third_party/x.c", {}, b"", "vendored, by its folder"),
        ("a/node_modules/x.js", {}, b"", "vendored, by its folder"),
        ("vendors/x.c", {}, b"", None),
        ("vendor", {}, b"", None),
        ("app.min.js", {}, b"", "generated, by its name"),
        ("x_pb2.py", {}, b"", "generated, by its name"),
        ("a.go", {}, b"// Code generated by protoc-gen-go. DO NOT EDIT.\n", "generated, says its head"),
        ("a.py", {}, b"# @generated\n", "generated, says its head"),
        ("a.py", {}, b"x\n" * 600 + b"# @generated\n", None),
        ("a.py", {}, b"# do not edit the wall\n", None),
    ],
)
def test_what_nobody_wrote_by_hand_is_recognised(
    path: str, attributes: dict[str, str], content: bytes | None, why: str | None
) -> None:
    assert why_not_by_hand(path, attributes, content) == why
