"""What is said about a text that a file does not hold: what comes nearest to it, and where the two differ."""

import re

from ferrule.workspace.encoding import shown as printable
from ferrule.workspace.matching import nearest

SHOWN = 30
"""Lines of the nearest region that are shown."""

_NUMBERED = re.compile(r"\s*\d+ \| ?")


def no_match(text: str, wanted: str, name: str, shown: str) -> str:
    """Says that `wanted` (the parameter or part called `name`) is not in a file, what comes nearest, and what differs."""
    head = f"`{name}` is not in {shown}."
    lines = wanted.splitlines()
    if lines and all(_NUMBERED.match(line) for line in lines):
        head += " It seems to contain line numbers (`N | `); leave them out."
    near = nearest(text, wanted)
    if near is None:
        return f"{head} Nothing in the file resembles it; read the file again."
    width = len(str(near.first + len(near.lines)))
    region = [f"{number:>{width}} | {printable(line[:500])}" for number, line in enumerate(near.lines[:SHOWN], near.first)]
    if len(near.lines) > SHOWN:
        region.append(f"{'':>{width}} | … {len(near.lines) - SHOWN} more lines")
    return "\n".join([f"{head} The nearest region:", *region, _difference(near.at, near.has, near.wanted, name)])


def _difference(at: int, has: str | None, wanted: str | None, name: str) -> str:
    if wanted is None:
        return "Its lines are equal; what differs is where the text begins or ends."
    if has is None:
        return f"The file ends before line {at}, where `{name}` has {wanted[:500]!r}."
    return f"First difference in line {at}: the file has {has[:500]!r}, `{name}` has {wanted[:500]!r}."
