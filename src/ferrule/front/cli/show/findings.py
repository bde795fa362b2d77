"""Findings for a person: each with the lines of code around it, then what was looked at."""

from itertools import groupby

from ferrule.review import builtin
from ferrule.review.review import CodeLine, ReviewResult
from ferrule.types.review import Finding, Severity

from .terminal import BOLD, DIM, GREEN, RED, YELLOW, Look, clean

STYLES: dict[Severity, str] = {"blocking": RED, "should-fix": YELLOW, "nit": DIM}
MARK_STYLES = {"+": GREEN, "-": RED, " ": ""}


def findings_text(result: ReviewResult, look: Look) -> str:
    """Complete lines. The coverage line is always there."""
    pairs = list(zip(result.findings, result.snippets, strict=True))
    lines = []
    for path, members in groupby(pairs, key=lambda pair: pair[0].path):
        lines += [look.paint(_name(path), BOLD)]
        for finding, code in members:
            lines += ["", *_finding(finding, look), *_code(finding, code, look)]
        lines.append("")
    if said := _said(result):
        lines += [*said, ""]
    lines.append(_counts(result, look))
    lines.append(_reviewer(result))
    lines.append(look.paint(clean(result.coverage.line), DIM))
    return "".join(f"{line}\n" for line in lines)


def _finding(finding: Finding, look: Look) -> list[str]:
    where = _name(finding.path) + (f":{finding.first}" if finding.line is not None else "")
    old = " (old side)" if finding.side == "LEFT" and finding.line is not None else ""
    source = f"  {look.paint(clean(finding.source), DIM)}" if finding.source else ""
    head = f"  {look.paint(finding.severity, STYLES[finding.severity])}  {where}{old}{source}"
    return [head, *(f"    {line}" for line in clean(finding.text).splitlines())]


def _name(path: str) -> str:
    """On one line: a line break in a name could make a line of ours."""
    return clean(path).replace("\n", "\u240a")


def _code(finding: Finding, code: tuple[CodeLine, ...], look: Look) -> list[str]:
    width = len(str(max((line.number for line in code), default=0)))
    lines = []
    for line in code:
        about = ">" if line.about else " "
        text = f"{line.number:>{width}} {line.mark}{clean(line.text)}"
        lines.append(f"    {about} {look.paint(text, MARK_STYLES[line.mark])}")
    if finding.suggestion is not None:
        lines += ["    suggested:", *(f"      {look.paint(clean(line), GREEN)}" for line in finding.suggestion.split("\n"))]
    return lines


def _said(result: ReviewResult) -> list[str]:
    """The reviewer's summary, or why there is none. What checks alone have to say stands in the other lines."""
    if result.run.model == builtin.NAME and result.run.outcome == "finished":
        return []
    return clean(result.run.result).strip().splitlines()


def _reviewer(result: ReviewResult) -> str:
    if result.run.model == builtin.NAME:
        return f"Reviewed by {builtin.NAME}: by checks alone, nobody read the change for what it means."
    return f"Reviewed by {clean(result.run.model)}."


def _counts(result: ReviewResult, look: Look) -> str:
    if result.run.outcome == "aborted":
        return look.paint("The review was given up; what was found before stands above.", YELLOW)
    if result.run.outcome != "finished":
        return look.paint(f"The review did not end ({result.run.outcome}); what was found so far stands above.", YELLOW)
    if not result.findings:
        return f"No findings in {clean(result.title)}."
    counts = [
        (level, sum(finding.severity == level for finding in result.findings)) for level in ("blocking", "should-fix", "nit")
    ]
    return f"{', '.join(f'{count} {level}' for level, count in counts if count)} in {clean(result.title)}."
