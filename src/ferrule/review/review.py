"""A review that is open: a task over a subject, and what it came to."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ferrule.task.receipts.file import ReceiptTarget
from ferrule.task.task import Task
from ferrule.types.outcome import Outcome
from ferrule.types.result import RunResult, TaskEvent
from ferrule.types.review import Finding, Severity, reaches
from ferrule.workspace.diff.anchors import Anchor, check, snippet
from ferrule.workspace.diff.model import Line

from . import builtin
from .coverage import Coverage, coverage
from .subject import MARKS, Subject

FINDINGS_EXIT = 10
HIDDEN = "[this line holds what looks like a secret; it is not shown]"


class CodeLine(Struct, frozen=True):
    """A line around a finding. Its number is of the finding's side, else of the other; `about` marks the finding's own lines."""

    number: int
    mark: Literal[" ", "+", "-"]
    text: str
    about: bool


class ReviewResult(Struct, frozen=True):
    """`run.exit_code` is 10 where a finished review has a finding as severe as was asked for."""

    run: RunResult
    title: str
    findings: tuple[Finding, ...]
    coverage: Coverage
    snippets: tuple[tuple[CodeLine, ...], ...]


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

    @property
    def receipt_to(self) -> ReceiptTarget | None:
        return self.task.receipt_to

    @receipt_to.setter
    def receipt_to(self, target: ReceiptTarget | None) -> None:
        self.task.receipt_to = target

    def events(self, since: int = 0) -> AsyncIterator[TaskEvent]:
        return self.task.events(since)

    def interrupt(self) -> None:
        self.task.interrupt()

    async def close(self, primary: BaseException | None = None) -> None:
        await self.task.close(primary)

    async def run(self) -> RunResult:
        run = await self.task.run()
        conversation = self.task.setup.log.conversation
        findings = tuple(
            sorted(conversation.staged.values(), key=lambda finding: (finding.path, finding.first or 0, finding.side))
        )
        run = self._judged(run, findings)
        looked_at = coverage(self.subject, conversation.messages, self.model == builtin.NAME)
        secret = frozenset((found.path, found.line) for found in findings if found.source.startswith("secrets/"))
        snippets = tuple(self._snippet(finding, secret) for finding in findings)
        self.result = ReviewResult(run, self.subject.title, findings, looked_at, snippets)
        return run

    def _judged(self, run: RunResult, findings: tuple[Finding, ...]) -> RunResult:
        if self.fail_on is None or run.outcome is not Outcome.FINISHED:
            return run
        return replace(run, exit_code=FINDINGS_EXIT) if reaches(findings, self.fail_on) else run

    def _snippet(self, finding: Finding, secret: frozenset[tuple[str, int | None]]) -> tuple[CodeLine, ...]:
        """Lines that hold a secret are not shown: output is pasted and kept."""
        diff = self.subject.comparison.diff
        anchor = check(diff, finding.path, finding.line, finding.start_line, finding.side)
        if not isinstance(anchor, Anchor):
            return ()
        return tuple(self._code_line(line, anchor, (finding.path, line.new) in secret) for line in snippet(diff, anchor, 2))

    def _code_line(self, line: Line, anchor: Anchor, secret: bool) -> CodeLine:
        own, other = (line.new, line.old) if anchor.side == "RIGHT" else (line.old, line.new)
        about = own is not None and anchor.first is not None and anchor.line is not None and anchor.first <= own <= anchor.line
        text = HIDDEN if secret else self.subject.mask.text(line.text)
        return CodeLine(own if own is not None else other or 0, MARKS[line.kind], text, about)
