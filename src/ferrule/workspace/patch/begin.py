"""The form between `*** Begin Patch` and `*** End Patch`."""

import re
from collections.abc import Sequence

from .hunks import Reading, at_mark
from .model import FilePatch, Hunk, Kind, Malformed

MARKS = ("*** Begin Patch", "*** Add File: ", "*** Delete File: ", "*** Update File: ")
_FILE = re.compile(r"\*\*\* (Add|Delete|Update) File: (.*)\Z")
_MOVE = re.compile(r"\*\*\* Move to: (.*)\Z")
_OUTSIDE = re.compile(r"\s*\Z|```|\*\*\* (Begin|End) Patch\s*\Z|EOF\s*\Z|apply_patch\b|cat <<")
"""What may stand around: blank lines, fences of Markdown, what hands a text to a command in a shell."""


def parse_begin(lines: Sequence[str]) -> tuple[FilePatch, ...]:
    """The files in order; raises Malformed."""
    files: list[FilePatch] = []
    at = 0
    while at < len(lines):
        if header := _FILE.match(lines[at]):
            file, at = _file(lines, at, header[1], header[2].strip())
            files.append(file)
        elif _OUTSIDE.match(lines[at]):
            at += 1
        else:
            raise Malformed(f"line {at + 1}: expected a head such as `*** Update File: PATH`, got {lines[at][:100]!r}.")
    return tuple(files)


def _file(lines: Sequence[str], at: int, verb: str, path: str) -> tuple[FilePatch, int]:
    head, at = at, at + 1
    if not path:
        raise Malformed(f"line {head + 1}: it names no file.")
    move: str | None = None
    match verb:
        case "Add":
            hunks, at = _added(lines, at)
        case "Update":
            if at < len(lines) and (moved := _MOVE.match(lines[at])):
                move, at = moved[1].strip(), at + 1
            hunks, at = _hunks(lines, at)
            if not hunks and move is None:
                raise Malformed(f"line {head + 1}: the update of {path} has no hunk.")
        case _:
            hunks = ()
    kinds: dict[str, Kind] = {"Add": "add", "Delete": "delete", "Update": "update"}
    return FilePatch(kinds[verb], path, head + 1, hunks, move), at


def _added(lines: Sequence[str], at: int) -> tuple[tuple[Hunk, ...], int]:
    reading = Reading(at + 1)
    while at < len(lines) and not lines[at].startswith("*** ") and not _OUTSIDE.match(lines[at]):
        if not lines[at].startswith(("+", "\\")):
            raise Malformed(f"line {at + 1}: every line of an added file begins with `+`, got {lines[at][:100]!r}.")
        reading.take(at + 1, lines[at])
        at += 1
    return reading.finished(), at


def _hunks(lines: Sequence[str], at: int) -> tuple[tuple[Hunk, ...], int]:
    hunks: list[Hunk] = []
    reading = Reading(at + 1)
    while at < len(lines):
        line = lines[at]
        if line.startswith("*** End of File"):
            reading.at_end = True
        elif line.startswith(("*** ", "```")):
            break
        elif line.startswith("@@"):
            if reading.lines:
                hunks += reading.finished()
                reading = Reading(at + 1)
            at_mark(reading, line)
        else:
            reading.take(at + 1, line)
        at += 1
    return (*hunks, *reading.finished()), at
