"""Blocks by syntax, found in a process of its own: grammars bring scanners in C, and what is read is anybody's."""

from pathlib import Path

import msgspec

from ferrule.workspace.encoding import decode
from ferrule.workspace.reading.child import Hands, Unshowable, ask

from .base import Outline
from .syntax import language_of, outline

TIMEOUT = 10.0


async def parsed(path: Path, anchor: int, hands: Hands) -> Outline | None:
    """None where the file cannot be parsed around the line."""
    try:
        _, data = await ask("block", path, hands, anchor, TIMEOUT)
    except Unshowable:
        return None
    found: Outline | None = msgspec.json.decode(data, type=Outline | None)
    return found


def extract(path: Path, number: int = 1) -> tuple[str, bytes]:
    """The task of the child: `number` is the line."""
    decoded = decode(path.read_bytes())
    text = decoded[0] if decoded else ""
    name = language_of(path, text)
    found = outline(text, name, number) if name and number <= text.count("\n") + 1 else None
    return "", msgspec.json.encode(found)
