"""A review as SARIF 2.1.0 (OASIS), as code scanning services read it."""

from typing import Any

from ferrule import __version__
from ferrule.types.names import unspell
from ferrule.types.review import Finding, Severity

from .review import ReviewResult

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS: dict[Severity, str] = {"blocking": "error", "should-fix": "warning", "nit": "note"}
OWN_RULE = "review"


def sarif(result: ReviewResult) -> dict[str, Any]:
    """One run. A finding on the old side has its file as location, since SARIF knows no old lines."""
    rules = sorted({finding.source or OWN_RULE for finding in result.findings})
    driver = {"name": "Ferrule", "version": __version__, "rules": [{"id": rule} for rule in rules]}
    finished = result.run.outcome == "finished"
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": finished, "exitCode": result.run.exit_code}],
        "results": [_result(finding, rules) for finding in result.findings],
        "properties": {"outcome": result.run.outcome, "coverage": result.coverage.line, "reviewer": result.run.model},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(finding: Finding, rules: list[str]) -> dict[str, Any]:
    rule = finding.source or OWN_RULE
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.path)}}
    if finding.line is not None and finding.side == "RIGHT":
        physical["region"] = {"startLine": finding.first, "endLine": finding.line}
    said: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": LEVELS[finding.severity],
        "message": {"text": finding.text},
        "locations": [{"physicalLocation": physical}],
        "partialFingerprints": {"ferrule/v1": finding.fingerprint},
    }
    if finding.suggestion is not None and "region" in physical:
        replacement = {"deletedRegion": physical["region"], "insertedContent": {"text": finding.suggestion}}
        change = {"artifactLocation": physical["artifactLocation"], "replacements": [replacement]}
        said["fixes"] = [{"description": {"text": "suggested change"}, "artifactChanges": [change]}]
    return said


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(unspell(path))
