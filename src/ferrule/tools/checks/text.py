"""A report of checkers as text: findings by file, then what was looked at."""

from itertools import groupby
from textwrap import indent

from ferrule.workspace.checkers.base import CheckerRun, CheckFinding, Coverage, Report

MOST = 200
SUGGESTED = "      > "
"""Before each line of a suggestion."""
NAMED = 5
"""Paths that are named for one reason why files were skipped."""


def report_text(report: Report, notes: tuple[str, ...] = ()) -> str:
    """Its first line counts the findings and its last is the coverage."""
    findings = report.findings
    counted = "No findings." if not findings else "1 finding." if len(findings) == 1 else f"{len(findings)} findings."
    blocks = ["\n".join([counted, *notes])]
    for path, members in groupby(findings[:MOST], key=lambda each: each.path):
        blocks.append("\n".join([f"# {path}", *(_line(each) for each in members)]))
    if len(findings) > MOST:
        blocks.append(f"Only the first {MOST} findings are shown; give `paths` to see others.")
    return "\n\n".join([*blocks, coverage_line(report.coverage)])


def _line(finding: CheckFinding) -> str:
    where = "file" if finding.line is None else str(finding.line)
    if finding.end_line not in (None, finding.line):
        where += f"-{finding.end_line}"
    said = " ".join(finding.text.split())
    more = "" if finding.suggestion is None else "\n" + indent(finding.suggestion, SUGGESTED, lambda line: True)
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
        reasons.setdefault((each.checker, each.reason), []).append(each.path)
    said: list[str] = []
    for (checker, reason), paths in reasons.items():
        more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
        said.append(f"{', '.join(paths[:NAMED])}{more} ({f'by {checker}: ' if checker else ''}{reason})")
    return said
