"""One task, open: a front drives it by `run` and `interrupt` and watches it by `events`; nothing else changes it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ferrule.attempt.ledger import Bound, Ledger
from ferrule.attempt.recover import recover
from ferrule.attempt.setup import Setup
from ferrule.run.conclusion import Conclusion, accepted
from ferrule.run.run import Run
from ferrule.run.state import Reminding
from ferrule.tools.command.jobs import Jobs
from ferrule.types.errors import FerruleError, StoreError, UsageError
from ferrule.types.messages import Assistant, Text, User
from ferrule.types.names import spell
from ferrule.types.outcome import Outcome
from ferrule.types.records import Answered, Record, RunEnded, UserSaid
from ferrule.types.result import Limits, RunResult, TaskEvent

from .closing import Closer, close_all
from .contracts import Contract
from .feed import Feed
from .holding.finding import Finding
from .receipts.evidence import Evidence
from .receipts.file import ReceiptTarget, receipt_file
from .receipts.tested import marked

if TYPE_CHECKING:
    from ferrule.run.compaction import Compacted, NotCompacted

SCHEMA_VERSION = 1


@dataclass
class Task:
    """`session_id` is None where nothing is kept (`--no-session`). `remark` is for the person, at the start. `opened` is the last
    record that was there when the task was opened.

    `finding` looks for files by name, for completion; `jobs` are its commands, which a front may list, stop
    and let go on; `sandbox` is what confines them, empty for nothing.
    `closers` are awaited by `close`, in reverse. `receipt_to` gets the receipt as a file; a run whose receipt cannot be
    written is not finished.
    """

    session_id: str | None
    task_id: str
    folder: Path
    setup: Setup
    contract: Contract
    limits: Limits
    passed_variables: tuple[str, ...]
    prompt: str | None
    finding: Finding | None = None
    jobs: Jobs | None = None
    sandbox: str = ""
    remark: str = ""
    opened: int = 0
    evidence: Evidence = field(default_factory=Evidence)
    closers: list[Closer] = field(default_factory=list)
    receipt_to: ReceiptTarget | None = None

    def __post_init__(self) -> None:
        chosen = self.setup.log.conversation.model
        self.evidence.in_force = self.model if chosen is None else chosen.model
        self.setup.log.listeners.append(self.evidence.hear)
        self.feed = Feed(self.setup.log)
        self.driving: asyncio.Task[Conclusion] | asyncio.Task[None] | None = None
        self.interrupted = False
        self.closed = False

    @property
    def model(self) -> str:
        return self.setup.provider.endpoint.name

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(self.setup.tools)

    def events(self, since: int = 0) -> AsyncIterator[TaskEvent]:
        return self.feed.events(since)

    def interrupt(self) -> None:
        """Stop at the next await: running commands are ended, open calls get their result, the outcome is `interrupted`."""
        self.interrupted = True
        if self.driving is not None:
            self.driving.cancel()

    async def run(self) -> RunResult:
        """Drive until an outcome. Expected failures are in the result; only bugs are raised."""
        reminders = Bound(self.contract.reminders, self.contract.reminders)
        ledger = Ledger(self.limits, bounds={"reminder": reminders})
        run = Run(self.setup, ledger, Reminding(self.contract.reminder, self.contract.empty_reminder))
        try:
            conclusion = await self._conclude(run)
            if conclusion.outcome is Outcome.USAGE_ERROR:
                return self._result(conclusion, run, None, conclusion.error)
            result = await self._store(conclusion, run)
            await self._tell(result)
            return result
        finally:
            self.feed.end()

    async def compact(self, focus: str = "") -> "Compacted | NotCompacted":
        """Summarise what was said longest ago, so that requests get shorter; `focus` says what to keep above all.

        Not while the task is driven. Raises UsageError, StoreError.
        """
        from ferrule.context.compaction.prompts import LONGEST_FOCUS
        from ferrule.run.compaction import compact

        if len(focus) > LONGEST_FOCUS:
            raise UsageError(f"the focus has {len(focus)} characters; at most {LONGEST_FOCUS} are taken")
        if self.driving is not None and not self.driving.done():
            raise UsageError("the task is running; compact it when it waits or has ended")
        return await compact(self.setup, Ledger(self.limits), "asked", focus=focus)

    async def _conclude(self, run: Run) -> Conclusion:
        self.driving = asyncio.create_task(self._drive(run))
        if self.interrupted:
            self.driving.cancel()
        try:
            return await asyncio.wait_for(self.driving, run.ledger.remaining())
        except TimeoutError:
            why = run.ledger.time_is_up()
            return Conclusion(Outcome.LIMIT, why, error=why)
        except asyncio.CancelledError:
            if not self.interrupted:
                raise
            return Conclusion(Outcome.INTERRUPTED, "Interrupted.", error="Interrupted.")
        except StoreError as failure:
            return Conclusion(failure.outcome, failure.reply or str(failure), error=str(failure))
        except FerruleError as failure:
            return Conclusion(failure.outcome, str(failure), error=str(failure))

    async def _tell(self, result: RunResult) -> None:
        """Hooks hear of the end. An interruption ends them; the outcome stands."""
        self.driving = asyncio.create_task(self.setup.hooks.after_task(result))
        try:
            await self.driving
        except asyncio.CancelledError:
            if not self.interrupted:
                raise

    async def _drive(self, run: Run) -> Conclusion:
        ended = self.setup.log.conversation.ended
        if ended is not None and self.prompt is None:
            return accepted(ended)
        if self.prompt is None:
            self._check_unspoken()
        notice = await self.setup.hooks.session_start(resumed=self.opened > 0)
        if notice.block is not None:
            return Conclusion(Outcome.FAILED, notice.block, error=notice.block)
        await recover(self.setup, spoken=self.prompt is not None)
        await self._begin(self.prompt)
        await self.setup.log.add(*(UserSaid(User((Text(note),)), "hook") for note in notice.notes))
        return await run.drive()

    def _check_unspoken(self) -> None:
        """Raises UsageError where only the person can say how it goes on. Nothing was stored then."""
        conversation = self.setup.log.conversation
        if conversation.waiting is not None:
            _, question = conversation.waiting
            raise UsageError(f"The session waits for an answer to: {question.text} Answer it with -p ANSWER.")
        if not conversation.messages:
            raise UsageError("The session holds no prompt yet. Say what to do with -p TEXT.")
        last = conversation.last_outcome
        if last is not None and last.outcome is Outcome.FINISHED and not conversation.spoken:
            raise UsageError("The task of this session is finished. Say what to do next with -p TEXT.")

    async def _begin(self, prompt: str | None) -> None:
        """Take in what the person said: an answer to the open question, feedback after an end, or simply going on."""
        log, conversation = self.setup.log, self.setup.log.conversation
        if prompt is None:
            if not conversation.open_calls and isinstance(conversation.messages[-1], Assistant):
                await log.add(UserSaid(User((Text(self.contract.reminder),)), "reminder"))
        elif conversation.waiting is not None:
            call, _ = conversation.waiting
            await log.add(Answered(call.id, prompt))
        else:
            await log.add(UserSaid(User((Text(prompt),)), "person"))

    async def _store(self, conclusion: Conclusion, run: Run) -> RunResult:
        log = self.setup.log
        head = log.journal.head(log.branch)
        receipt = self.evidence.receipt(conclusion.outcome, self.limits, self.passed_variables, head, self.sandbox)
        ended = RunEnded(conclusion.outcome, conclusion.result, conclusion.error)
        try:
            records = await log.add(receipt, ended)
        except StoreError as failure:
            return replace(self._result(conclusion, run, None, f"This result could not be stored: {failure}"), unstored=True)
        problem = self._hand_out(records[0])
        return self._result(conclusion, run, records[0].hash, problem or conclusion.error, failed=bool(problem))

    def _hand_out(self, record: Record) -> str:
        """Write the receipt where somebody asked for it; returns why that was impossible."""
        if self.receipt_to is None:
            return ""
        folder = spell(str(self.folder))
        return self.receipt_to.write(receipt_file(record, self.session_id, self.task_id, folder))

    def _result(
        self, conclusion: Conclusion, run: Run, receipt: str | None, error: str | None, failed: bool = False
    ) -> RunResult:
        outcome = conclusion.outcome
        if (receipt is None or failed) and outcome is Outcome.FINISHED:
            outcome = Outcome.FAILED
        usage = run.ledger.usage
        return RunResult(
            schema_version=SCHEMA_VERSION,
            session_id=self.session_id,
            task_id=self.task_id,
            outcome=outcome,
            exit_code=outcome.exit_code,
            result=conclusion.result,
            verification=marked(conclusion.gates, self.evidence.changes),
            denials=tuple(run.denials),
            limits=self.limits,
            usage=usage,
            cost_usd=usage.cost,
            turns=run.ledger.turns,
            files_changed=tuple(change.path for change in self.evidence.changes),
            receipt=receipt,
            model=self.model,
            question=conclusion.question,
            error=error,
            models=tuple(self.evidence.models),
        )

    async def close(self, primary: BaseException | None = None) -> None:
        """Give everything back; `primary` is the error on its way out, if there is one (`close_all`). May be called twice."""
        if self.closed:
            return
        self.closed = True
        self.feed.end()
        await close_all(self.closers, primary)
