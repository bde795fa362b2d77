"""Blocks by syntax: nodes that hold a line, made into frames by how deep their first lines stand.

A node is no block of its own where it begins or ends with the one around it, or goes on with it: `else` belongs to its `if`, a
body to its head.
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
from .words import leads_back

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
    frames = _frames(nodes, levels, lines)
    own = bool(frames) and _is_own(frames[-1], meant + 1, indents.level(lines[meant]) == levels[frames[-1].start], lines[meant])
    return Outline(meant + 1, frames, own, imports(lines), f"syntax ({name})")


def _frames(nodes: Sequence[Node], levels: dict[int, int], lines: Sequence[str]) -> tuple[Frame, ...]:
    frames: list[Frame] = []
    for node in nodes:
        closed = levels[node.last] == levels[node.first]
        if not frames or not _belongs(node, frames[-1], levels, lines[node.first - 1]):
            body = node.body if node.body is not None and node.first < node.body <= node.last else node.first + 1
            frames.append(Frame(node.first, body, max(body, node.last - closed), node.last))
        elif node.body is not None and node.first < frames[-1].body < node.body:
            frame = frames[-1]
            frames[-1] = Frame(frame.start, node.body, max(node.body, frame.tail), frame.end)
    return tuple(frames)


def _belongs(node: Node, frame: Frame, levels: dict[int, int], line: str) -> bool:
    if node.first == frame.start:
        return True
    return levels[node.first] <= levels[frame.start] and (node.last == frame.end or leads_back(line))


def _is_own(frame: Frame, number: int, as_deep: bool, line: str) -> bool:
    return number < frame.body or (as_deep and (number > frame.tail or leads_back(line)))
