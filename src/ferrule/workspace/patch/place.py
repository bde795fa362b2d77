"""Where the hunks of a patch belong in a text, and the text with all of them applied."""

from bisect import bisect_right
from collections.abc import Callable, Sequence

from msgspec import Struct

from ferrule.workspace.endings import common_ending, fit_indentation, lines_of
from ferrule.workspace.matching import KEYS, Haystack, Level

from .model import Hunk

NEAR = 40
"""Lines around the one that a hunk names in which a place is taken although its lines occur elsewhere too."""
LISTED = 20


class Placed(Struct, frozen=True):
    """A hunk's old lines are those from `at` (from 0). `literal`: its lines tell carriage returns as they are in the file."""

    hunk: Hunk
    at: int
    level: Level
    literal: bool = False

    @property
    def end(self) -> int:
        return self.at + len(self.hunk.old)


class Refused(Struct, frozen=True):
    """`missing` is set when the hunk's old lines are not in the file at all."""

    hunk: Hunk
    reason: str
    missing: bool = False


def place(text: str, hunks: Sequence[Hunk]) -> tuple[tuple[Placed, ...], tuple[Refused, ...]]:
    """The place of each hunk in the unchanged text, in the order of the text, and the hunks that have none."""
    places = _Places(text)
    placed: list[Placed] = []
    refused: list[Refused] = []
    literal = any(line.text.endswith("\r") for hunk in hunks for line in hunk.lines)
    after = 0
    for hunk in hunks:
        found = places.of(hunk, after, literal)
        if isinstance(found, Refused):
            refused.append(found)
            continue
        index = bisect_right(placed, _order(found), key=_order)
        if any(_overlap(found, neighbour) for neighbour in placed[max(0, index - 1) : index + 1]):
            refused.append(Refused(hunk, "its lines overlap those of another hunk."))
            continue
        placed.insert(index, found)
        after = found.end
    return tuple(placed), tuple(refused)


def apply(text: str, placed: Sequence[Placed]) -> str:
    """The text with the hunks, which are in order and do not overlap, applied. Lines that no hunk changes keep every byte.

    Whether a line feed ends the text stays as it is, where no hunk says otherwise.
    """
    lines = lines_of(text)
    pieces: list[tuple[str, str]] = []
    at = 0
    for each in placed:
        pieces += lines[at : each.at]
        pieces += _replacement(lines, each, text)
        at = each.end
    pieces += lines[at:]
    if pieces and lines and not lines[-1][1] and not _tells_the_end(placed):
        pieces[-1] = (pieces[-1][0], "")
    usual = common_ending(text) or "\n"
    pieces[:-1] = [(line, ending or usual) for line, ending in pieces[:-1]]
    return "".join(line + ending for line, ending in pieces)


def _tells_the_end(placed: Sequence[Placed]) -> bool:
    return any(not line.ended for each in placed for line in each.hunk.lines)


