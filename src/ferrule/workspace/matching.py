"""Where a piece of text stands in a file: exactly, else with other line endings, white space or typography."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from .endings import common_ending, fit_endings, fit_indentation, lines_of, unfolded

Level = Literal["exact", "line endings", "white space", "typography"]


def collapsed(line: str) -> str:
    """A line with every run of blanks as one."""
    return " ".join(line.split())


_TYPED = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    }
)


def typed(line: str) -> str:
    """A collapsed line with the quotation marks and dashes that a keyboard has."""
    return collapsed(line.translate(_TYPED))


KEYS: tuple[tuple[Level, Callable[[str], str]], ...] = (
    *(("exact", str), ("white space", str.strip), ("white space", collapsed)),
    ("typography", typed),
)
"""What makes two lines equal, the strictest first."""
LOOKED_AT = 200_000
"""Lines of a file among which the nearest region is searched."""


class Span(NamedTuple):
    start: int
    end: int


class Found(NamedTuple):
    """Non-overlapping places in order, and how much had to be overlooked to find them."""

    level: Level
    spans: tuple[Span, ...]


class Nearest(NamedTuple):
    """The region of the file most like what was searched: its first line (from 1), its lines, and the first difference.

    `at` is the file's line number of the difference; `has` and `wanted` are None behind the end of either text.
    """

    first: int
    lines: tuple[str, ...]
    at: int
    has: str | None
    wanted: str | None


def find(text: str, wanted: str) -> Found | None:
    """All places of the first level that has any."""
    if spans := _exact(text, wanted):
        return Found("exact", spans)
    if spans := _any_ending(text, wanted):
        return Found("line endings", spans)
    lines = lines_of(text)
    have = Haystack([line for line, _ in lines])
    for level, key in KEYS[1:]:
        if spans := _by_lines(lines, have, wanted, key):
            return Found(level, spans)
    return None


def rewrite(text: str, span: Span, wanted: str, new: str, level: Level) -> str:
    """What goes to `span` so that only what `new` changes against `wanted` changes in the file.

    Endings written as `\\r\\n` in either text are meant as they are, when the match was exact.
    """
    region = text[span.start : span.end]
    match level:
        case "exact" if "\r" in wanted or "\r" in new:
            return new
        case "white space" | "typography":
            new = _reindented(region, unfolded(wanted), unfolded(new))
        case _:
            new = unfolded(new)
    return fit_endings(new, region, text)


def line_number(text: str, position: int) -> int:
    """The line (from 1) in which a character stands."""
    return text.count("\n", 0, position) + 1


def nearest(text: str, wanted: str) -> Nearest | None:
    """The region that resembles `wanted` most, None when nothing does."""
    have = [line for line, _ in lines_of(text)][:LOOKED_AT]
    want = [line for line, _ in lines_of(wanted)]
    start = _likeliest(have, want)
    if start is None:
        return None
    region = have[start : start + len(want)]
    for offset, line in enumerate(want):
        own = region[offset] if offset < len(region) else None
        if own != line:
            return Nearest(start + 1, tuple(region), start + 1 + offset, own, line)
    return Nearest(start + 1, tuple(region), start + len(want) + 1, None, None)


def _exact(text: str, wanted: str) -> tuple[Span, ...]:
    spans: list[Span] = []
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        spans.append(Span(at, at + len(wanted)))
        at = text.find(wanted, at + len(wanted))
    return tuple(spans)


def _any_ending(text: str, wanted: str) -> tuple[Span, ...]:
    if "\n" not in wanted or (common_ending(text) == "\n" and "\r" not in text and "\r" not in wanted):
        return ()
    pattern = r"\r?\n".join(re.escape(line) for line in unfolded(wanted).split("\n"))
    return tuple(Span(*match.span()) for match in re.finditer(pattern, text))


def _by_lines(lines: Sequence[tuple[str, str]], have: "Haystack", wanted: str, key: Callable[[str], str]) -> tuple[Span, ...]:
    """Whole lines that are equal under a key, without overlaps."""
    want = [line for line, _ in lines_of(unfolded(wanted))]
    if not any(line.strip() for line in want):
        return ()
    starts = list(_starts(lines))
    closed = wanted.endswith("\n")
    spans: list[Span] = []
    free = 0
    for at in have.places(want, key):
        if at < free:
            continue
        free = at + len(want)
        line, ending = lines[at + len(want) - 1]
        end = starts[at + len(want) - 1] + len(line) + (len(ending) if closed else 0)
        spans.append(Span(starts[at], end))
    return tuple(spans)


def _starts(lines: Sequence[tuple[str, str]]) -> Iterator[int]:
    at = 0
    for line, ending in lines:
        yield at
        at += len(line) + len(ending)


class Haystack:
    """The lines of a file, in which many texts are searched: what a key makes of them is kept."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self._keyed: dict[Callable[[str], str], tuple[list[str], dict[str, list[int]]]] = {}

    def places(self, want: Sequence[str], key: Callable[[str], str]) -> list[int]:
        """Where the lines of `want` stand under a key, in order; places may overlap. The rarest line leads to them."""
        have, where = self._under(key)
        wanted = [key(line) for line in want]
        offset, rarest = min(enumerate(wanted), key=lambda each: len(where.get(each[1], ())))
        starts = (at - offset for at in where.get(rarest, ()))
        return [start for start in starts if start >= 0 and have[start : start + len(wanted)] == wanted]

    def _under(self, key: Callable[[str], str]) -> tuple[list[str], dict[str, list[int]]]:
        if key not in self._keyed:
            have = self.lines if key is str else [key(line) for line in self.lines]
            where: dict[str, list[int]] = {}
            for number, line in enumerate(have):
                where.setdefault(line, []).append(number)
            self._keyed[key] = have, where
        return self._keyed[key]


def _reindented(region: str, wanted: str, new: str) -> str:
    new_lines = lines_of(new)
    fitted = fit_indentation(
        [line for line, _ in lines_of(wanted)],
        [line for line, _ in lines_of(region)],
        [line for line, _ in new_lines],
    )
    return "".join(line + ending for line, (_, ending) in zip(fitted, new_lines, strict=True))


def _likeliest(have: Sequence[str], want: Sequence[str]) -> int | None:
    """The line (from 0) where most lines of `want` would stand in their places; else that of a line like its longest one."""
    wanted: dict[str, list[int]] = {}
    for offset, line in enumerate(want):
        if key := collapsed(line):
            wanted.setdefault(key, []).append(offset)
    votes: Counter[int] = Counter()
    for number, line in enumerate(have):
        for offset in wanted.get(collapsed(line), ())[:20]:
            votes[max(0, number - offset)] += len(line.strip())
    if votes:
        return max(votes, key=lambda start: (votes[start], -start))
    return _resembling(have, wanted)


def _resembling(have: Sequence[str], wanted: dict[str, list[int]]) -> int | None:
    from difflib import SequenceMatcher

    if not wanted:
        return None
    longest = max(wanted, key=len)[:500]
    matcher = SequenceMatcher(None, "", longest, autojunk=False)
    best, start = 0.6, None
    for number, line in enumerate(have[:20_000]):
        key = collapsed(line[:2_000])[:500]
        if not key or 2 * min(len(key), len(longest)) / (len(key) + len(longest)) <= best:
            continue
        matcher.set_seq1(key)
        if matcher.quick_ratio() > best and (ratio := matcher.ratio()) > best:
            best, start = ratio, max(0, number - wanted[max(wanted, key=len)][0])
    return start
