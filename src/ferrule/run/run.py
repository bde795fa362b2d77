"""The outer loop: drives a task until it has an outcome or waits for a person.

Retry has one owner, this loop, and one ledger (law 7). Every path out of it names an outcome (law 5), and only a terminal
action finishes a task (law 6).
"""

from collections.abc import Awaitable, Callable

from ferrule.attempt.attempt import AttemptResult, attempt

from .changed import lower_effort, strip_signatures
from .conclusion import Conclusion, Decision
from .failures import ask_again, fail_over, watch_idle
from .room import compact_after_timeout, overflow, results_were_cut
from .saying import instruct, remind, the_end
from .state import State

Step = Callable[[State, AttemptResult], Awaitable[Decision | None]]

STEPS: tuple[Step, ...] = (
    the_end,
    results_were_cut,
    watch_idle,
    compact_after_timeout,
    overflow,
    strip_signatures,
    lower_effort,
    fail_over,
    ask_again,
    instruct,
    remind,
)
"""In their order: each decides what comes of an attempt, or passes its result on. The last one always decides."""


class Run(State):
    async def drive(self) -> Conclusion:
        """Attempts until there is a conclusion. Raises LeaseLost and StoreError; cancellation passes through."""
        await self.choose()
        while True:
            result = await self.attempt()
            decision = await self.after(result)
            if isinstance(decision, Conclusion):
                return decision

    async def choose(self) -> None:
        """Who had to be left alone may be free again, or the other way round."""
        setup, chosen = self.setup, self.setup.lineup.begin().chosen
        last = setup.log.conversation.model
        if last is None or (last.model, last.endpoint) != (chosen.model, chosen.endpoint):
            await setup.log.add(chosen)

    async def attempt(self) -> AttemptResult:
        setup = self.once or self.setup
        conversation = setup.log.conversation
        calls, turns = conversation.calls_made, self.ledger.turns
        self.attempts += 1
        result = await attempt(setup, self.ledger, self.repetition, self.attempts)
        self.denials += result.denials
        if result.failed is None or not result.failed.fault.retryable:
            self.once = None
        if self.ledger.turns > turns and result.how != "failed":
            self.setup.lineup.worked()
        if conversation.calls_made > calls:
            self.ledger.progress()
            self.unsummarised = False
        elif result.message is not None and result.message.text.strip():
            self.ledger.idle = 0
        return result

    async def after(self, result: AttemptResult) -> Decision:
        for step in STEPS:
            decision = await step(self, result)
            if decision is not None:
                return decision
        raise AssertionError("the last step always decides")
