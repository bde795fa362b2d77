"""What a patch consists of: files, hunks, lines."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

Kind = Literal["add", "delete", "update"]
Sign = Literal[" ", "-", "+"]


class Malformed(Exception):
    """Not a patch; the text says where and why."""


class Line(Struct, frozen=True):
    """`text` is without its line feed, a carriage return kept; `ended` is False where the patch says that none follows."""

    sign: Sign
    text: str
    ended: bool = True


class Hunk(Struct, frozen=True):
    """`line` is where it begins in the patch.

    What tells its place, beside its lines: `anchors`, lines that come before it in this order; `hint`, the number of its first
    old line (from 1), or of the line that it follows where it has no old lines; `at_end`, it ends where the file does.
    """

    line: int
    lines: tuple[Line, ...]
    anchors: tuple[str, ...] = ()
    hint: int | None = None
    at_end: bool = False

    @property
    def old(self) -> tuple[str, ...]:
        return tuple(line.text for line in self.lines if line.sign != "+")

    @property
    def new(self) -> tuple[str, ...]:
        return tuple(line.text for line in self.lines if line.sign != "-")


class FilePatch(Struct, frozen=True):
    """`path` as the patch writes it, where the file is before; `move` where it is afterwards, None where it stays.

    `line` is where it begins in the patch; `executable` is set where the patch sets or clears that bit. An added file has at most
    one hunk, all of whose lines are added; a deleted one may have the hunks that empty it.
    """

    kind: Kind
    path: str
    line: int
    hunks: tuple[Hunk, ...] = ()
    move: str | None = None
    executable: bool | None = None


def joined(lines: Sequence[Line]) -> str:
    """The text that added lines are."""
    return "".join(line.text + ("\n" if line.ended else "") for line in lines)
