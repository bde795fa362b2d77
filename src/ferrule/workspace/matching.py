"""Where a piece of text stands in a file: exactly, else with other line endings, else with other white space."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from .endings import common_ending, fit_endings, fit_indentation, lines_of, unfolded

Level = Literal["exact", "line endings", "white space"]


def collapsed(line: str) -> str:
    """A line with every run of blanks as one."""
    return " ".join(line.split())


KEYS: tuple[tuple[Level, Callable[[str], str]], ...] = (("exact", str), ("white space", str.strip), ("white space", collapsed))
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
    if spans := _any_blanks(text, wanted):
        return Found("white space", spans)
    return None


def rewrite(text: str, span: Span, wanted: str, new: str, level: Level) -> str:
    """What goes to `span` so that only what `new` changes against `wanted` changes in the file.

    Endings written as `\\r\\n` in either text are meant as they are, when the match was exact.
    """
    region = text[span.start : span.end]
    match level:
        case "exact" if "\r" in wanted or "\r" in new:
            return new
        case "white space":
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


def _any_blanks(text: str, wanted: str) -> tuple[Span, ...]:
    """Whole lines that are equal but for indentation and trailing blanks, else but for any run of blanks."""
    return _by_lines(text, wanted, str.strip) or _by_lines(text, wanted, collapsed)


def _by_lines(text: str, wanted: str, key: Callable[[str], str]) -> tuple[Span, ...]:
    want = [key(line) for line, _ in lines_of(unfolded(wanted))]
    if not any(want):
        return ()
    lines = lines_of(text)
    have = [key(line) for line, _ in lines]
    starts = list(_starts(lines))
    closed = wanted.endswith("\n")
    spans: list[Span] = []
    for at in places(have, want):
        line, ending = lines[at + len(want) - 1]
        end = starts[at + len(want) - 1] + len(line) + (len(ending) if closed else 0)
        spans.append(Span(starts[at], end))
    return tuple(spans)


def _starts(lines: Sequence[tuple[str, str]]) -> Iterator[int]:
    at = 0
    for line, ending in lines:
        yield at
        at += len(line) + len(ending)


def places(have: Sequence[str], want: Sequence[str]) -> Iterator[int]:
    """Where `want` stands in `have`, without overlaps."""
    at, last = 0, len(have) - len(want)
    while at <= last:
        if have[at] == want[0] and list(have[at : at + len(want)]) == list(want):
            yield at
            at += len(want)
        else:
            at += 1


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
