"""The cells of a workbook: a heading for each sheet, then its rows with their numbers, cells parted by tabs."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openpyxl.workbook.workbook import Workbook

ROWS = 50_000
"""Rows shown of one sheet, empty ones not counted."""


def extract(path: Path, number: int = 0) -> tuple[str, bytes]:
    from openpyxl import load_workbook

    values = load_workbook(path, read_only=True, data_only=True)
    formulas = load_workbook(path, read_only=True)
    hidden = [sheet.title for sheet in values.worksheets if sheet.sheet_state != "visible"]
    lines = [line for sheet in values.worksheets if sheet.title not in hidden for line in _sheet(values, formulas, sheet.title)]
    count = len(values.worksheets)
    facts = f"{count} sheet{'' if count == 1 else 's'}"
    if hidden:
        facts += f"; hidden, left out: {', '.join(hidden)}"
    return facts, ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")


def _sheet(values: "Workbook", formulas: "Workbook", title: str) -> Iterator[str]:
    yield f"# Sheet: {title}"
    shown = 0
    pairs = zip_longest(_rows(values, title), _rows(formulas, title), fillvalue=())
    for row, (computed, written) in enumerate(pairs, 1):
        cells = [_cell(value, formula) for value, formula in zip_longest(computed, written)]
        while cells and not cells[-1]:
            cells.pop()
        if not cells:
            continue
        if shown == ROWS:
            yield f"({ROWS} rows are shown; more follow from row {row} on.)"
            return
        shown += 1
        yield f"{row}\t" + "\t".join(cells)


def _rows(book: "Workbook", title: str) -> Iterator[Sequence[object]]:
    sheet = book[title]
    sheet.reset_dimensions()  # what a file says of its size may be wrong
    return iter(sheet.iter_rows(values_only=True))


def _cell(value: object, formula: object) -> str:
    """The value that was stored; a formula that was never computed stands for itself."""
    shown = formula if value is None else value
    match shown:
        case None:
            return ""
        case bool():
            return "TRUE" if shown else "FALSE"
        case datetime():
            return shown.isoformat(sep=" ")
        case date() | time():
            return shown.isoformat()
        case timedelta():
            return str(shown)
        case _:
            return str(shown).replace("\r", "").replace("\n", " ⏎ ").replace("\t", " ")
