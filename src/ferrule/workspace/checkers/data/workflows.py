"""GitHub workflows and actions, judged by zizmor, offline: what GitHub would refuse, and what lets strangers in."""

import re
from typing import Any

from msgspec import Struct

from ferrule.types.json import integer, items, member, string
from ferrule.types.review import Severity
from ferrule.workspace.checkers.base import Changed, Checker, CheckerFailed, CheckFinding, Said, Skipped, Surroundings
from ferrule.workspace.checkers.program import decoded, find, lay_out, output, version

TIMEOUT = 30.0
LEFT_OUT = frozenset(["unpinned-uses", "artipacked", "secrets-inherit", "excessive-permissions"])
"""Audits whose advice is a matter of how strict a project wants to be."""
NOTHING_READ = 3
"""zizmor's exit code when no file could be read."""


class Spot(Struct, frozen=True):
    """Where one audit found something; lines of its primary place from 1."""

    audit: str
    text: str
    severity: Severity
    line: int
    end: int


def workflows() -> Checker:
    return Checker("workflows", _wants, _run)


def _wants(file: Changed) -> bool:
    if file.suffix not in (".yml", ".yaml"):
        return False
    return bool(re.search(r"(^|/)\.github/workflows/[^/]+$", file.path)) or file.name in ("action.yml", "action.yaml")


async def _run(files: tuple[Changed, ...], surroundings: Surroundings) -> Said:
    program = find("zizmor", dict(surroundings.environment).get("PATH"))
    number = await version(program, surroundings)
    odd = [file for file in files if not _is_utf8(file)]
    laid = lay_out(tuple(file for file in files if _is_utf8(file)), surroundings.folder / "new")
    config = await _config(surroundings)
    findings: list[CheckFinding] = []
    for name, file in laid.items():
        spots = await _spots(program, config, name, surroundings, "new")
        if spots is None:
            findings += await _unreadable(program, config, name, file, surroundings)
            continue
        findings += [_finding(file, spot) for spot in spots if file.touches(spot.line, spot.end)]
    return Said(tuple(findings), number, tuple(Skipped(file.path, "not UTF-8", "workflows") for file in odd))


def _is_utf8(file: Changed) -> bool:
    """zizmor stops at other files."""
    try:
        (file.new or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


async def _config(surroundings: Surroundings) -> tuple[str, ...]:
    """The project's own configuration as it was before the change, or none."""
    for name in (".github/zizmor.yml", ".github/zizmor.yaml", "zizmor.yml", "zizmor.yaml"):
        if (content := await surroundings.base_file(name)) is not None:
            (surroundings.folder / "zizmor.yml").write_bytes(content)
            return ("--config", "../zizmor.yml")
    return ("--no-config",)


async def _spots(program: str, config: tuple[str, ...], name: str, surroundings: Surroundings, tree: str) -> list[Spot] | None:
    """None when zizmor does not take the file for a workflow or an action."""
    limits = ("--min-confidence", "medium", "--min-severity", "medium", "--no-progress", "--quiet", "--no-exit-codes")
    argv = (program, "--offline", *config, *limits, "--format", "json-v1", "--", f"./{name}")
    printed, code = await output(argv, surroundings.folder / tree, surroundings, TIMEOUT, (0, NOTHING_READ))
    if code == NOTHING_READ:
        return None
    return [spot for each in decoded(printed, list[Any], "zizmor") if (spot := _spot(each)) is not None]


def _spot(found: Any) -> Spot | None:
    audit, places = string(found, "ident"), items(found, "locations")
    primary = next((each for each in places if member(each, "symbolic", "kind") == "Primary"), None)
    if primary is None or audit in LEFT_OUT or member(found, "ignored"):
        return None
    start = integer(primary, "concrete", "location", "start_point", "row")
    end = integer(primary, "concrete", "location", "end_point", "row")
    if start is None:
        raise CheckerFailed("zizmor told no place")
    severity: Severity = "should-fix" if string(found, "determinations", "severity") == "High" else "nit"
    text = f"{string(found, 'desc')}: {string(primary, 'symbolic', 'annotation')}"
    return Spot(audit, text, severity, start + 1, (end if end is not None else start) + 1)


def _finding(file: Changed, spot: Spot) -> CheckFinding:
    line = file.touches(spot.line, spot.end)
    return CheckFinding(file.path, line, line, "workflows", spot.audit, spot.severity, f"{spot.text}.")


async def _unreadable(
    program: str, config: tuple[str, ...], name: str, file: Changed, surroundings: Surroundings
) -> list[CheckFinding]:
    """A finding when the file was a workflow before, or is new and reads as YAML; what is no YAML at all is told by `yaml`."""
    from .yaml_files import read

    if any(problem.rule == "parse-error" for problem in read(file.new or b"")):
        return []
    if file.old is not None:
        target = surroundings.folder / "old" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.old)
        if await _spots(program, config, name, surroundings, "old") is None:
            return []
    elif ".github/workflows/" not in f"/{file.path}":
        return []
    line = file.lines[0] if file.lines else None
    return [
        CheckFinding(
            file.path, line, line, "workflows", "schema", "blocking", await _complaint(program, config, name, surroundings)
        )
    ]


async def _complaint(program: str, config: tuple[str, ...], name: str, surroundings: Surroundings) -> str:
    argv = (program, "--offline", *config, "--no-progress", "--strict-collection", "--", f"./{name}")
    said = await output(argv, surroundings.folder / "new", surroundings, TIMEOUT, (1, NOTHING_READ), stderr=True)
    reason = re.search(r"^\s+1: (.+)$", said[0].decode(errors="replace"), re.MULTILINE)
    return f"GitHub would refuse this workflow: {reason[1] if reason else 'it does not fit the schema of workflows'}."
