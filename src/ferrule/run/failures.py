"""A model call failed: ask somebody else, ask the same again, or give up."""

from ferrule.attempt.attempt import AttemptResult
from ferrule.attempt.ledger import IDLE_IN_A_ROW, Cause
from ferrule.types.fault import Fault
from ferrule.types.messages import Text
from ferrule.types.outcome import Outcome
from ferrule.types.stream import Failed

from .backoff import next_delay, too_long
from .conclusion import Decision, failed
from .failover import MOMENT, PATIENCE, REASONS, Situation, decide
from .state import State


async def watch_idle(state: State, result: AttemptResult) -> Decision | None:
    """The breaker: so many answers in a row that stopped in the middle stop the spending, whoever gave them."""
    if result.failed is None or result.failed.fault.code != "idle_timeout":
        return None
    state.ledger.idle += 1
    if state.ledger.idle < IDLE_IN_A_ROW:
        return None
    return failed(Outcome.UNAVAILABLE, result.failed.fault.sentence, f"{state.ledger.idle} answers in a row stopped like this.")


async def fail_over(state: State, result: AttemptResult) -> Decision | None:
    """Another key or model, at once. Free of effects: the failed call was never acted on."""
    if result.failed is None:
        return None
    fault, lineup = result.failed.fault, state.setup.lineup
    key, model = lineup.other_key(), lineup.other_model()
    if state.ledger.times(cause_of(result.failed)) < PATIENCE.get(fault.code, 0) and (fault.retry_after or 0.0) <= MOMENT:
        return None
    to = {"rotate": key, "fallback": model}.get(decide(situation(state, result.failed, bool(key), bool(model))))
    if to is None or not state.ledger.may("failover"):
        return None
    state.ledger.count("failover")
    left, state.once = lineup.current, None
    lineup.move(to, fault)
    decision = await state.again(result.failed, to=to.name)
    if to.model != left.model:
        await state.setup.log.add(to.chosen)
    return decision


def situation(state: State, failure: Failed, key_left: bool, model_left: bool) -> Situation:
    fault = failure.fault
    return Situation(
        stage="assistant" if failure.partial else "prompt",
        reason=REASONS[fault.code],
        ours=fault.code == "total_timeout" and state.ledger.remaining() == 0.0,
        visible=any(isinstance(part, Text) and part.text.strip() for part in failure.partial),
        key_left=key_left,
        model_left=model_left,
    )


async def ask_again(state: State, result: AttemptResult) -> Decision | None:
    """The same candidate after a pause, where the failure may pass; else the end that the fault means."""
    if result.failed is None:
        return None
    fault, ledger = result.failed.fault, state.ledger
    cause = cause_of(result.failed)
    why = too_long(fault) if fault.retryable else ""
    if not why and fault.retryable and not ledger.may(cause):
        why = f"Tried {ledger.times(cause) + 1} times in a row."
    if why or not fault.retryable:
        return failed(fault.outcome, fault.sentence, why)
    delay = next_delay(fault, ledger.times(cause) + 1, state.jitter())
    remaining = ledger.remaining()
    if remaining is not None and delay >= remaining:
        return failed(Outcome.LIMIT, ledger.time_is_up(), fault.sentence)
    ledger.count(cause)
    return await state.again(result.failed, delay)


def cause_of(failure: Failed) -> Cause:
    match failure.fault.code:
        case "idle_timeout":
            return "idle"
        case "repetition":
            return "repetition"
        case _:
            return "silent_error" if _silent(failure.fault, failure) else "transport"


def _silent(fault: Fault, failure: Failed) -> bool:
    """A stream that began well and then only said that something went wrong."""
    return fault.code == "server_error" and fault.status is None and not failure.partial and not failure.usage.output
