"""What a checker is, what it is given, and what it says."""

import bisect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from msgspec import Struct

from ferrule.process.protocol import Processes
from ferrule.types.review import SEVERITIES, Severity

State = Literal["ran", "missing", "failed", "timed out"]

RANK: dict[Severity, int] = {severity: rank for rank, severity in enumerate(reversed(SEVERITIES))}
EXECUTABLE, REGULAR = 0o100755, 0o100644
LARGEST = 1_048_576
"""Bytes above which a file's content is not read by checkers, and its addition is a finding."""


class Changed(Struct, frozen=True, dict=True):
    """One changed file. `path` is relative to the repository, with slashes, spelled as in `types.names`.

    `new` and `old` are its contents, None where there is no file on that side or the content was not fetched; `size` is that of
    the new file in bytes, fetched or not. `lines` are the numbers of added and changed lines of the new file, from 1, rising; a
    change that only deletes has none. Modes are git's, 0 where there is no file. `skip` says why its content is not to be judged
    ("generated", "vendored", "deleted", …); checkers of the file as a whole still see it.
    """

    path: str
    new: bytes | None
    old: bytes | None
    lines: tuple[int, ...]
    old_path: str | None = None
    mode: int = REGULAR
    old_mode: int = REGULAR
    size: int = 0
    skip: str | None = None

    @cached_property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @cached_property
    def suffix(self) -> str:
        """Of the file's name, in small letters, with the dot."""
        return Path(self.name).suffix.lower()

    @property
    def added(self) -> bool:
        return self.old_mode == 0

    @cached_property
    def binary(self) -> bool:
        return self.new is not None and b"\0" in self.new[:8000]

    @cached_property
    def text(self) -> str:
        """The new content, without a byte order mark; bytes that are not UTF-8 become U+FFFD, one a byte or more."""
        return (self.new or b"").decode("utf-8-sig", "replace")

    @cached_property
    def text_lines(self) -> tuple[str, ...]:
        """Without their line endings; only LF separates, as in git."""
        return tuple(line.removesuffix("\r") for line in self.text.split("\n"))

    @cached_property
    def added_lines(self) -> tuple[tuple[int, str], ...]:
        """Number and text of each changed line."""
        texts = self.text_lines
        return tuple((number, texts[number - 1]) for number in self.lines if number <= len(texts))

    def touches(self, line: int, end: int) -> int | None:
        """The first changed line from `line` to `end`."""
        at = bisect.bisect_left(self.lines, line)
        return self.lines[at] if at < len(self.lines) and self.lines[at] <= end else None

    def nearest(self, line: int) -> int | None:
        """The changed line that is closest to `line`."""
        return min(self.lines, key=lambda each: (abs(each - line), each), default=None)


class CheckFinding(Struct, frozen=True, order=True):
    """One remark about a changed file. `line` to `end_line` are of the new file; both None when it is about the file as a whole.

    `suggestion` replaces the lines from `line` to `end_line`, without a line feed at its end.
    """

    path: str
    line: int | None
    end_line: int | None
    checker: str
    rule: str
    severity: Severity
    text: str
    suggestion: str | None = None


class Skipped(Struct, frozen=True, order=True):
    """A file that was not judged, or not by `checker` ("" for all that read content)."""

    path: str
    reason: str
    checker: str = ""


class CheckerRun(Struct, frozen=True):
    """How one checker fared. `files` it was given; `detail` says why it did not run."""

    checker: str
    version: str
    state: State
    files: int
    detail: str = ""


class Coverage(Struct, frozen=True):
    """What was looked at: `runs` of the checkers that had something to do, in their order."""

    files: int
    lines: int
    runs: tuple[CheckerRun, ...]
    skipped: tuple[Skipped, ...]


class Report(Struct, frozen=True):
    """Findings in the order of path, line and severity."""

    findings: tuple[CheckFinding, ...]
    coverage: Coverage


class Missing(Exception):
    """What a checker needs is not installed; the text names it."""


class CheckerFailed(Exception):
    """A checker could not finish; the text says why."""


@dataclass(frozen=True)
class Surroundings:
    """What a checker may use. `folder` is an empty one of its own, removed afterwards.

    `base_file` gives a file of the repository as it was before the change (paths as in `Changed`), `exists` tells whether a file
    or folder is there after it.
    """

    processes: Processes
    environment: tuple[tuple[str, str], ...]
    base_file: Callable[[str], Awaitable[bytes | None]]
    exists: Callable[[str], Awaitable[bool]]
    folder: Path


@dataclass(frozen=True)
class Said:
    """What a checker found. `version` is empty where it has none of its own. `hide` are values that no finding may show."""

    findings: tuple[CheckFinding, ...]
    version: str = ""
    skipped: tuple[Skipped, ...] = ()
    hide: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Checker:
    """`wants` chooses among the changed files; `content` ones get only files whose content was fetched and is text, not skipped.

    `run` raises `Missing` or `CheckerFailed`, and is ended after `timeout` seconds.
    """

    name: str
    wants: Callable[[Changed], bool]
    run: Callable[[tuple[Changed, ...], Surroundings], Awaitable[Said]]
    content: bool = True
    timeout: float = 60.0


def each_file(judge: Callable[[Changed], list[CheckFinding]]) -> Callable[[tuple[Changed, ...], Surroundings], Awaitable[Said]]:
    """A `run` for checkers that judge one file at a time in this process, in a thread and one after the other.

    A file on which `judge` fails ends the checker: half a result that looks whole would be worse. It stops between files.
    """

    async def run(files: tuple[Changed, ...], surroundings: Surroundings) -> Said:
        import asyncio

        found: list[CheckFinding] = []
        for file in files:
            found += await asyncio.to_thread(judge, file)
        return Said(tuple(found))

    return run
