"""What a file defines."""

from msgspec import Struct

LONGEST = 160
"""Characters that are shown of a signature."""


class Definition(Struct, frozen=True):
    """Lines from 1, the last one included; `depth` counts the definitions around it; `text` is its first line."""

    first: int
    last: int
    depth: int
    text: str


class Defined(Struct, frozen=True):
    """The definitions of one file, in their order; `trouble` says why there are none."""

    path: str
    definitions: tuple[Definition, ...] = ()
    trouble: str = ""


def signature(line: str) -> str:
    text = line.strip()
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
