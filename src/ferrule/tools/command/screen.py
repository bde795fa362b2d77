"""Output as a terminal would leave it: the last state of each line, in linear time and bounded memory.

Known are carriage return, backspace, the movements of the cursor and the erasing of lines, as progress bars use them, over one
line or several. Whatever else steers a terminal is left out. The result is never longer than the input.
"""

import re
from collections.abc import Callable, Mapping

from .decoding import ESCAPE

HELD = 64
"""Lines that can still change: a cursor goes no further up."""

HELD_SIZE = 16_384
"""Characters of those lines, the last one left out."""

LONGEST = 65_536
"""Characters of a line that can change."""

_STEERS = re.compile(rf"{ESCAPE.pattern}|[\x00-\x08\x0b\x0d-\x1f\x7f-\x9f]")
_CSI = re.compile(r"\x1b\[([0-9;]*)([@-~])")

Row = str | list[str]
"""A list of characters once anything in it was overwritten."""


class Screen:
    """`feed` and `finish` give what can no longer change, `rest` is what still can. The cursor is in `_row` at `_column`."""

    def __init__(self) -> None:
        self._rows: list[Row] = [""]
        self._row = 0
        self._column = 0
        self._settled: list[str] = []

    def feed(self, text: str) -> str:
        text = text.replace("\r\n", "\n")
        at = 0
        for found in _STEERS.finditer(text):
            self._print(text[at : found.start()])
            self._steer(found[0])
            at = found.end()
        self._print(text[at:])
        self._settle()
        return self._taken()

    def rest(self) -> str:
        return "\n".join(map(_text, self._rows))

    def finish(self) -> str:
        self._settle_all()
        return self._taken()

    def _taken(self) -> str:
        settled = "".join(self._settled)
        self._settled.clear()
        return settled

    def _print(self, text: str) -> None:
        while text:
            if self._row == len(self._rows) - 1 and self._column == len(self._rows[-1]):
                self._append(text)
                return
            line, feed, text = text.partition("\n")
            if line:
                self._cells()[self._column : self._column + len(line)] = line
                self._column += len(line)
            if feed:
                self._line_feed()

    def _append(self, text: str) -> None:
        """At the end of everything. Of many lines only the last ones come among those that can change."""
        line, feed, text = text.partition("\n")
        last = self._rows[-1]
        if isinstance(last, list):
            last += line
        else:
            self._rows[-1] = last + line
        if feed:
            cut = len(text)
            for _ in range(HELD):
                cut = text.rfind("\n", 0, cut)
                if cut < 0:
                    break
            if cut >= 0:
                self._rows.append("")
                self._settle_all()
                self._settled.append(text[: cut + 1])
                self._rows = list(text[cut + 1 :].split("\n"))
            else:
                self._rows += text.split("\n")
        self._row, self._column = len(self._rows) - 1, len(self._rows[-1])

    def _line_feed(self) -> None:
        self._row, self._column = self._row + 1, 0
        if self._row == len(self._rows):
            self._rows.append("")

    def _cells(self) -> list[str]:
        row = self._rows[self._row]
        if isinstance(row, list):
            return row
        cells = self._rows[self._row] = list(row)
        return cells

    def _steer(self, token: str) -> None:
        if token == "\r":
            self._column = 0
        elif token == "\b":
            self._column = max(0, self._column - 1)
        elif token == "\x1bc":
            self._begin_anew()
        elif (sequence := _CSI.fullmatch(token)) and (act := _ACTS.get(sequence[2])):
            numbers = [int(number[:9] or 0) for number in sequence[1].split(";")]
            act(self, numbers, len(token))

    def up(self, numbers: list[int], room: int) -> None:
        self._go(self._row - max(1, numbers[0]), self._column, 0)

    def down(self, numbers: list[int], room: int) -> None:
        self._go(self._row + max(1, numbers[0]), self._column, 0)

    def to_line_above(self, numbers: list[int], room: int) -> None:
        self._go(self._row - max(1, numbers[0]), 0, 0)

    def to_line_below(self, numbers: list[int], room: int) -> None:
        self._go(self._row + max(1, numbers[0]), 0, 0)

    def right(self, numbers: list[int], room: int) -> None:
        self._go(self._row, self._column + max(1, numbers[0]), room)

    def left(self, numbers: list[int], room: int) -> None:
        self._go(self._row, self._column - max(1, numbers[0]), 0)

    def to_column(self, numbers: list[int], room: int) -> None:
        self._go(self._row, max(1, numbers[0]) - 1, room)

    def to_place(self, numbers: list[int], room: int) -> None:
        self._go(max(1, numbers[0]) - 1, max(1, *numbers[1:2], 1) - 1, room)

    def _go(self, row: int, column: int, room: int) -> None:
        """Right of a line's end there are at most `room` blanks, so that nothing gets longer than what was printed."""
        self._row = min(max(0, row), len(self._rows) - 1)
        length = len(self._rows[self._row])
        self._column = min(max(0, column), length + room)
        if self._column > length:
            self._cells().extend(" " * (self._column - length))

    def erase_in_line(self, numbers: list[int], room: int) -> None:
        cells = self._cells()
        match numbers[0]:
            case 0:
                del cells[self._column :]
            case 1:
                cells[: self._column] = " " * self._column
            case 2:
                cells[:] = " " * self._column

    def erase_below(self, numbers: list[int], room: int) -> None:
        """An erased screen begins anew; what stood there before stays."""
        if numbers[0] in (2, 3):
            self._begin_anew()
        elif numbers[0] == 0:
            del self._cells()[self._column :]
            del self._rows[self._row + 1 :]

    def delete(self, numbers: list[int], room: int) -> None:
        del self._cells()[self._column : self._column + max(1, numbers[0])]

    def blank(self, numbers: list[int], room: int) -> None:
        cells = self._cells()
        end = min(len(cells), self._column + max(1, numbers[0]))
        cells[self._column : end] = " " * (end - self._column)

    def _settle(self) -> None:
        """Whatever is too far up, or too long."""
        if len(self._rows[self._row]) > LONGEST:
            self._settle_all()
            return
        sizes = [len(row) for row in self._rows[:-1]]
        total, gone = sum(sizes), 0
        while gone < self._row and (len(self._rows) - gone > HELD or total > HELD_SIZE):
            total -= sizes[gone]
            gone += 1
        if gone:
            self._settled.append("".join(_text(row) + "\n" for row in self._rows[:gone]))
            del self._rows[:gone]
            self._row -= gone

    def _begin_anew(self) -> None:
        if self._rows[-1]:
            self._rows.append("")
        self._settle_all()

    def _settle_all(self) -> None:
        self._settled.append(self.rest())
        self._rows, self._row, self._column = [""], 0, 0


def _text(row: Row) -> str:
    """Blanks at the end of what was overwritten are the rest of something longer."""
    return row if isinstance(row, str) else "".join(row).rstrip(" ")


_ACTS: Mapping[str, Callable[[Screen, list[int], int], None]] = {
    "A": Screen.up,
    "B": Screen.down,
    "C": Screen.right,
    "D": Screen.left,
    "E": Screen.to_line_below,
    "F": Screen.to_line_above,
    "G": Screen.to_column,
    "H": Screen.to_place,
    "f": Screen.to_place,
    "J": Screen.erase_below,
    "K": Screen.erase_in_line,
    "P": Screen.delete,
    "X": Screen.blank,
}
"""By the last letter of a control sequence: its numbers, and its own length."""


def rendered(text: str) -> str:
    """All of it at once."""
    screen = Screen()
    return screen.feed(text) + screen.finish()
