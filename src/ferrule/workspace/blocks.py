"""SEARCH/REPLACE blocks: reading them, finding their places in a file, and applying those that have one."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from .endings import fit_endings, fit_indentation, lines_of, unfolded
from .matching import KEYS, Haystack, Level

NEAR = 40
"""Lines around `:start_line:` in which a place is taken even when the text occurs elsewhere too."""

SHAPE = """<<<<<<< SEARCH
:start_line:LINE
-------
lines as they are in the file
=======
lines that replace them
>>>>>>> REPLACE"""

_SEARCH = re.compile(r"<{7} SEARCH>?\s*\Z")
_MIDDLE = re.compile(r"={7}\s*\Z")
_REPLACE = re.compile(r">{7} REPLACE\s*\Z")
_START = re.compile(r":start_line:\s*(\d+)\s*\Z")
_END = re.compile(r":end_line:\s*\d+\s*\Z")
_RULE = re.compile(r"-{7}\s*\Z")
_ESCAPED = re.compile(r"\\(?=<{7}|={7}|>{7}|-{7}|:start_line:|:end_line:)")


class Malformed(Exception):
    """A diff that does not consist of blocks; the text says where and why."""


class Block(NamedTuple):
    """`number` counts from 1; `hint` is the line (from 1) where the text should stand."""

    number: int
    hint: int | None
    search: tuple[str, ...]
    replace: tuple[str, ...]


class Place(NamedTuple):
    """Where a block's text stands: its first line (from 0)."""

    block: Block
    at: int
    level: Level


class Refused(NamedTuple):
    """`missing` is set when the text is not in the file at all."""

    block: Block
    reason: str
    missing: bool = False


def parse_blocks(diff: str) -> tuple[Block, ...]:
    """The blocks in order; raises Malformed."""
    reader = _Reader()
    for number, line in enumerate(unfolded(diff).split("\n"), 1):
        reader.take(number, line)
    return reader.finished()


def locate(text: str, blocks: Sequence[Block]) -> tuple[tuple[Place, ...], tuple[Refused, ...]]:
    """The place of each block in the unchanged text, and the blocks that have none or whose place is taken."""
    lines = Haystack([line for line, _ in lines_of(text)])
    placed: list[Place] = []
    refused: list[Refused] = []
    for block in blocks:
        found = _locate(lines, block)
        if isinstance(found, Place) and (other := next((p for p in placed if _overlap(p, found)), None)):
            found = Refused(block, f"its lines overlap those of block {other.block.number}.")
        if isinstance(found, Place):
            placed.append(found)
        else:
            refused.append(found)
    return tuple(sorted(placed, key=lambda place: place.at)), tuple(refused)


def apply(text: str, placed: Sequence[Place]) -> str:
    """The text with the places, which are in order and do not overlap, replaced. It ends with a line feed if it did before."""
    lines = lines_of(text)
    pieces: list[str] = []
    at = 0
    for place in placed:
        end = place.at + len(place.block.search)
        pieces += [_joined(lines[at : place.at]), _replacement(lines[place.at : end], place, text)]
        at = end
    result = "".join([*pieces, _joined(lines[at:])])
    if placed and at == len(lines) and not lines[-1][1] and not placed[-1].block.replace:
        return result.removesuffix("\n").removesuffix("\r")
    return result


def _replacement(found: Sequence[tuple[str, str]], place: Place, text: str) -> str:
    new: Sequence[str] = place.block.replace
    if place.level != "exact":
        new = fit_indentation(place.block.search, [line for line, _ in found], new)
    if not new:
        return ""
    fitted = fit_endings("\n".join(new) + "\n", _joined(found), text)
    return fitted if found[-1][1] else fitted.removesuffix("\n").removesuffix("\r")


def _joined(lines: Sequence[tuple[str, str]]) -> str:
    return "".join(line + ending for line, ending in lines)


