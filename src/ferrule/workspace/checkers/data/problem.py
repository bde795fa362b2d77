"""What reading a data file can go wrong with, and which of it a change has caused."""

import re
from collections import Counter
from collections.abc import Callable

from msgspec import Struct

from ferrule.types.review import Severity
from ferrule.workspace.checkers.base import Changed, CheckFinding

TEMPLATE = re.compile(rb"(?<!\$)\{\{|\{%|<%|@[A-Z_]+@")
PARSE = "parse-error"


class Problem(Struct, frozen=True):
    """`line` from 1. A parse error may show far from its cause; every other rule is about its line alone."""

    line: int
    rule: str
    text: str
    severity: Severity = "blocking"


def introduced(checker: str, read: Callable[[bytes], list[Problem]]) -> Callable[[Changed], list[CheckFinding]]:
    """A judge of files by `read`. Problems that the old file had too are left out, and parse errors of what may be a template."""

    def judge(file: Changed) -> list[CheckFinding]:
        content = file.new or b""
        problems = read(content)
        if not problems:
            return []
        if any(each.rule == PARSE for each in problems) and TEMPLATE.search(content):
            return []
        known = Counter((each.rule, each.text) for each in read(file.old)) if file.old is not None else Counter[tuple[str, str]]()
        broken_before = any(rule == PARSE for rule, _ in known)
        found: list[CheckFinding] = []
        for problem in sorted(problems, key=lambda each: file.touches(each.line, each.line) is not None):
            known[problem.rule, problem.text] -= 1
            if known[problem.rule, problem.text] >= 0 or (problem.rule == PARSE and broken_before):
                continue
            found += _anchored(checker, file, problem)
        return found

    return judge


def _anchored(checker: str, file: Changed, problem: Problem) -> list[CheckFinding]:
    line: int | None = problem.line
    if not file.touches(problem.line, problem.line):
        if problem.rule != PARSE:
            return []
        line = file.nearest(problem.line)
    where = "" if line == problem.line else f" (noticed at line {problem.line})"
    return [CheckFinding(file.path, line, line, checker, problem.rule, problem.severity, f"{problem.text}{where}.")]
