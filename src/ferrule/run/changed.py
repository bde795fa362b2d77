"""A part of the request was refused: ask again without it, once."""

from collections.abc import Iterable

from msgspec.structs import replace

from ferrule.attempt.attempt import AttemptResult
from ferrule.types.messages import Assistant, Message, Reasoning
from ferrule.types.records import Repaired
from ferrule.types.request import Effort

from .conclusion import Decision
from .state import State

EFFORTS: tuple[Effort, ...] = ("none", "low", "medium", "high")


async def strip_signatures(state: State, result: AttemptResult) -> Decision | None:
    """The record heals the session: no later request sends the refused reasoning again."""
    if result.failed is None or result.failed.fault.code != "signature" or not state.ledger.may("signature"):
        return None
    conversation = state.setup.log.conversation
    if not any(map(_thought, conversation.messages[conversation.stripped :])):
        return None
    state.ledger.count("signature")
    what = f"the provider refused the reasoning of earlier answers, which is left out from here on: {result.failed.fault.detail}"
    await state.setup.log.add(Repaired("signatures", (what,), stripped=True))
    return await state.again(result.failed)


def _thought(message: Message) -> bool:
    """Whether a message carries anything that only its provider understands."""
    return isinstance(message, Assistant) and any(isinstance(part, Reasoning) or part.opaque for part in message.parts)


async def lower_effort(state: State, result: AttemptResult) -> Decision | None:
    setup = state.setup
    if result.failed is None or result.failed.fault.code != "effort" or setup.effort is None or not state.ledger.may("effort"):
        return None
    state.ledger.count("effort")
    lower = less(setup.effort, result.failed.fault.detail)
    state.setup = replace(setup, effort=lower)
    await setup.log.add(Repaired("effort", (f"the model refused the effort {setup.effort}: {lower or 'none is asked for'}",)))
    return await state.again(result.failed)


def less(effort: Effort, said: str) -> Effort | None:
    """The highest lower effort that the provider names, else the next lower one; None asks for none at all.

    A provider that does not know the parameter names no effort but the one that was sent, and often not that.
    """
    lower = EFFORTS[: EFFORTS.index(effort)]
    named = [each for each in lower if _named(each, said)]
    if named:
        return named[-1]
    return lower[-1] if lower and _named(effort, said) else None


def _named(effort: Effort, said: str) -> bool:
    return any(f"{quote}{effort}{quote}" in said for quote in _QUOTES)


_QUOTES: Iterable[str] = ("'", '"', "`")
