"""What a diff consists of: files, hunks, lines. Built by `parse`, looked at by `anchors` and by checkers."""

from functools import cached_property
from typing import Literal

from msgspec import Struct

LineKind = Literal["context", "added", "deleted"]
Side = Literal["LEFT", "RIGHT"]
"""LEFT is the old file, RIGHT the new one."""
Status = Literal["added", "deleted", "modified", "renamed", "copied", "type_changed"]

EXECUTABLE, SYMLINK, SUBMODULE = 0o100755, 0o120000, 0o160000
"""File modes as git stores them; an ordinary file is 0o100644, one that does not exist 0."""


class Line(Struct, frozen=True, gc=False):
    """One line of a hunk. `old` and `new` are its numbers in the old and the new file, None where it does not exist there.

    `text` is without the line feed; a carriage return before it is kept. All lines of a file are decoded alike, as
    `encoding.guess` finds; bytes that no character was found for stand as `\\xNN`, NUL as `\\x00`. `newline` is False for a last
    line that no line feed ends.
    """

    kind: LineKind
    old: int | None
    new: int | None
    text: str
    newline: bool = True


class Hunk(Struct, frozen=True, dict=True):
    """Lines `old_start` … `old_start + old_count - 1` of the old file against those of the new one; a count may be 0.

    `index` counts from 0 within the file. `section` is what git wrote behind the second `@@`, such as a function's first line.
    """

    index: int
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    section: str
    lines: tuple[Line, ...]

    def span(self, side: Side) -> range:
        """The line numbers of this hunk on `side`."""
        if side == "LEFT":
            return range(self.old_start, self.old_start + self.old_count)
        return range(self.new_start, self.new_start + self.new_count)

    @cached_property
    def positions(self) -> dict[Side, tuple[int, ...]]:
        """For each side where in `lines` its lines stand, in the order of `span`."""
        return {
            "LEFT": tuple(position for position, line in enumerate(self.lines) if line.old is not None),
            "RIGHT": tuple(position for position, line in enumerate(self.lines) if line.new is not None),
        }


class File(Struct, frozen=True, dict=True):
    """One changed file. Paths are from the top folder of the repository, with slashes, as `types.names.spell` writes them.

    `old_path` is None for an added file, `new_path` for a deleted one. Modes are git's (0 where there is no file), blob ids full
    (None where there is none; of a submodule they are commits). `similarity` is a percentage, of renames and copies. `binary`:
    its content changed and git shows no lines. `omitted` says why hunks are left out that do exist, such as their size; else it
    is None.
    """

    status: Status
    old_path: str | None
    new_path: str | None
    old_mode: int
    new_mode: int
    old_blob: str | None
    new_blob: str | None
    hunks: tuple[Hunk, ...] = ()
    similarity: int | None = None
    binary: bool = False
    omitted: str | None = None

    @property
    def path(self) -> str:
        """Where the file is now, or where it was if it is deleted. Unique in a diff."""
        return self.new_path or self.old_path or ""

    @property
    def submodule(self) -> bool:
        return SUBMODULE in (self.old_mode, self.new_mode)

    @property
    def symlink(self) -> bool:
        return SYMLINK in (self.old_mode, self.new_mode)

    @property
    def mode_changed(self) -> bool:
        """Whether a file that exists on both sides has another mode now, such as the executable bit."""
        return 0 not in (self.old_mode, self.new_mode) and self.old_mode != self.new_mode

    def blob(self, side: Side) -> str | None:
        """The id of the content on `side`; None where there is no file or it is a submodule."""
        mode, id = (self.old_mode, self.old_blob) if side == "LEFT" else (self.new_mode, self.new_blob)
        return None if mode == SUBMODULE else id

    @cached_property
    def spans(self) -> dict[Side, tuple[tuple[range, int], ...]]:
        """For each side the line numbers of its hunks in rising order, each with the hunk's index; empty ones left out."""
        return {side: self._spans(side) for side in ("LEFT", "RIGHT")}

    def _spans(self, side: Side) -> tuple[tuple[range, int], ...]:
        return tuple((span, hunk.index) for hunk in self.hunks if (span := hunk.span(side)))


class Diff(Struct, frozen=True, dict=True):
    """Changed files in git's order. `notes` are sentences for the person on what is not in it and what it was compared with."""

    files: tuple[File, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def by_path(self) -> dict[str, File]:
        """Files by `File.path`."""
        return {file.path: file for file in self.files}

    @cached_property
    def renamed(self) -> dict[str, str]:
        """New paths by the old ones that no longer exist."""
        return {file.old_path: file.path for file in self.files if file.status == "renamed" and file.old_path}
