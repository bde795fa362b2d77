"""Whether a syntax tree can be trusted: every byte is accounted for, by node kinds that are understood."""

import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_BYTES = 200_000
MOST_NODES = 20_000

# White space other than blank, tab and newline, control characters, and characters that are not seen: parsers disagree on them.
ODD = re.compile("[^\\S \t\n]|[\x00-\x08\x0b-\x1f\x7f\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")

UNDERSTOOD = frozenset(
    """
    word number string string_content raw_string ansi_c_string translated_string regex comment variable_name
    special_variable_name heredoc_start heredoc_body heredoc_content heredoc_end file_descriptor test_operator extglob_pattern
    program redirected_statement for_statement c_style_for_statement variable_assignment variable_assignments unary_expression
    binary_expression postfix_expression ternary_expression parenthesized_expression while_statement do_group if_statement
    elif_clause else_clause case_statement case_item function_definition compound_statement subshell pipeline list
    negated_command test_command declaration_command unset_command command command_name subscript file_redirect
    heredoc_redirect herestring_redirect arithmetic_expansion brace_expression concatenation array simple_expansion expansion
    command_substitution process_substitution
    """.split()  # noqa: SIM905 one word a name reads better than a quoted list
)
DOLLAR_IN = frozenset({"string", "simple_expansion", "concatenation", "heredoc_body", "translated_string"})
SPACED = frozenset({"command", "declaration_command", "unset_command", "for_statement", "array", "file_redirect", "test_command"})
BLANK = re.compile(rb"(?:[ \t\n]|\\\n)*")
SUBSTITUTION = re.compile(rb"(?<!\\)(?:\\\\)*(`|\$\(|<\(|>\()")
EXPANSION = re.compile(rb"(?<!\\)(?:\\\\)*(`|\$[A-Za-z_0-9({@*#?!$-])")
PARAMETER = re.compile(rb"[ \t\n]*\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!_-])")
LITERAL = {"regex": SUBSTITUTION, "extglob_pattern": SUBSTITUTION, "string_content": EXPANSION}


def doubt_about_text(command: str) -> str | None:
    odd = ODD.search(command)
    if odd:
        return f"it holds the character U+{ord(odd[0]):04X}"
    if len(command) > MOST_BYTES:
        return f"it is longer than {MOST_BYTES} characters"
    return None


def too_large(root: "Node") -> bool:
    return root.descendant_count > MOST_NODES


def doubt_about_tree(root: "Node", source: bytes) -> str | None:
    if root.has_error:
        return "it is not a complete command that the parser understands"
    end = 0
    documents: set[int] = set()
    pending: list[tuple[Node, bool]] = [(root, False)]
    while pending:
        node, loose = pending.pop()
        if node.is_named and node.type not in UNDERSTOOD:
            return f"it has a construct that is not understood ({node.type})"
        if node.type == "$" and node.parent is not None and node.parent.type not in DOLLAR_IN:
            return "a `$` stands alone"
        if node.type == "simple_expansion" and not PARAMETER.fullmatch(source[node.start_byte : node.end_byte]):
            return "a `$` stands apart from its name"
        if loose or node.type == "heredoc_body":
            end = node.start_byte
        if node.child_count:
            if node.type in SPACED and _touching(node):
                return "two words stand together without a space"
            inside = node.type == "heredoc_body"
            pending.extend((child, inside or child.type == "heredoc_end") for child in reversed(node.children))
            continue
        gap = source[end : node.start_byte]
        if not BLANK.fullmatch(gap):
            return "a piece of it was not understood"
        if gap and not gap.replace(b"\\\n", b"") and node.start_byte:
            return "a line is continued in the middle of a word"
        if node.type in LITERAL and LITERAL[node.type].search(source[node.start_byte : node.end_byte]):
            return "text holds a substitution that the parser did not see"
        if node.type == "heredoc_start":
            if node.start_point.row in documents:
                return "two here-documents start on one line"
            documents.add(node.start_point.row)
        end = node.end_byte
    return None if BLANK.fullmatch(source[end:]) else "a piece of it was not understood"


def _touching(node: "Node") -> bool:
    """Bash would join words that touch; the grammar sometimes does not."""
    return any(
        left.is_named
        and right.is_named
        and left.end_byte == right.start_byte
        and left.type != "file_descriptor"
        and not left.type.endswith("redirect")
        and not right.type.endswith("redirect")
        for left, right in pairwise(node.children)
    )
