"""Definitions of Python, by its own parser."""

import ast
from collections.abc import Iterator, Sequence

from .base import Definition, signature

Defining = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definitions(text: str) -> tuple[Definition, ...]:
    """Raises SyntaxError, ValueError, RecursionError, MemoryError."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it finds odd in string literals
        tree = ast.parse(text)
    return tuple(_within(tree, text.split("\n"), 0))


def _within(tree: ast.AST, lines: Sequence[str], depth: int) -> Iterator[Definition]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Defining):
            yield Definition(node.lineno, node.end_lineno or node.lineno, depth, signature(lines[node.lineno - 1]))
            yield from _within(node, lines, depth + 1)
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _within(node, lines, depth)
