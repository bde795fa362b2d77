"""A reader who does what the notices say sees everything."""

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.store.blobs import FileBlobs
from tests.tools.bench import Bench

RUNS = st.tuples(st.sampled_from(["a", "é", "😀", " | ", "\t", "\f", "\r", "File: x"]), st.integers(1, 2_500))
LINES = st.lists(RUNS, max_size=2).map(lambda runs: "".join(text * count for text, count in runs))
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, st.lists(LINES, min_size=1, max_size=6), st.sampled_from(["", "\n"]))


def followed(bench: Bench, path: str, limit: int) -> list[str]:
    """The lines of a file, by the notices of one page after another."""
    lines: list[str] = []
    while True:
        head, shown = parts(bench.text("read_file", path=path, offset=len(lines) + 1, limit=limit))
        cut = re.search(r"^Cut at 2000 characters: line ([\d, ]+)\. .* column=(\d+)\.$", head, re.MULTILINE)
        for number, line in shown:
            assert number == len(lines) + 1
            lines.append(line)
            if cut and str(number) in cut[1].split(", "):
                lines[-1] += rest(bench, path, number, int(cut[2]))
        on = re.search(r"Go on with offset=(\d+) and limit=(\d+)\.", head)
        if on is None:
            return lines
        assert (int(on[1]), int(on[2])) == (len(lines) + 1, limit)


def rest(bench: Bench, path: str, line: int, column: int) -> str:
    text = ""
    while True:
        head, shown = parts(bench.text("read_file", path=path, offset=line, column=column))
        text += shown[0][1]
        on = re.search(rf"Go on with offset={line} and column=(\d+)\.", head)
        if on is None:
            assert f"The line ends here; go on with offset={line + 1}." in head
            return text
        column = int(on[1])


def parts(text: str) -> tuple[str, list[tuple[int, str]]]:
    """What stands before the numbered lines, and these."""
    lines = text.split("\n")
    numbered = [re.match(r" *(\d+) \| (.*)\Z", line, re.DOTALL) for line in lines]
    first = next((at for at, match in enumerate(numbered) if match), len(lines))
    return "\n".join(lines[:first]), [(int(match[1]), match[2]) for match in numbered[first:] if match]


@settings(max_examples=25, deadline=None)
@given(TEXTS, st.integers(1, 3))
def test_who_follows_the_notices_sees_the_exact_text(tmp_path: Path, text: str, limit: int) -> None:
    root = tmp_path.resolve()
    (root / "a").write_bytes(text.encode())
    *terminated, last = text.split("\n")
    expected = [*(line.removesuffix("\r") for line in terminated), *([last] if last else [])]
    assert followed(Bench(root, FileBlobs(tmp_path / "blobs")), "a", limit) == expected
