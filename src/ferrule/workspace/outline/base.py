"""Where the blocks around a line begin and end. All numbers are lines, from 1, with the last one included."""

from msgspec import Struct


class Span(Struct, frozen=True):
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1


class Frame(Struct, frozen=True):
    """One block: its signature up to `body - 1`, what it holds up to `tail`, and its closing lines up to `end`.

    `open`: it goes on behind the lines that were looked at.
    """

    start: int
    body: int
    tail: int
    end: int
    open: bool = False

    @property
    def signature(self) -> Span:
        return Span(self.start, self.body - 1)


class Outline(Struct, frozen=True):
    """The blocks that hold one line, outermost first.

    `own`: the line is part of the signature or the closing of the last one rather than of what it holds. `by` says how they were
    found. `anchor` is the line that was meant where the one asked for is blank. `ends`: the lines that were looked at end with
    the file.
    """

    anchor: int
    frames: tuple[Frame, ...]
    own: bool
    imports: tuple[Span, ...]
    by: str
    ends: bool = True


class Wanted(Struct, frozen=True):
    """`levels` blocks outwards from the line, 0 for all; `most` lines."""

    levels: int = 0
    siblings: bool = False
    header: bool = True
    most: int = 2_000
