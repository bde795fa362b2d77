"""A report of checkers as text: findings by file, then what was looked at."""

import json
from itertools import groupby

from ferrule.workspace.checkers.base import CheckerRun, CheckFinding, Coverage, Report

MOST = 200
SUGGESTED = "      > "
"""Before each line of a suggestion."""
NAMED = 5
"""Paths that are named for one reason why files were skipped."""


def report_text(report: Report, notes: tuple[str, ...] = (), skip: int = 0) -> str:
    """Its first line counts the findings and its last is the coverage. `skip` findings are left out at the beginning."""
    findings = report.findings
    counted = "No findings." if not findings else "1 finding." if len(findings) == 1 else f"{len(findings)} findings."
    blocks = ["\n".join([counted, *(" ".join(note.split()) for note in notes)])]
    for path, members in groupby(findings[skip : skip + MOST], key=lambda each: each.path):
        blocks.append("\n".join([f"# {named(path)}", *(_line(each) for each in members)]))
    if len(findings) > skip + MOST:
        blocks.append(f"Findings {skip + 1} to {skip + MOST} of {len(findings)} are shown; `skip` {skip + MOST} shows the next.")
    return "\n\n".join([*blocks, coverage_line(report.coverage)])


def named(path: str) -> str:
    """A path on one line: as a JSON string where it would not be one, or could be taken for such a string."""
    return path if path.isprintable() and not path.startswith('"') else json.dumps(path)


def path_of(name: str) -> str:
    """The path that `named` made a name of."""
    return str(json.loads(name)) if name.startswith('"') else name


def _line(finding: CheckFinding) -> str:
    where = "file" if finding.line is None else str(finding.line)
    if finding.end_line not in (None, finding.line):
        where += f"-{finding.end_line}"
    said = " ".join(finding.text.split())
    more = "" if finding.suggestion is None else "".join(f"\n{SUGGESTED}{line}" for line in finding.suggestion.split("\n"))
    return f"{where:>5} | {finding.severity} | {said} [{finding.checker} {finding.rule}]{more}"


def coverage_line(coverage: Coverage) -> str:
    """One line: how much, which checkers ran on how many files, which did not and why, which files were skipped and why."""
    lines = "1 changed line" if coverage.lines == 1 else f"{coverage.lines} changed lines"
    parts = [f"Checked {lines} in {_files(coverage.files)}"]
    if ran := [_run(each) for each in coverage.runs if each.state == "ran"]:
        parts.append(", ".join(ran))
    if failed := [
        f"{each.checker} ({_files(each.files)}): {each.state}, {each.detail}" for each in coverage.runs if each.state != "ran"
    ]:
        parts.append(f"NOT RUN {'; '.join(failed)}")
    if coverage.skipped:
        parts.append(f"skipped {'; '.join(_skipped(coverage))}")
    return f"Coverage: {'. '.join(parts)}."


def _run(run: CheckerRun) -> str:
    version = f" {run.version}" if run.version else ""
    return f"{run.checker}{version} ({_files(run.files)})"


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number} files"


def _skipped(coverage: Coverage) -> list[str]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for each in coverage.skipped:
        reasons.setdefault((each.checker, each.reason), []).append(named(each.path))
    said: list[str] = []
    for (checker, reason), paths in reasons.items():
        more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
        said.append(f"{', '.join(paths[:NAMED])}{more} ({f'by {checker}: ' if checker else ''}{reason})")
    return said
