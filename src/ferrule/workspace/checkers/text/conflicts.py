"""Conflict markers that a merge left behind."""

import re

from ferrule.workspace.checkers.base import Changed, Checker, CheckFinding, each_file

OPENS, PARTS, CLOSES = re.compile(r"<{7} \S"), re.compile(r"={7}$"), re.compile(r">{7} \S")
EDITS = re.compile(r"<{7} SEARCH|>{7} REPLACE")
"""The markers of an edit format, not of a merge."""


def conflicts() -> Checker:
    return Checker("conflicts", lambda file: True, each_file(_judge))


def _judge(file: Changed) -> list[CheckFinding]:
    """One for every conflict that stands in the file whole, so that a line of seven signs alone, such as a heading's, is none."""
    if not any(OPENS.match(text) or CLOSES.match(text) for _, text in file.added_lines):
        return []
    found: list[CheckFinding] = []
    opened = parted = 0
    for number, text in enumerate(file.text_lines, 1):
        if EDITS.match(text):
            opened = parted = 0
        elif OPENS.match(text):
            opened, parted = number, 0
        elif opened and PARTS.match(text):
            parted = number
        elif opened and parted and CLOSES.match(text):
            if line := file.touches(opened, number):
                found.append(
                    CheckFinding(file.path, line, line, "conflicts", "conflict-marker", "blocking", _said(opened, number))
                )
            opened = parted = 0
    return found


def _said(first: int, last: int) -> str:
    return f"An unresolved conflict stands in lines {first} to {last}."
