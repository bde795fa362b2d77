"""Nodes of the languages that tree-sitter has a grammar of here."""

from typing import TYPE_CHECKING

from ferrule.workspace.checkers.code.grammars import parse

from .syntax import Node

if TYPE_CHECKING:
    from tree_sitter import Language
    from tree_sitter import Node as Parsed

CONTAINERS = ("_list", "block", "body", "body_statement", "statements")
"""How the types of nodes end that only hold what a body holds, where no bracket opens them."""
BODIES = ("body", "consequence", "block", "declaration_list")
"""Fields of what a node holds behind its signature."""


def nodes(text: str, grammar: "Language", line: int) -> list[Node] | None:
    """Those of more than one line that hold a line, outermost first; None where they could not be read. Raises TimeoutError."""
    content = text.encode("utf-8", "backslashreplace")
    root = parse(content, grammar).root_node
    row = content.split(b"\n")[line - 1]
    start, end = len(row) - len(row.lstrip()), len(row.rstrip())
    node = root.descendant_for_point_range((line - 1, start), (line - 1, end))
    chain: list[Parsed] = []
    while node is not None and node.parent is not None:
        chain.append(node)
        node = node.parent
    if (chain[-1] if chain else root).has_error:
        return None
    blocks = (each for each in reversed(chain) if each.is_named and not _is_part(each, content))
    found = (Node(each.start_point.row + 1, _last(each), _body(each, content)) for each in blocks)
    return [each for each in found if each.first < each.last]


def _is_part(node: "Parsed", content: bytes) -> bool:
    """Whether it is a part of the block around it and none of its own; what a preprocessor encloses is no block at all."""
    if node.type.startswith("preproc_") or (node.type.endswith(CONTAINERS) and not _braced(node, content)):
        return True
    return node.parent is not None and any(node.parent.child_by_field_name(field) == node for field in BODIES)


def _braced(node: "Parsed", content: bytes) -> bool:
    return content[node.start_byte : node.start_byte + 1] in (b"{", b"(", b"[")


def _last(node: "Parsed") -> int:
    """The last line; one that a node only touches with its line feed is not its own."""
    end = node.end_point
    return end.row + 1 if end.column or end.row == node.start_point.row else end.row


def _body(node: "Parsed", content: bytes) -> int | None:
    """The first line of what it holds: the one behind an opening brace, or that on which a body without one begins."""
    body = next((found for field in BODIES if (found := node.child_by_field_name(field)) is not None), None)
    if body is None:
        return None
    line_start = content.rfind(b"\n", 0, body.start_byte) + 1
    alone = not content[line_start : body.start_byte].strip()
    return body.start_point.row + 1 + (_braced(body, content) or not alone)
