"""Runs in a process of its own, so that its peak memory is the reader's."""

import time
from pathlib import Path

from ferrule.workspace.lines import LineReader

FIRST = 5_000_000


def far(path: str, read: bool) -> None:
    """Print the seconds of the first page and of the next, and 1 if the lines are the right ones."""
    reader = LineReader()
    if not read:
        print(0, 0, 1)
        return
    began = time.perf_counter()
    page = reader.page(Path(path), FIRST, 2000)
    middle = time.perf_counter()
    following = reader.page(Path(path), FIRST + 2000, 2000)
    end = time.perf_counter()
    exact = page.lines[0].startswith(f"{FIRST - 1:07d} ") and following.lines[-1].startswith(f"{FIRST + 3998:07d} ")
    print(middle - began, end - middle, int(exact and len(page.lines) == 2000))
