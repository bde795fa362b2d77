"""Files that no longer parse, by tree-sitter's grammars."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ferrule.workspace.checkers.base import Changed, Checker, CheckerFailed, CheckFinding, Missing, Said, Skipped, Surroundings
from ferrule.workspace.checkers.program import decoded, output

from .grammars import faults, language, load, parse

if TYPE_CHECKING:
    from tree_sitter import Language, Node

SHOWN = 40
CHILD_TIMEOUT = 50.0
LOOSE = ("C", "C++", "CSS", "shell", "PHP")
"""Languages of which the grammars refuse one correct file in two (C, for its macros) to fifty (PHP), tried on installed software.

A new file of theirs that does not parse is not judged, having nothing to be compared with.
"""


def syntax() -> Checker:
    return Checker("syntax", lambda file: language(file) is not None, _run)


async def _run(files: tuple[Changed, ...], surroundings: Surroundings) -> Said:
    """In a process of its own: grammars bring scanners in C, and what is under review is anybody's."""
    skipped = tuple(Skipped(file.path, missing, "syntax") for file in files if (missing := _missing(file)) is not None)
    judged = tuple(file for file in files if _missing(file) is None)
    if not judged:
        return Said((), _version(), skipped)
    given = surroundings.folder / "files.json"
    given.write_bytes(msgspec.json.encode(judged))
    argv = (sys.executable, "-I", "-c", f"from {__name__} import child; child({str(given)!r})")
    try:
        printed, _ = await output(argv, surroundings.folder, surroundings, CHILD_TIMEOUT)
    except CheckerFailed as failed:
        raise CheckerFailed(f"a grammar did not survive one of the files ({failed})") from failed
    said: Said = decoded(printed, Said, "the syntax checker")
    return Said(said.findings, _version(), skipped + said.skipped)


def _missing(file: Changed) -> str | None:
    """Why the grammar of a file cannot be loaded."""
    try:
        load(language(file) or "")
    except Missing as missing:
        return str(missing)
    return None


def child(path: str) -> None:
    """The program of that process: judges the files that stand in `path`, as JSON, and prints what it found."""
    files = msgspec.json.decode(Path(path).read_bytes(), type=tuple[Changed, ...])
    judged = [_judge(file, name, load(name)) for file in files if (name := language(file)) is not None]
    findings = tuple(each for each in judged if isinstance(each, CheckFinding))
    skipped = tuple(each for each in judged if isinstance(each, Skipped))
    sys.stdout.buffer.write(msgspec.json.encode(Said(findings, "", skipped)))


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
