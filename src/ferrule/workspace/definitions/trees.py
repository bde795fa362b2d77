"""Definitions of the languages that tree-sitter has a grammar of here."""

from typing import TYPE_CHECKING

from ferrule.workspace.checkers.code.grammars import parse

from .base import Definition, signature

if TYPE_CHECKING:
    from tree_sitter import Language, Node

_SCRIPT = frozenset(
    """
    function_declaration generator_function_declaration class_declaration abstract_class_declaration method_definition
    abstract_method_signature interface_declaration type_alias_declaration enum_declaration internal_module module
    """.split()  # noqa: SIM905 one word a name reads better than a quoted list
)
_C = frozenset({"function_definition", "struct_specifier", "union_specifier", "enum_specifier", "type_definition"})
KINDS: dict[str, frozenset[str]] = {
    "JavaScript": _SCRIPT,
    "TypeScript": _SCRIPT,
    "TSX": _SCRIPT,
    "Go": frozenset({"function_declaration", "method_declaration", "type_spec"}),
    "Rust": frozenset(
        {f"{kind}_item" for kind in ("function", "struct", "enum", "union", "trait", "impl", "mod", "type")}
        | {"macro_definition"}
    ),
    "Java": frozenset(
        {f"{kind}_declaration" for kind in ("class", "interface", "enum", "record", "annotation_type", "method", "constructor")}
    ),
    "C": _C,
    "C++": _C | {"class_specifier", "namespace_definition", "concept_definition", "alias_declaration"},
    "shell": frozenset({"function_definition"}),
    "Ruby": frozenset({"class", "module", "method", "singleton_method"}),
    "PHP": frozenset(
        {"function_definition"} | {f"{kind}_declaration" for kind in ("class", "interface", "trait", "enum", "method")}
    ),
    "CSS": frozenset({"rule_set", "keyframes_statement"}),
}
"""The types of nodes that define something, by language."""
BODIED = frozenset({"struct_specifier", "union_specifier", "enum_specifier", "class_specifier"})
"""Those that also stand where something is only used, without a body."""
HELD = frozenset({"arrow_function", "function_expression", "generator_function", "class"})
"""What makes a variable or a field of a script a definition."""
FIELDS = frozenset({"variable_declarator", "field_definition", "public_field_definition"})


def definitions(text: str, language: str, grammar: "Language") -> tuple[Definition, ...]:
    """Raises TimeoutError. Where a part cannot be read, what stands around it is there all the same."""
    content = text.encode("utf-8", "backslashreplace")
    lines = text.split("\n")
    found: list[Definition] = []
    pending: list[tuple[Node, int]] = [(parse(content, grammar).root_node, 0)]
    while pending:
        node, depth = pending.pop()
        if _defines(node, KINDS[language]):
            first, end = node.start_point.row, node.end_point
            last = end.row + 1 if end.column or end.row == first else end.row
            found.append(Definition(first + 1, last, depth, signature(lines[first])))
            depth += 1
        pending += [(child, depth) for child in reversed(node.named_children)]
    return tuple(found)


def _defines(node: "Node", kinds: frozenset[str]) -> bool:
    if node.type in BODIED:
        return node.type in kinds and node.child_by_field_name("body") is not None
    if node.type in FIELDS and kinds is _SCRIPT:
        value = node.child_by_field_name("value")
        return value is not None and value.type in HELD
    return node.is_named and node.type in kinds
