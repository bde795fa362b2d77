"""Any edit followed by its inverse gives back the exact bytes, whatever the file is written in."""

from collections.abc import Callable
from difflib import SequenceMatcher, unified_diff
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ferrule.workspace.encoding import LATIN, MARKED, UTF_8, WINDOWS, Encoding, decode

from .bench import Bench

LINES = st.lists(
    st.sampled_from(
        ["a", "b", "", "  c", "d  ", "\te", "-- x", "++ y", "```", "&lt;$1", "é", "<<<<<<< SEARCH", "=======", "@@ x"]
    ),
    min_size=1,
    max_size=9,
)
ENDINGS = st.sampled_from(["\n", "\r\n"])
ENCODINGS = st.sampled_from([UTF_8, WINDOWS, LATIN, *MARKED])
FINAL = st.booleans()

Way = Callable[[Bench, list[str], list[str], str, str], str]


def unified(bench: Bench, old: list[str], new: list[str], end: str, context: str) -> str:
    lines = unified_diff([f"{line}\n" for line in old], [f"{line}\n" for line in new], "a/f", "b/f", n=int(context))
    return bench.text("apply_patch", patch="".join(lines))


def hunk(bench: Bench, old: list[str], new: list[str], end: str, context: str) -> str:
    """Every line of both, which needs no numbers."""
    removed, added = ("".join(f"{sign}{line}\n" for line in lines) for sign, lines in (("-", old), ("+", new)))
    return bench.text("apply_patch", patch=f"*** Begin Patch\n*** Update File: f\n@@\n{removed}{added}*** End Patch\n")


def blocks(bench: Bench, old: list[str], new: list[str], end: str, context: str) -> str:
    """One block for each change, with its line; inserted lines take the line before or behind them along."""
    found: list[str] = []
    for tag, at, to, start, stop in _changes(old, new):
        assert tag
        search, replaced = old[at:to], new[start:stop]
        assume(any(line.strip() for line in search))
        found.append(
            f"<<<<<<< SEARCH\n:start_line:{at + 1}\n-------\n{_block(search)}=======\n{_block(replaced)}>>>>>>> REPLACE\n"
        )
    return bench.text("apply_diff", path="f", diff="".join(found))


def _changes(old: list[str], new: list[str]) -> list[tuple[str, int, int, int, int]]:
    changes = [list(op) for op in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if op[0] != "equal"]
    for change in changes:
        while not any(line.strip() for line in old[change[1] : change[2]]) and change[2] < len(old):
            change[2] += 1
            change[4] += 1
        while not any(line.strip() for line in old[change[1] : change[2]]) and change[1]:
            change[1] -= 1
            change[3] -= 1
    assume(all(one[2] <= other[1] for one, other in pairwise(changes)))
    return [(str(tag), int(a), int(b), int(c), int(d)) for tag, a, b, c, d in changes]


def _block(lines: list[str]) -> str:
    return "".join(f"\\{line}\n" if line.startswith(("<<<<<<<", "=======", "\\")) else f"{line}\n" for line in lines)


def strings(bench: Bench, old: list[str], new: list[str], end: str, context: str) -> str:
    return bench.text("edit", file_path="f", old_string="\n".join(old), new_string="\n".join(new))


@pytest.mark.parametrize("way", [unified, hunk, blocks, strings])
@settings(max_examples=60)
@given(LINES, LINES, ENDINGS, ENCODINGS, FINAL, st.sampled_from(["0", "1", "3"]))
def test_there_and_back(
    bench: Bench, way: Way, old: list[str], new: list[str], end: str, encoding: Encoding, final: bool, context: str
) -> None:
    assume(old != new)
    # A text that ends in an empty line without a line feed is the same as one without that line.
    assume(final or (old[-1] and new[-1]))
    # The first line shows how lines end here.
    old, new = ["head", *old], ["head", *new]
    before, after = (encoding.encode(end.join(lines) + end * final) for lines in (old, new))
    assume(all(decode(data) is not None and decode(data)[1] == encoding for data in (before, after)))  # type: ignore[index]  # checked before
    session = Bench(bench.root, bench.blobs)
    (bench.root / "f").write_bytes(before)
    (bench.root / "f").chmod(0o751)
    way(session, old, new, end, context)
    assert (bench.root / "f").read_bytes() == after
    way(session, new, old, end, context)
    assert (bench.root / "f").read_bytes() == before
    assert (bench.root / "f").stat().st_mode & 0o777 == 0o751
