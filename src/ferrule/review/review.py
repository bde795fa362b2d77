"""A review that is open: a task over a subject, and what it came to."""

from collections.abc import AsyncIterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ferrule.task.task import Task
from ferrule.types.outcome import Outcome
from ferrule.types.result import RunResult, TaskEvent
from ferrule.types.review import Finding, Severity, reaches
from ferrule.types.tools import GateResult
from ferrule.workspace.diff.anchors import Anchor, check, snippet
from ferrule.workspace.diff.model import Line

from .builtin import last_coverage
from .subject import Shown, Subject

FINDINGS_EXIT = 10


class Coverage(Struct, frozen=True):
    """What was looked at: each file's diff, and the checkers in their own words (None where none ran)."""

    files: tuple[Shown, ...]
    checks: str | None

    @property
    def line(self) -> str:
        """One line for people."""
        counts = {how: sum(shown.how == how for shown in self.files) for how in ("full", "partial", "skipped")}
        said = ", ".join(f"{count} {how}" for how, count in counts.items() if count)
        checks = (self.checks or "Coverage: no checks ran.").removeprefix("Coverage: ")
        return f"Coverage: {len(self.files)} files of the change ({said}). {checks}"


class ReviewResult(Struct, frozen=True):
    """`run.exit_code` is 10 where a finished review has a finding as severe as was asked for."""

    run: RunResult
    title: str
    findings: tuple[Finding, ...]
    coverage: Coverage
    snippets: tuple[tuple[Line, ...], ...]


class Review:
    """Driven like a task; what `run` gives is kept as `result`."""

    def __init__(self, task: Task, subject: Subject, fail_on: Severity | None) -> None:
        self.task = task
        self.subject = subject
        self.fail_on = fail_on
        self.result: ReviewResult | None = None

    @property
    def session_id(self) -> str | None:
        return self.task.session_id

    @property
    def task_id(self) -> str:
        return self.task.task_id

    @property
    def folder(self) -> Path:
        return self.task.folder

    @property
    def model(self) -> str:
        return self.task.model

    @property
    def tools(self) -> tuple[str, ...]:
        return self.task.tools

    @property
    def opened(self) -> int:
        return self.task.opened

    @property
    def remark(self) -> str:
        return self.task.remark

    def events(self, since: int = 0) -> AsyncIterator[TaskEvent]:
        return self.task.events(since)

    def interrupt(self) -> None:
        self.task.interrupt()

    async def close(self) -> None:
        await self.task.close()

    async def run(self) -> RunResult:
        run = await self.task.run()
        conversation = self.task.setup.log.conversation
        findings = tuple(
            sorted(conversation.staged.values(), key=lambda finding: (finding.path, finding.first or 0, finding.side))
        )
        run = self._judged(run, findings)
        coverage = Coverage(self.subject.shown, last_coverage(tuple(conversation.messages)))
        self.result = ReviewResult(run, self.subject.title, findings, coverage, tuple(map(self._snippet, findings)))
        return run

    def _judged(self, run: RunResult, findings: tuple[Finding, ...]) -> RunResult:
        if self.fail_on is None or run.outcome is not Outcome.FINISHED:
            return run
        reached = reaches(findings, self.fail_on)
        gate = GateResult("findings", not reached, f"{self.fail_on} or worse: {'yes' if reached else 'none'}")
        return replace(run, verification=(*run.verification, gate), exit_code=FINDINGS_EXIT if reached else run.exit_code)

    def _snippet(self, finding: Finding) -> tuple[Line, ...]:
        diff = self.subject.comparison.diff
        anchor = check(diff, finding.path, finding.line, finding.start_line, finding.side)
        return snippet(diff, anchor, 2) if isinstance(anchor, Anchor) else ()
