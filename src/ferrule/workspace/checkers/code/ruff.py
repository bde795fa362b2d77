"""Python, judged by ruff: syntax, names, and a few habits that are mistakes nearly always."""

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from msgspec import Struct

from ferrule.types.review import Severity
from ferrule.workspace.checkers.base import Changed, Checker, CheckerFailed, CheckFinding, Said, Skipped, Surroundings
from ferrule.workspace.checkers.program import decoded, find, lay_out, output, version

TIMEOUT = 60.0
RULES: dict[str, Severity] = {
    "invalid-syntax": "blocking",
    "E9": "blocking",
    "F63": "should-fix",
    "F7": "blocking",
    "F82": "blocking",
    "F401": "nit",
    "F50": "should-fix",
    "F52": "should-fix",
    "F601": "should-fix",
    "F811": "should-fix",
    "F841": "nit",
    "B006": "should-fix",
    "B015": "should-fix",
    "B020": "should-fix",
    "B023": "should-fix",
    "B025": "should-fix",
    "B029": "should-fix",
    "B032": "should-fix",
    "B035": "should-fix",
    "PLE": "blocking",
    "PLW0129": "should-fix",
    "T100": "blocking",
}
"""Rule prefixes and what they weigh; the first that fits counts. Rules of taste are left to the project's own linter run."""

FIXED = ("--config", "../ruff.toml", "--no-cache", "--no-respect-gitignore", "--force-exclude")
KEPT = ("target-version", "builtins", "namespace-packages", "exclude", "extend-exclude")
KEPT_LINT = ("ignore", "extend-ignore", "per-file-ignores", "extend-per-file-ignores", "typing-modules", "dummy-variable-rgx")
KEPT_TABLES = {"pyflakes": ("extend-generics", "allowed-unused-imports"), "flake8-bugbear": ("extend-immutable-calls",)}


class _Place(Struct, frozen=True):
    row: int
    column: int


class _Edit(Struct, frozen=True):
    content: str
    location: _Place
    end_location: _Place


class _Fix(Struct, frozen=True):
    applicability: str
    edits: tuple[_Edit, ...] = ()


class _Diagnostic(Struct, frozen=True):
    code: str | None
    message: str
    filename: str
    location: _Place
    end_location: _Place
    fix: _Fix | None = None

    @property
    def rule(self) -> str:
        return self.code or "invalid-syntax"


def ruff() -> Checker:
    return Checker("ruff", is_python, _run, timeout=2 * TIMEOUT)


def is_python(file: Changed) -> bool:
    if file.suffix in (".py", ".pyi"):
        return True
    first = (file.new or b"")[:100].split(b"\n", 1)[0]
    return file.suffix == "" and first.startswith(b"#!") and b"python" in first


async def _run(files: tuple[Changed, ...], surroundings: Surroundings) -> Said:
    program = find("ruff", dict(surroundings.environment).get("PATH"))
    number = await version(program, surroundings)
    laid = lay_out(files, surroundings.folder / "new")
    theirs = await _theirs(surroundings)
    (surroundings.folder / "ruff.toml").write_text(_config(theirs))
    try:
        said = await _diagnose(program, surroundings, "new")
    except CheckerFailed:
        if not theirs:
            raise
        (surroundings.folder / "ruff.toml").write_text(_config({}))
        theirs, said = {}, await _diagnose(program, surroundings, "new")
    touched = [found for found in said if _counts(found, laid)]
    suspects = {name: file for name, file in laid.items() if file.old and any(found.filename == name for found in touched)}
    known = await _known(program, surroundings, suspects)
    known = known - Counter(_key(found) for found in said if found not in touched)
    findings = [_finding(found, laid[found.filename]) for found in touched if _is_new(found, known)]
    return Said(tuple(findings), number, await _excluded(program, surroundings, laid, theirs))


async def _excluded(
    program: str, surroundings: Surroundings, laid: dict[str, Changed], theirs: dict[str, Any]
) -> tuple[Skipped, ...]:
    """The files that the project's own configuration leaves out."""
    if not any(key in theirs for key in ("exclude", "extend-exclude")):
        return ()
    folder = surroundings.folder / "new"
    printed, _ = await output((program, "check", *FIXED, "--show-files", "."), folder, surroundings, TIMEOUT)
    base = folder.resolve()
    shown = {str(Path(line).relative_to(base)) for line in printed.decode(errors="replace").splitlines() if line}
    return tuple(
        Skipped(file.path, "excluded by the project's ruff configuration", "ruff")
        for name, file in laid.items()
        if name not in shown
    )


