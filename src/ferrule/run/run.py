"""The outer loop: drives a task until it has an outcome or waits for a person.

Retry has one owner, this loop, and one ledger (law 7). Every path out of it names an outcome (law 5), and only a terminal
action finishes a task (law 6).
"""

import asyncio
import random
from dataclasses import dataclass, field

from ferrule.attempt.attempt import AttemptResult, attempt
from ferrule.attempt.ledger import Ledger
from ferrule.attempt.setup import Setup
from ferrule.attempt.stuck import Repetition
from ferrule.types.fault import MEANINGS
from ferrule.types.messages import Text, User
from ferrule.types.outcome import Outcome
from ferrule.types.records import Retried, UserSaid
from ferrule.types.result import Denial
from ferrule.types.stream import Failed
from ferrule.types.tools import End, GateResult, Question

from .backoff import GiveUp, next_delay


@dataclass(frozen=True)
class Reminding:
    """How a contract reminds: at most `times`, with `text` (the model stopped without a terminal action)."""

    times: int
    text: str
    empty_text: str


@dataclass(frozen=True)
class Conclusion:
    """What came of a run. `result` is the model's words or the sentence that says why there are none."""

    outcome: Outcome
    result: str
    gates: tuple[GateResult, ...] = ()
    question: Question | None = None
    error: str | None = None


def accepted(ends: End) -> Conclusion:
    """What an ended task comes to; the check that it did not pass is named."""
    failed = next((gate for gate in ends.gates if not gate.passed), None)
    error = None if failed is None else f"The check {failed.gate} kept failing: {failed.detail}."
    return Conclusion(ends.outcome, ends.result, ends.gates, error=error)


@dataclass
class Run:
    setup: Setup
    ledger: Ledger
    reminding: Reminding
    repetition: Repetition = field(default_factory=Repetition)
    denials: list[Denial] = field(default_factory=list)
    attempts: int = 0
    failures: int = 0
    idle: int = 0
    reminders: int = 0

    async def drive(self) -> Conclusion:
        """Attempts until there is a conclusion. Raises LeaseLost and StoreError; cancellation passes through."""
        while True:
            turns = self.ledger.turns
            self.attempts += 1
            result = await attempt(self.setup, self.ledger, self.repetition, self.attempts)
            self.denials += result.denials
            if self.ledger.turns > turns:
                self.failures = self.idle = 0
            conclusion = await self.after(result)
            if conclusion is not None:
                return conclusion

    async def after(self, result: AttemptResult) -> Conclusion | None:
        match result:
            case AttemptResult(how="ended", ends=End() as ends):
                return accepted(ends)
            case AttemptResult(how="waiting", waits=Question() as question):
                return Conclusion(Outcome.NEEDS_INPUT, question.text, question=question)
            case AttemptResult(how="failed", failed=Failed() as failed):
                return await self.retry(failed)
            case AttemptResult(how="limit"):
                return Conclusion(Outcome.LIMIT, result.why, error=result.why)
            case AttemptResult(how="stuck"):
                return Conclusion(Outcome.STUCK, result.why, error=result.why)
            case _:
                return await self.remind(result)

    async def retry(self, failed: Failed) -> Conclusion | None:
        """Wait and go on from the transcript: nothing of a failed answer was acted on, so asking again repeats no effect."""
        self.failures += 1
        self.idle = self.idle + 1 if failed.fault.code == "idle_timeout" else 0
        delay = next_delay(failed.fault, self.failures, self.ledger.retries, self.idle, random.random())
        if isinstance(delay, GiveUp):
            sentence = " ".join(part for part in (failed.fault.sentence, delay.why) if part)
            return Conclusion(MEANINGS[failed.fault.code].outcome, sentence, error=sentence)
        remaining = self.ledger.remaining()
        if remaining is not None and delay >= remaining:
            why = f"{self.ledger.time_is_up()} {failed.fault.sentence}"
            return Conclusion(Outcome.LIMIT, why, error=why)
        self.ledger.retries += 1
        await self.setup.log.add(Retried(failed.fault, round(delay, 3), failed.partial, failed.usage))
        await asyncio.sleep(delay)
        return None

    async def remind(self, result: AttemptResult) -> Conclusion | None:
        """The model stopped without a terminal action: say so, boundedly; then the task is incomplete, never finished."""
        said = result.message.text if result.message is not None else ""
        if self.reminders >= self.reminding.times:
            why = f"The model stopped without a terminal action, also after {self.reminders} reminders."
            return Conclusion(Outcome.INCOMPLETE, said or why, error=why)
        self.reminders += 1
        text = self.reminding.text if said else self.reminding.empty_text
        await self.setup.log.add(UserSaid(User((Text(text),)), "reminder"))
        return None
