"""Files that no longer parse, by tree-sitter's grammars."""

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING

from ferrule.workspace.checkers.base import Changed, Checker, CheckFinding, Missing, Said, Skipped, Surroundings

from .grammars import faults, language, load, parse

if TYPE_CHECKING:
    from tree_sitter import Language, Node

SHOWN = 40
LOOSE = ("C", "C++", "CSS", "shell", "PHP")
"""Languages of which the grammars refuse one correct file in two (C, for its macros) to fifty (PHP), tried on installed software.

A new file of theirs that does not parse is not judged, having nothing to be compared with.
"""


def syntax() -> Checker:
    return Checker("syntax", lambda file: language(file) is not None, _run)


async def _run(files: tuple[Changed, ...], surroundings: Surroundings) -> Said:
    by_language: defaultdict[str, list[Changed]] = defaultdict(list)
    for file in files:
        by_language[language(file) or ""].append(file)
    findings: list[CheckFinding] = []
    skipped: list[Skipped] = []
    for name, members in by_language.items():
        try:
            grammar = load(name)
        except Missing as missing:
            skipped += [Skipped(file.path, str(missing), "syntax") for file in members]
            continue
        for file in members:
            match await asyncio.to_thread(_judge, file, name, grammar):
                case CheckFinding() as finding:
                    findings.append(finding)
                case Skipped() as left_out:
                    skipped.append(left_out)
    return Said(tuple(findings), _version(), tuple(skipped))


def _judge(file: Changed, name: str, grammar: "Language") -> CheckFinding | Skipped | None:
    """A finding when the file parsed before the change, or is new, and does not parse now.

    One that did not parse before is not judged: its grammar may be older than its language.
    """
    try:
        broken = list(faults(parse(file.new or b"", grammar)))
        if not broken:
            return None
        if file.old is not None and next(faults(parse(file.old, grammar)), None) is not None:
            return Skipped(file.path, f"did not parse as {name} before the change either", "syntax")
    except TimeoutError as problem:
        return Skipped(file.path, str(problem), "syntax")
    if file.old is None and name in LOOSE:
        return Skipped(file.path, f"a new {name} file with something that the grammar does not know", "syntax")
    return _finding(file, name, broken)


def _finding(file: Changed, name: str, broken: "list[Node]") -> CheckFinding:
    touching = [node for node in broken if file.touches(node.start_point.row + 1, node.end_point.row + 1)]
    node = (touching or broken)[0]
    row = node.start_point.row + 1
    line = file.touches(row, node.end_point.row + 1) or file.nearest(row)
    where = "" if line == row else f" (noticed at line {row})"
    what = f"`{node.type}` is missing" if node.is_missing else f"unexpected `{_shown(node)}`"
    said = f"This no longer parses as {name}: {what}{where}."
    return CheckFinding(file.path, line, line, "syntax", "parse-error", "should-fix" if name in LOOSE else "blocking", said)


def _shown(node: "Node") -> str:
    text = (node.text or b"").decode(errors="replace").strip().split("\n")[0]
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"tree-sitter {version('tree-sitter')}"
    except PackageNotFoundError:
        return ""
