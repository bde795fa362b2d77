"""Running all checkers on a change, at once but few at a time, and telling what was looked at."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec.structs import replace

from ferrule.process.protocol import Processes

from .base import (
    RANK,
    Changed,
    Checker,
    CheckerFailed,
    CheckerRun,
    CheckFinding,
    Coverage,
    Missing,
    Report,
    Said,
    Skipped,
    State,
    Surroundings,
)

AT_ONCE = 2
SHOWN_OF_SECRET = 8
"""Characters of a secret value, as many as a finding may not show."""


async def run_all(
    files: tuple[Changed, ...],
    checkers: tuple[Checker, ...],
    processes: Processes,
    environment: tuple[tuple[str, str], ...],
    base_file: Callable[[str], Awaitable[bytes | None]],
    exists: Callable[[str], Awaitable[bool]],
) -> Report:
    """Every checker on the files it wants. Whatever one of them raises is told in the coverage and stops no other."""
    judged = tuple(file for file in files if _unfit(file) is None)
    room = asyncio.Semaphore(AT_ONCE)

    async def one(checker: Checker) -> tuple[CheckerRun, Said] | None:
        wanted = tuple(file for file in (judged if checker.content else files) if checker.wants(file))
        if not wanted:
            return None
        async with room:
            with tempfile.TemporaryDirectory(prefix="ferrule-check-") as folder:
                surroundings = Surroundings(processes, environment, base_file, exists, Path(folder))
                return await _one(checker, wanted, surroundings)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(checker)) for checker in checkers]
    done = [result for task in tasks if (result := task.result()) is not None]
    hidden = tuple(value for _, said in done for value in said.hide)
    findings = _ordered([_without(finding, hidden) for _, said in done for finding in said.findings])
    unfit = [Skipped(file.path, reason) for file in files if (reason := _unfit(file)) is not None]
    skipped = tuple(sorted({*unfit, *(each for _, said in done for each in said.skipped)}))
    lines = sum(len(file.lines) for file in files)
    return Report(findings, Coverage(len(files), lines, tuple(run for run, _ in done), skipped))


def _unfit(file: Changed) -> str | None:
    """Why the content of a file cannot be judged."""
    if file.skip is not None:
        return file.skip
    if file.mode == 0:
        return "deleted"
    if file.new is None:
        return "its content was not fetched"
    return "binary" if file.binary else None


async def _one(checker: Checker, files: tuple[Changed, ...], surroundings: Surroundings) -> tuple[CheckerRun, Said]:
    def ended(state: State, detail: str) -> tuple[CheckerRun, Said]:
        return CheckerRun(checker.name, "", state, len(files), detail), Said(())

    try:
        async with asyncio.timeout(checker.timeout):
            said = await checker.run(files, surroundings)
    except Missing as problem:
        return ended("missing", str(problem))
    except TimeoutError as problem:
        return ended("timed out", str(problem) or f"it took more than {checker.timeout:g} s")
    except CheckerFailed as problem:
        return ended("failed", str(problem))
    except (
        Exception
    ) as problem:  # a checker is made of other people's code; its bug must be told, and must not take the others along
        return ended("failed", f"{type(problem).__name__}: {problem}")
    return CheckerRun(checker.name, said.version, "ran", len(files)), said


def _without(finding: CheckFinding, hidden: tuple[str, ...]) -> CheckFinding:
    """The finding as it may be shown. Of a text that was cut short, the beginning of a value may be there."""
    if any(value in (finding.suggestion or "") for value in hidden):
        finding = replace(finding, suggestion=None)
    if any(len(value) >= SHOWN_OF_SECRET and value[:SHOWN_OF_SECRET] in finding.text for value in hidden):
        finding = replace(finding, text=f"A `{finding.rule}` finding whose text would show a secret.")
    return finding


def _ordered(findings: list[CheckFinding]) -> tuple[CheckFinding, ...]:
    """One finding for each place and rule, by place and then weight; of two with the same text the heavier stays."""
    by_key: dict[tuple[str, int | None, str], CheckFinding] = {}
    for each in sorted(findings, key=_order):
        by_key.setdefault((each.path, each.line, each.rule if each.rule == "parse-error" else f"{each.rule} {each.text}"), each)
    return tuple(by_key.values())


def _order(finding: CheckFinding) -> tuple[str, int, int, str, str, str]:
    return (finding.path, finding.line or 0, RANK[finding.severity], finding.checker, finding.rule, finding.text)
