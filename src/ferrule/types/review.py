"""One remark of a review and where it belongs."""

from typing import Literal

from msgspec import Struct

Severity = Literal["blocking", "should-fix", "nit"]
SEVERITIES: tuple[Severity, ...] = ("nit", "should-fix", "blocking")
"""Rising."""


class Finding(Struct, frozen=True):
    """Anchored to lines `start_line` (or `line`) to `line` of one hunk; RIGHT counts in the new file, LEFT in the old one.
    Without a line it is about the file as a whole.

    `suggestion` replaces these lines. `source` names the checker and rule that found it, empty for a reviewer's own remark.
    `fingerprint` is the same for the same remark on the same code, also when the lines have moved.
    """

    path: str
    side: Literal["LEFT", "RIGHT"]
    line: int | None
    start_line: int | None
    severity: Severity
    text: str
    suggestion: str | None
    source: str
    fingerprint: str

    @property
    def first(self) -> int | None:
        return self.start_line or self.line


def reaches(findings: tuple[Finding, ...], severity: Severity) -> bool:
    """Whether one of them is as severe as that, or more."""
    return any(SEVERITIES.index(finding.severity) >= SEVERITIES.index(severity) for finding in findings)
