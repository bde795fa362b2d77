"""How deep lines are indented, in the unit that a file uses."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

DEFAULT = 4
WIDEST = 8
SHARE = 0.2
"""Of the indented lines: from here on tabs and spaces are mixed on purpose, a tab standing for eight columns."""


class Unit(Struct, frozen=True):
    """Columns of one level, and those up to which a tab leads."""

    columns: int
    tab: int
    label: str

    def level(self, line: str) -> int:
        """Of a line that is not blank."""
        column = 0
        for character in line:
            if character == " ":
                column += 1
            elif character == "\t":
                column += self.tab - column % self.tab
            elif character not in "\f\ufeff":
                break
        return column // self.columns


def unit(lines: Sequence[str]) -> Unit:
    """The unit by which lines go deeper most often; the smaller of two that are equally frequent."""
    led = [line for line in lines if line[:1] in (" ", "\t") and line.strip()]
    tabs = sum(line[0] == "\t" for line in led)
    spaces = len(led) - tabs
    steps = Counter(step for line, after in pairwise(_widths(lines)) if 1 < (step := after - line) <= WIDEST)
    columns = min(steps, key=lambda step: (-steps[step], step)) if steps else DEFAULT
    if tabs and min(tabs, spaces) >= SHARE * len(led):
        return Unit(columns, 8, f"{columns} columns, tabs of 8")
    if tabs > spaces:
        return Unit(DEFAULT, DEFAULT, "tabs")
    return Unit(columns, columns, f"{columns} spaces")


def _widths(lines: Sequence[str]) -> list[int]:
    """Leading spaces of the lines that are neither blank nor led by a tab."""
    return [len(line) - len(line.lstrip(" ")) for line in lines if line.strip() and line[0] != "\t"]