async def _diagnose(program: str, surroundings: Surroundings, tree: str) -> list[_Diagnostic]:
    """What ruff says about all files below `tree`, with names relative to it. No configuration but ours is looked for."""
    folder = surroundings.folder / tree
    argv = (program, "check", *FIXED, "--no-fix", "--exit-zero", "--output-format", "json", ".")
    printed, _ = await output(argv, folder, surroundings, TIMEOUT)
    found = decoded(printed, list[_Diagnostic], "ruff")
    base = folder.resolve()
    return [_relative(each, base) for each in found]


def _relative(found: _Diagnostic, base: Path) -> _Diagnostic:
    from msgspec.structs import replace

    path = Path(found.filename)
    return replace(found, filename=str(path.relative_to(base)) if path.is_relative_to(base) else found.filename)


def _counts(found: _Diagnostic, laid: dict[str, Changed]) -> bool:
    """Whether it is about a changed line, and certain: an import that is tried and caught on failure is used by that."""
    file = laid.get(found.filename)
    if file is None or "importlib.util.find_spec" in found.message:
        return False
    if found.rule == "F401" and file.name == "__init__.py":
        return False
    return file.touches(found.location.row, _last(found)) is not None


def _last(found: _Diagnostic) -> int:
    """The last line of what it is about; a range that ends before the first column of a line does not hold that line."""
    end = found.end_location
    return max(found.location.row, end.row - 1 if end.column <= 1 else end.row)


async def _known(program: str, surroundings: Surroundings, suspects: dict[str, Changed]) -> Counter[tuple[str, str, str]]:
    """What was already said about the old contents, counted: that a line was moved or indented is no reason to say it again."""
    if not suspects:
        return Counter()
    for name, file in suspects.items():
        target = surroundings.folder / "old" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.old or b"")
    said = await _diagnose(program, surroundings, "old")
    return Counter(_key(each) for each in said)


def _is_new(found: _Diagnostic, known: Counter[tuple[str, str, str]]) -> bool:
    known[_key(found)] -= 1
    return known[_key(found)] < 0


def _key(found: _Diagnostic) -> tuple[str, str, str]:
    return (found.filename, found.rule, found.message)


def _finding(found: _Diagnostic, file: Changed) -> CheckFinding:
    line = file.touches(found.location.row, _last(found)) or found.location.row
    weights = (weight for prefix, weight in RULES.items() if found.rule.startswith(prefix))
    severity: Severity = next(weights, "nit")
    return CheckFinding(file.path, line, line, "ruff", found.rule, severity, found.message, _suggestion(found, file, line))


def _suggestion(found: _Diagnostic, file: Changed, line: int) -> str | None:
    """The line as ruff would safely write it, where one edit inside the line does it."""
    if found.fix is None or found.fix.applicability != "safe" or len(found.fix.edits) != 1:
        return None
    edit = found.fix.edits[0]
    if not (edit.location.row == edit.end_location.row == line) or "\n" in edit.content:
        return None
    text = file.text_lines[line - 1]
    return text[: edit.location.column - 1] + edit.content + text[edit.end_location.column - 1 :]


def _config(theirs: dict[str, Any]) -> str:
    """Our rules, and of the project's configuration before the change what says how to read its files and what to leave out."""
    lint: dict[str, Any] = theirs["lint"] if isinstance(theirs.get("lint"), dict) else {}
    merged = {**{key: theirs[key] for key in KEPT_LINT if key in theirs}, **{key: lint[key] for key in KEPT_LINT if key in lint}}
    select = [prefix for prefix in RULES if prefix != "invalid-syntax"]
    config: dict[str, Any] = {key: theirs[key] for key in KEPT if key in theirs}
    config |= {"include": ["*"], "lint": {**merged, "select": select}}
    for table, keys in KEPT_TABLES.items():
        inner = lint.get(table, theirs.get(table))
        if isinstance(inner, dict):
            config["lint"][table] = {key: inner[key] for key in keys if key in inner}
    return "\n".join(_entries(config, ""))


async def _theirs(surroundings: Surroundings) -> dict[str, Any]:
    for name in (".ruff.toml", "ruff.toml", "pyproject.toml"):
        content = await surroundings.base_file(name)
        if content is None:
            continue
        try:
            parsed = tomllib.loads(content.decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
            return {}
        if name != "pyproject.toml":
            return parsed
        tool = parsed.get("tool")
        found = tool.get("ruff") if isinstance(tool, dict) else None
        return found if isinstance(found, dict) else {}
    return {}


def _entries(table: dict[str, Any], prefix: str) -> list[str]:
    """TOML of a tree of tables, in dotted keys. JSON spells strings, numbers and lists as TOML does."""
    import json

    lines: list[str] = []
    for key, value in table.items():
        name = f"{prefix}{json.dumps(key, ensure_ascii=False)}"
        if isinstance(value, dict):
            lines += _entries(value, f"{name}.")
        elif isinstance(value, str | list):
            lines.append(f"{name} = {json.dumps(value, default=str, ensure_ascii=False)}")
    return lines