def _locate(lines: Haystack, block: Block) -> Place | Refused:
    if not any(line.strip() for line in block.search):
        return Refused(block, "its SEARCH part is empty; to insert lines, search for a neighbouring line and repeat it.")
    if block.search == block.replace:
        return Refused(block, "its SEARCH and REPLACE parts are identical.")
    several: tuple[Level, list[int]] | None = None
    for near in (True, False):
        for level, key in KEYS:
            starts = lines.places(block.search, key)
            if near:
                starts = _nearest(starts, block.hint)
            if len(starts) == 1:
                return Place(block, starts[0], level)
            if starts and several is None:
                several = level, starts
            if starts and not near:
                break
    if several is None:
        return Refused(block, "its SEARCH part is not in the file.", missing=True)
    listed = ", ".join(str(start + 1) for start in several[1][:20])
    return Refused(block, f"its SEARCH part occurs {len(several[1])} times (lines {listed}); add lines or `:start_line:`.")


def _nearest(starts: Sequence[int], hint: int | None) -> list[int]:
    """The starts that are closest to the hint and near it; two when they are equally far."""
    if hint is None:
        return []
    distance = {start: abs(start + 1 - hint) for start in starts}
    closest = min(distance.values(), default=NEAR + 1)
    return [start for start in starts if distance[start] == closest] if closest <= NEAR else []


def _overlap(one: Place, other: Place) -> bool:
    return one.at < other.at + len(other.block.search) and other.at < one.at + len(one.block.search)


class _Reader:
    """A state machine over the lines of a diff."""

    def __init__(self) -> None:
        self._state = "outside"
        self._blocks: list[Block] = []
        self._clear()

    def _clear(self) -> None:
        self._hint: int | None = None
        self._search: list[str] = []
        self._replace: list[str] = []

    def take(self, number: int, line: str) -> None:
        match self._state:
            case "outside":
                self._outside(number, line)
            case "replace":
                self._in_replace(number, line)
            case _:
                self._in_search(number, line)

    def finished(self) -> tuple[Block, ...]:
        if self._state != "outside":
            wanted = ">>>>>>> REPLACE" if self._state == "replace" else "======="
            raise Malformed(f"block {len(self._blocks) + 1} is not finished: `{wanted}` is missing.")
        if not self._blocks:
            raise Malformed("there is no block in it.")
        return tuple(self._blocks)

    def _outside(self, number: int, line: str) -> None:
        if _SEARCH.match(line):
            self._state = "head"
        elif line.strip() and not line.startswith("```"):
            raise Malformed(f"line {number}: expected `<<<<<<< SEARCH`, got {line[:100]!r}.")

    def _in_search(self, number: int, line: str) -> None:
        if self._state == "head":
            if start := _START.match(line):
                self._hint = int(start[1])
                return
            if _END.match(line):
                return
            if _RULE.match(line):
                self._state = "search"
                return
        self._state = "search"
        if _MIDDLE.match(line):
            self._state = "replace"
        elif _SEARCH.match(line) or _REPLACE.match(line):
            raise self._stray(number, line, "=======")
        else:
            self._search.append(_ESCAPED.sub("", line, count=1) if line.startswith("\\") else line)

    def _in_replace(self, number: int, line: str) -> None:
        if _REPLACE.match(line):
            self._blocks.append(Block(len(self._blocks) + 1, self._hint, tuple(self._search), tuple(self._replace)))
            self._clear()
            self._state = "outside"
        elif _SEARCH.match(line) or _MIDDLE.match(line):
            raise self._stray(number, line, ">>>>>>> REPLACE")
        else:
            self._replace.append(_ESCAPED.sub("", line, count=1) if line.startswith("\\") else line)

    def _stray(self, number: int, line: str, wanted: str) -> Malformed:
        return Malformed(
            f"line {number}: `{line.strip()}` inside block {len(self._blocks) + 1}, where `{wanted}` must come first. If the "
            "file itself holds such a line, write a backslash before it."
        )
