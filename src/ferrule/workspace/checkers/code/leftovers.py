"""Debugger calls and focused tests that somebody forgot, found in the syntax tree, so never in a string or comment.

Python's are ruff's rule T100.
"""

import re
from dataclasses import dataclass

from ferrule.types.review import Severity
from ferrule.workspace.checkers.base import Changed, Checker, CheckFinding, each_file

from .grammars import language, load, parse

FOCUSED = "This focused test keeps all other tests of the file from running."
TESTS = re.compile(r"(^|/)(tests?|specs?|__tests__|e2e|cypress)/|[._-](test|spec|cy)\.[a-z]+$")


@dataclass(frozen=True)
class Leftover:
    """`query` captures `@found`; `hint` is a cheap look for whether it is worth parsing; `tests` restricts it to test files."""

    rule: str
    languages: tuple[str, ...]
    hint: re.Pattern[str]
    query: str
    severity: Severity
    text: str
    tests: bool = False


SCRIPTS = ("JavaScript", "TypeScript", "TSX")
LEFTOVERS = (
    Leftover(
        "debugger", SCRIPTS, re.compile(r"\bdebugger\b"), "(debugger_statement) @found", "blocking", "This stops in the debugger."
    ),
    Leftover(
        "focused-test",
        SCRIPTS,
        re.compile(r"\b(fit|fdescribe|fcontext)\b|\.only\b"),
        """
        (call_expression function: (identifier) @name (#any-of? @name "fit" "fdescribe" "fcontext")) @found
        (call_expression function: (member_expression object: (identifier) @on property: (property_identifier) @name)
          (#any-of? @on "it" "test" "describe" "context" "suite" "specify") (#eq? @name "only")) @found
        """,
        "blocking",
        FOCUSED,
        tests=True,
    ),
    Leftover(
        "debugger",
        ("Ruby",),
        re.compile(r"\b(binding\.(pry|irb|b)|byebug)\b"),
        """
        (call receiver: (identifier) @on method: (identifier) @name (#eq? @on "binding") (#any-of? @name "pry" "irb" "b")) @found
        ((identifier) @found (#eq? @found "byebug"))
        """,
        "blocking",
        "This stops in the debugger.",
    ),
    Leftover(
        "dbg",
        ("Rust",),
        re.compile(r"\bdbg!"),
        '(macro_invocation macro: (identifier) @name (#eq? @name "dbg")) @found',
        "should-fix",
        "`dbg!` prints to standard error; it is meant for debugging.",
    ),
    Leftover(
        "focused-test",
        ("Go",),
        re.compile(r"\b(FIt|FDescribe|FContext|FWhen)\("),
        '(call_expression function: (identifier) @name (#any-of? @name "FIt" "FDescribe" "FContext" "FWhen")) @found',
        "blocking",
        FOCUSED,
        tests=True,
    ),
)


def leftovers() -> Checker:
    return Checker("leftovers", lambda file: any(language(file) in each.languages for each in LEFTOVERS), each_file(_judge))


def _judge(file: Changed) -> list[CheckFinding]:
    name = language(file)
    wanted = [each for each in LEFTOVERS if name in each.languages and _worth(each, file)]
    if not wanted or name is None:
        return []
    from tree_sitter import Query, QueryCursor

    grammar = load(name)
    root = parse(file.new or b"", grammar).root_node
    found: list[CheckFinding] = []
    for each in wanted:
        for node in QueryCursor(Query(grammar, each.query)).captures(root).get("found", []):
            line = node.start_point.row + 1
            if file.touches(line, line):
                found.append(CheckFinding(file.path, line, line, "leftovers", each.rule, each.severity, each.text))
    return found


def _worth(leftover: Leftover, file: Changed) -> bool:
    if leftover.tests and not TESTS.search(file.path.lower()):
        return False
    return any(leftover.hint.search(text) for _, text in file.added_lines)
