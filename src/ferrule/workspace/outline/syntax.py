"""Blocks by syntax: nodes that hold a line, made into frames by how deep their first lines stand.

A node that begins no deeper than the one around it is no block of its own: `else` belongs to its `if`, a body to its head.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from ferrule.workspace.checkers.base import Changed, Missing
from ferrule.workspace.checkers.code.grammars import language, load

from .base import Frame, Outline
from .imports import imports
from .indentation import Reader
from .indents import unit

PARSED = 500_000
"""Characters of the largest file that is parsed for a block."""


class Node(Struct, frozen=True):
    """Lines of a node, from 1; `body` is the first line of what it holds, None where it has no body."""

    first: int
    last: int
    body: int | None


def language_of(path: Path, text: str) -> str | None:
    """The name of the language that `outline` can parse."""
    if path.suffix.lower() in (".py", ".pyi") or (
        not path.suffix and text.startswith("#!") and "python" in text.split("\n", 1)[0]
    ):
        return "Python"
    return language(Changed(path.name, text[:100].encode(errors="replace"), None, ()))


def outline(text: str, name: str, anchor: int) -> Outline | None:
    """The blocks around a line; None where the text around it does not parse."""
    from . import python, trees

    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    indents = unit(lines)
    meant = Reader(lines, indents, ends=True).meant(anchor - 1)
    if meant is None:
        return None
    try:
        nodes = python.nodes(text, meant + 1) if name == "Python" else trees.nodes(text, load(name), meant + 1)
    except (Missing, TimeoutError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if nodes is None:
        return None
    levels = {at: indents.level(lines[at - 1]) for node in nodes for at in (node.first, node.last)}
    frames = _frames(nodes, levels)
    own = bool(frames) and _is_own(frames[-1], meant + 1, indents.level(lines[meant]), levels[frames[-1].start])
    return Outline(meant + 1, frames, own, imports(lines), f"syntax ({name})")


def _frames(nodes: Sequence[Node], levels: dict[int, int]) -> tuple[Frame, ...]:
    frames: list[Frame] = []
    for node in nodes:
        if frames and levels[node.first] <= levels[frames[-1].start]:
            frame = frames[-1]
            if node.body is not None and frame.body == frame.start + 1 and node.first <= frame.start + 1 < node.body:
                frames[-1] = Frame(frame.start, node.body, max(node.body, frame.tail), frame.end)
            continue
        closed = levels[node.last] == levels[node.first]
        body = node.body if node.body is not None and node.first < node.body <= node.last else node.first + 1
        frames.append(Frame(node.first, body, max(body, node.last - closed), node.last))
    return tuple(frames)


def _is_own(frame: Frame, line: int, level: int, head: int) -> bool:
    return line < frame.body or level == head
