"""The ignore files of one folder, and what they say about a path below it. The syntax is that of `.gitignore`."""

# Paths are text here: a walk asks about every entry, and os.path is several times faster than pathlib.
# ruff: noqa: PTH118, PTH121

import functools
import os
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from ferrule.workspace.reading.regular import Unreadable, open_regular

if TYPE_CHECKING:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

NAMES = (".rooignore", ".ferruleignore")
"""Where both stand in one folder, the lines of the second follow those of the first: the last line that matches decides."""
LARGEST = 1_048_576
"""Bytes of an ignore file."""


class Ignored(Struct, frozen=True):
    """Why something is ignored: `pattern` on `line` of `file`; or `trouble` with that file, which then ignores everything."""

    file: str
    line: int = 0
    pattern: str = ""
    trouble: str = ""


class _Line(NamedTuple):
    pattern: "GitIgnoreSpecPattern"
    why: Ignored | None
    """None for a line that takes something out of what is ignored."""


class Rules:
    """Of one folder. `folded`: its file system takes upper and lower case for the same."""

    def __init__(self, folder: str, lines: tuple[_Line, ...], folded: bool) -> None:
        self._start = len(folder.rstrip("/")) + 1
        self._lines = lines[::-1]
        self._folded = folded

    def verdict(self, path: str, directory: bool) -> tuple[Ignored | None] | None:
        """What the last matching line makes of a path below the folder; None where no line matches."""
        relative = _even(path[self._start :], self._folded) + ("/" if directory else "")
        return next(((line.why,) for line in self._lines if line.pattern.match_file(relative) is not None), None)


def rules_of(folder: str) -> Rules | Ignored | None:
    """What stands in a folder right now; Ignored where an ignore file cannot be read or understood, None where there is none."""
    contents: list[bytes] = []
    folded = False
    for name in NAMES:
        path = os.path.join(folder, name)
        if not os.path.lexists(path):
            contents.append(b"")
            continue
        try:
            contents.append(_content(path))
        except OSError as problem:
            return Ignored(path, trouble=f"cannot be read ({problem.strerror})")
        except Unreadable as problem:
            return Ignored(path, trouble=f"cannot be read ({str(problem).partition(';')[0]})")
        folded = folded or _same(path, os.path.join(folder, name.upper()))
    return _compiled(folder, tuple(contents), folded) if any(contents) else None


def _content(path: str) -> bytes:
    with os.fdopen(open_regular(Path(path)), "rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise Unreadable(f"it is longer than {LARGEST} bytes")
    if b"\0" in content:
        raise Unreadable("it holds NUL bytes, as no text in UTF-8 does")
    return content


def _same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


@functools.lru_cache(maxsize=256)
def _compiled(folder: str, contents: tuple[bytes, ...], folded: bool) -> Rules | Ignored:
    """By content, not by time: what was changed within the same tick of a clock counts, too."""
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    lines: list[_Line] = []
    for name, content in zip(NAMES, contents, strict=True):
        file = os.path.join(folder, name)
        text = content.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
            try:
                pattern = GitIgnoreSpecPattern(_even(line, folded))
            except Exception as problem:  # whatever the library cannot take, as a bad range: no line is passed over
                return Ignored(file, number, line.strip(), f"cannot be understood (line {number}: {problem})")
            if pattern.include is not None:
                lines.append(_Line(pattern, Ignored(file, number, line.strip()) if pattern.include else None))
    return Rules(folder, tuple(lines), folded)


def _even(text: str, folded: bool) -> str:
    """Accents as part of their letters, however a file system or an editor writes them."""
    composed = text if text.isascii() else unicodedata.normalize("NFC", text)
    return composed.lower() if folded else composed
