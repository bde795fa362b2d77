"""Checkers run on files given as contents, with real programs."""

import asyncio
import difflib
import os
from collections.abc import Mapping
from pathlib import Path

from ferrule.process.protocol import allowed_environment
from ferrule.process.supervisor import Supervisor
from ferrule.workspace.checkers.base import Changed, Checker, CheckFinding, Report
from ferrule.workspace.checkers.run import run_all


def changed(path: str, new: bytes | str, old: bytes | str | None = None, /, **fields: object) -> Changed:
    """A changed file, with the changed lines that a comparison of the two contents finds."""
    after, before = _bytes(new), None if old is None else _bytes(old)
    blocks = difflib.SequenceMatcher(None, (before or b"").split(b"\n"), after.split(b"\n"), autojunk=False).get_opcodes()
    lines = tuple(line + 1 for tag, _, _, start, end in blocks if tag in ("insert", "replace") for line in range(start, end))
    if before is None:
        lines = tuple(range(1, after.count(b"\n") + 1 + (not after.endswith(b"\n"))))
    given = {"path": path, "new": after, "old": before, "lines": lines, "size": len(after)}
    return Changed(**{"old_mode": 0 if before is None else 0o100644, **given, **fields})  # type: ignore[arg-type]  # named fields


def _bytes(content: bytes | str) -> bytes:
    return content if isinstance(content, bytes) else content.encode()


def report(
    *files: Changed,
    checkers: tuple[Checker, ...],
    base: Mapping[str, bytes] | None = None,
    tree: tuple[str, ...] = (),
    path: str | None = None,
) -> Report:
    """What the checkers say. `base` are files before the change, `tree` the paths after it, `path` the PATH of programs."""

    async def base_file(name: str) -> bytes | None:
        return (base or {}).get(name)

    async def exists(name: str) -> bool:
        return name in tree

    async def run() -> Report:
        processes = Supervisor()
        environment = dict(allowed_environment(os.environ)) | ({} if path is None else {"PATH": path})
        try:
            return await run_all(files, checkers, processes, tuple(environment.items()), base_file, exists)
        finally:
            await processes.close()

    return asyncio.run(run())


def findings(
    *files: Changed, checker: Checker, base: Mapping[str, bytes] | None = None, tree: tuple[str, ...] = ()
) -> tuple[CheckFinding, ...]:
    """The findings of a checker that must have run."""
    said = report(*files, checkers=(checker,), base=base, tree=tree)
    assert [run.state for run in said.coverage.runs] in ([], ["ran"]), said.coverage
    return said.findings


def places(found: tuple[CheckFinding, ...]) -> list[tuple[str, int | None]]:
    return [(each.rule, each.line) for each in found]


def program(folder: Path, name: str, script: str) -> str:
    """A program of that name; the folder is to be the PATH."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return str(folder)
