"""Reading the lines of one hunk, which both forms have alike."""

import re

from .model import Hunk, Line, Malformed, Sign

_NUMBERS = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)\Z", re.DOTALL)
_SIGNS: dict[str, Sign] = {" ": " ", "-": "-", "+": "+", "": " "}
"""Many write an empty context line without its blank."""


class Reading:
    """A hunk while it is read. `old` and `new` are how many lines of each its head announces, None where it does not."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.lines: list[Line] = []
        self.anchors: list[str] = []
        self.hint: int | None = None
        self.old: int | None = None
        self.new: int | None = None
        self.at_end = False
        self._blank = 0

    def take(self, number: int, line: str) -> None:
        """One line; raises Malformed."""
        if line.startswith("\\"):
            self._unended(number)
            return
        sign = _SIGNS.get(line[:1]) if line != "\r" else " "
        if sign is None:
            raise Malformed(f"line {number}: a line of a hunk begins with a blank, `-`, `+` or `@@`, got {line[:100]!r}.")
        self._blank = 0 if line else self._blank + 1
        self.lines.append(Line(sign, line[1:] if line[:1] == sign else line))

    def left(self) -> tuple[int, int]:
        """How many announced lines of each side are still to come; zeros where none were announced."""
        if self.old is None or self.new is None:
            return 0, 0
        old = sum(line.sign != "+" for line in self.lines)
        new = sum(line.sign != "-" for line in self.lines)
        return max(0, self.old - old), max(0, self.new - new)

    def finished(self) -> tuple[Hunk, ...]:
        """The hunk, none where it has no lines. Blank lines at its end that were not announced only stand before what follows."""
        while self._blank and self.lines and (self.old is None or self._overfull()):
            self.lines.pop()
            self._blank -= 1
        if not self.lines:
            return ()
        return (Hunk(self.line, tuple(self.lines), tuple(self.anchors), self.hint, self.at_end),)

    def _overfull(self) -> bool:
        return sum(line.sign != "+" for line in self.lines) > (self.old or 0)

    def _unended(self, number: int) -> None:
        if not self.lines:
            raise Malformed(f"line {number}: no line stands before it.")
        last = self.lines[-1]
        self.lines[-1] = Line(last.sign, last.text, ended=False)
        self.at_end = True


def at_mark(reading: Reading, line: str) -> None:
    """What a line that begins with `@@` says of the place: numbers of lines, or a line that comes before."""
    line = line.removesuffix("\r")
    if numbers := _NUMBERS.match(line):
        reading.hint = int(numbers[1])
        reading.old, reading.new = (1 if count is None else int(count) for count in (numbers[2], numbers[4]))
        return
    anchor = line.removeprefix("@@").removesuffix("@@")
    if anchor.strip(" .-+0123456789,"):
        reading.anchors.append(anchor.removeprefix(" "))
