"""What language servers and checkers say about a file, and which of it an edit brought."""

from collections import Counter
from typing import Literal

from msgspec import Struct

from ferrule.workspace.endings import aligned

Severity = Literal["error", "warning"]


class Problem(Struct, frozen=True):
    """`line` counts from 1; `source` is who says it, with the rule where there is one."""

    line: int
    severity: Severity
    text: str
    source: str

    @property
    def key(self) -> tuple[str, str, str]:
        """The problem wherever it stands."""
        return self.severity, self.text, self.source


def fresh(before: tuple[Problem, ...], after: tuple[Problem, ...], old: str, new: str) -> tuple[Problem, ...]:
    """The problems of a text that it had not before an edit, by line. One that moved with its line is not among them, and of
    those on changed lines as many are left out as there were of the same kind."""
    kept = aligned(old.split("\n"), new.split("\n"))
    known = Counter((problem.key, problem.line - 1) for problem in before)
    unknown: list[Problem] = []
    for problem in sorted(after, key=lambda each: (each.line, each.key)):
        was = (problem.key, kept.get(problem.line - 1, -1))
        if known[was]:
            known[was] -= 1
        else:
            unknown.append(problem)
    standing = set(kept.values())
    changed = Counter(key for (key, line), count in known.items() if line not in standing for _ in range(count))
    left: list[Problem] = []
    for problem in unknown:
        if changed[problem.key]:
            changed[problem.key] -= 1
        else:
            left.append(problem)
    return tuple(left)
