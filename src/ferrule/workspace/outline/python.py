"""Nodes of Python, by its own parser."""

import ast

from .syntax import Node


def nodes(text: str, line: int) -> list[Node]:
    """Those of more than one line that hold a line, outermost first. Raises SyntaxError, RecursionError, MemoryError."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it finds odd in string literals
        # To this parser a lone carriage return ends a line; to everything here only a line feed does.
        return _around(ast.parse(text.replace("\r\n", "\n").replace("\r", " ")), line)


def _around(tree: ast.AST, line: int) -> list[Node]:
    for child in ast.iter_child_nodes(tree):
        first, last = _lines(child)
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue  # a docstring is part of what it describes
        if last == 0:
            if inner := _around(child, line):
                return inner
        elif first < last and first <= line <= last:
            return [Node(first, last, _body(child)), *_around(child, line)]
    return []


def _lines(node: ast.AST) -> tuple[int, int]:
    """The first line, decorators included, and the last; zeros for a node without a place of its own."""
    if isinstance(node, ast.match_case):
        return node.pattern.lineno, node.body[-1].end_lineno or 0
    first = getattr(node, "lineno", 0)
    decorators = [each.lineno for each in getattr(node, "decorator_list", ())]
    return min([first, *decorators]), getattr(node, "end_lineno", 0)


def _body(node: ast.AST) -> int | None:
    body = getattr(node, "body", None)
    return _lines(body[0])[0] if isinstance(body, list) and body else None
