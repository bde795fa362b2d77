"""The model stopped without a call: say what is missing, boundedly; then the task is incomplete, never finished (law 6)."""

from collections.abc import Mapping

from ferrule.attempt.attempt import AttemptResult
from ferrule.attempt.ledger import Cause
from ferrule.stream.turns import turn_kind
from ferrule.types.messages import Text, User
from ferrule.types.outcome import Outcome
from ferrule.types.records import UserSaid
from ferrule.types.tools import End, Question

from .conclusion import Conclusion, Decision, Next, accepted, failed
from .state import State

INSTRUCTIONS: Mapping[Cause, str] = {
    "reasoning_only": (
        "[Automatic reminder] Your last answer held only reasoning, which nobody sees. Do what you concluded: make the next tool "
        "call, or end the task by its terminal action."
    ),
    "empty": "[Automatic reminder] Your last answer was empty. Go on with the next tool call.",
    "announced": (
        "[Automatic reminder] You said what you would do and stopped. Nothing was done. Make the tool call for it in this answer."
    ),
}
"""By what kind of turn it was. An answer that never came is a failed call, and is asked for again without a word."""


async def the_end(state: State, result: AttemptResult) -> Decision | None:
    """What an attempt can only end with."""
    match result:
        case AttemptResult(how="ended", ends=End() as ends):
            return accepted(ends)
        case AttemptResult(how="waiting", waits=Question() as question):
            return Conclusion(Outcome.NEEDS_INPUT, question.text, question=question)
        case AttemptResult(how="limit"):
            return failed(Outcome.LIMIT, result.why)
        case AttemptResult(how="stuck"):
            return failed(Outcome.STUCK, result.why)
        case AttemptResult(how="blocked"):
            return failed(Outcome.FAILED, result.why)
        case _:
            return None


async def instruct(state: State, result: AttemptResult) -> Decision | None:
    """An answer that nobody can use is asked for again, with a word about what was wrong with it."""
    kind = turn_kind(result.message) if result.message is not None else "answer"
    if kind == "calls" or kind == "answer" or not state.ledger.may(kind):
        return None
    state.ledger.count(kind)
    await state.setup.log.add(UserSaid(User((Text(INSTRUCTIONS[kind]),)), "reminder"))
    return Next.AGAIN


async def remind(state: State, result: AttemptResult) -> Decision | None:
    said = result.message.text if result.message is not None else ""
    ledger = state.ledger
    if not ledger.may("reminder"):
        why = f"The model stopped without a terminal action, also after {ledger.times('reminder')} reminders."
        return Conclusion(Outcome.INCOMPLETE, said or why, error=why)
    ledger.count("reminder")
    text = state.reminding.text if said else state.reminding.empty_text
    await state.setup.log.add(UserSaid(User((Text(text),)), "reminder"))
    return Next.AGAIN