class _Places:
    def __init__(self, text: str) -> None:
        lines = lines_of(text)
        self.plain = Haystack([line for line, _ in lines])
        self.exact = Haystack([line + ending.removesuffix("\n") for line, ending in lines])
        self.count = len(lines)

    def of(self, hunk: Hunk, after: int, literal: bool) -> Placed | Refused:
        """`after` is the line behind the hunk before, where the order of a patch lets this one be looked for first."""
        if not hunk.old:
            return self._inserted(hunk, literal)
        if literal and isinstance(found := self._found(hunk, after, self.exact, KEYS[:1], True), Placed):
            return found
        return self._found(hunk, after, self.plain, KEYS, False)

    def _found(
        self, hunk: Hunk, after: int, lines: Haystack, keys: Sequence[tuple[Level, Callable[[str], str]]], literal: bool
    ) -> Placed | Refused:
        old = hunk.old if literal else tuple(line.removesuffix("\r") for line in hunk.old)
        for level, key in keys:
            starts = lines.places(old, key) if any(map(str.strip, old)) or level == "exact" else []
            chosen = self._chosen(hunk, starts, after)
            if len(chosen) == 1:
                return Placed(hunk, chosen[0], level, literal)
            if chosen:
                listed = ", ".join(str(start + 1) for start in chosen[:LISTED])
                more = "add lines around it, or `@@ LINE` with a line that comes before it"
                return Refused(hunk, f"its lines occur {len(chosen)} times (lines {listed}); {more}.")
        if hunk.anchors and lines.places(old, str.strip):
            return Refused(hunk, f"its lines do not come after `@@ {hunk.anchors[-1][:200]}`.")
        return Refused(hunk, "its lines are not in the file.", missing=True)

    def _chosen(self, hunk: Hunk, starts: list[int], after: int) -> list[int]:
        """The starts that what the hunk says of its place leaves; several where it says too little."""
        if hunk.at_end and (last := [start for start in starts if start + len(hunk.old) == self.count]):
            return last
        if hunk.hint is not None:
            return _nearest(starts, hunk.hint - 1)
        if hunk.anchors:
            firsts = (next((start for start in starts if start > anchor), None) for anchor in self._anchored(hunk))
            return sorted({first for first in firsts if first is not None})
        return [start for start in starts if start >= after] or starts

    def _anchored(self, hunk: Hunk) -> list[int]:
        """The lines that the last anchor may mean: each comes after the anchors before it."""
        found = [-1]
        for anchor in hunk.anchors:
            lines = next((lines for _, key in KEYS if (lines := self.plain.places([anchor], key))), [])
            found = [line for line in lines if line > found[0]] if found else []
        return found

    def _inserted(self, hunk: Hunk, literal: bool) -> Placed | Refused:
        if hunk.hint is not None and not hunk.at_end:
            if hunk.hint > self.count:
                return Refused(hunk, f"the file has no line {hunk.hint}.")
            return Placed(hunk, hunk.hint, "exact", literal)
        if not hunk.anchors:
            return Placed(hunk, self.count, "exact", literal)
        anchored = self._anchored(hunk)
        if len(anchored) == 1:
            return Placed(hunk, anchored[0] + 1, "exact", literal)
        if not anchored:
            return Refused(hunk, f"there is no line `{hunk.anchors[-1][:200]}`.")
        listed = ", ".join(str(line + 1) for line in anchored[:LISTED])
        return Refused(hunk, f"`@@ {hunk.anchors[-1][:200]}` occurs {len(anchored)} times (lines {listed}).")


def _nearest(starts: list[int], wanted: int) -> list[int]:
    """A place near the wanted line, else the only one there is; several where no place is nearer than all others."""
    if len(starts) < 2:
        return starts
    distance = {start: abs(start - wanted) for start in starts}
    closest = min(distance.values())
    return [start for start in starts if distance[start] == closest] if closest <= NEAR else starts


def _order(placed: Placed) -> tuple[int, int]:
    return placed.at, placed.end


def _overlap(one: Placed, other: Placed) -> bool:
    return one.at < other.end and other.at < one.end


def _replacement(lines: Sequence[tuple[str, str]], placed: Placed, text: str) -> list[tuple[str, str]]:
    """The lines in the place of the hunk's old ones, each with its ending: added ones as the patch has them, indented as the file
    is, the others as they are."""
    hunk, at = placed.hunk, placed.at
    added = iter(_added(lines, placed))
    usual = common_ending("".join(line + ending for line, ending in lines[at : placed.end])) or common_ending(text) or "\n"
    pieces: list[tuple[str, str]] = []
    given: list[str] = []
    for line in hunk.lines:
        match line.sign:
            case " ":
                pieces.append(lines[at])
                given.clear()
                at += 1
            case "-":
                given.append(lines[at][1] or usual)
                at += 1
            case "+":
                ending = "\n" if placed.literal else given.pop(0) if given else usual
                pieces.append((next(added), ending))
    if pieces and at == len(lines) and not next(line for line in reversed(hunk.lines) if line.sign != "-").ended:
        pieces[-1] = (pieces[-1][0], "")
    return pieces


def _added(lines: Sequence[tuple[str, str]], placed: Placed) -> list[str]:
    hunk = placed.hunk
    new = [line if placed.literal else line.removesuffix("\r") for line in hunk.new]
    if placed.level != "exact":
        new = fit_indentation(hunk.old, [line for line, _ in lines[placed.at : placed.end]], new)
    signs = [line.sign for line in hunk.lines if line.sign != "-"]
    return [text for sign, text in zip(signs, new, strict=True) if sign == "+"]
