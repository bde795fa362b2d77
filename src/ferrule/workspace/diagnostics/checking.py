"""What the checkers of changes say about one whole file."""

from pathlib import Path

from ferrule.process.protocol import Processes
from ferrule.workspace.checkers.base import LARGEST, Changed

from .problems import Problem

JUDGES = frozenset({"ruff", "syntax", "json", "yaml", "toml", "ini", "xml", "workflows"})
"""Those that tell what is broken, not what could be better."""


async def by_checkers(
    path: Path, root: Path, text: str, processes: Processes, environment: tuple[tuple[str, str], ...]
) -> tuple[Problem, ...]:
    """Of a text that need not be on disk; what a checker could not do is left out. Raises OSError for a full disk."""
    from ferrule.types.names import spell
    from ferrule.workspace.checkers.catalog import checkers
    from ferrule.workspace.checkers.run import run_all

    name = spell(str(path.relative_to(root) if path.is_relative_to(root) else path.name))
    content = text.encode("utf-8", "replace")
    every = tuple(range(1, text.count("\n") + 2))
    file = Changed(name, content, None, every, size=len(content))
    chosen = tuple(checker for checker in checkers() if checker.name in JUDGES and checker.wants(file))
    if not chosen or len(content) > LARGEST:
        return ()

    async def base_file(wanted: str) -> bytes | None:
        return _content(root / wanted)

    async def exists(wanted: str) -> bool:
        return (root / wanted).exists()

    try:
        report = await run_all((file,), chosen, processes, environment, base_file, exists)
    except ExceptionGroup as group:
        raise group.exceptions[0] from None
    return tuple(
        Problem(each.line or 1, "error" if each.severity == "blocking" else "warning", each.text, f"{each.checker} {each.rule}")
        for each in report.findings
        if each.severity in ("blocking", "should-fix")
    )


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes() if path.is_file() and path.stat().st_size <= LARGEST else None
    except OSError:
        return None
