"""The conversation does not fit: cut results where that is enough, compact, cut every result to its least, leave room for a short
answer only.

The cheapest that may suffice comes first; what is left then is the limit.

Only what a provider typed as an overflow, or preflight measured, comes here; what a compaction does wrong comes back as a value,
so that it never leads to another one.
"""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from ferrule.attempt.attempt import AttemptResult
from ferrule.attempt.lineup import Candidate, Lineup, Reduced
from ferrule.attempt.setup import Setup
from ferrule.context.estimate import of_message
from ferrule.context.preflight import as_sent, cuttable
from ferrule.context.truncate import KEPT, caps, render, shorten, sizes_under_pressure
from ferrule.types.fault import TIMEOUTS, Fault
from ferrule.types.messages import Results
from ferrule.types.outcome import Outcome
from ferrule.types.records import Repaired, Shrunk
from ferrule.types.stream import Failed

from .conclusion import Decision, Next, failed
from .state import State

if TYPE_CHECKING:
    from .compaction import NotCompacted, Why

FULL = 0.65
"""The part of the window above which a time-out is taken to come from the length of the prompt."""
SHORT_ANSWER = 2_048
SMALL_WINDOW = 8_192


async def results_were_cut(state: State, result: AttemptResult) -> Decision | None:
    """Preflight did it without asking anybody: the next attempt comes at once."""
    if result.how != "shrunk":
        return None
    if not state.ledger.may("shrunk"):
        return await _make_room(state, "preflight", result)
    state.ledger.count("shrunk")
    return Next.AGAIN


async def compact_after_timeout(state: State, result: AttemptResult) -> Decision | None:
    """Only the prompt's tokens count, as estimated from what was reported for earlier ones."""
    window = state.setup.fitting.window(state.setup.provider.endpoint)
    if result.failed is None or result.failed.fault.code not in TIMEOUTS or window is None:
        return None
    if (result.tokens or 0) / window <= FULL or not state.ledger.may("timeout") or state.ledger.remaining() == 0.0:
        return None
    from .compaction import Compacted, compact

    state.ledger.count("timeout")
    outcome = await compact(state.setup, state.ledger, "timeout")
    return await state.again(result.failed) if isinstance(outcome, Compacted) else None


async def overflow(state: State, result: AttemptResult) -> Decision | None:
    if result.how == "overflow":
        return await _make_room(state, "preflight", result)
    if result.failed is not None and result.failed.fault.code == "context_overflow":
        return await _make_room(state, "overflow", result)
    return None


async def _make_room(state: State, why: "Why", result: AttemptResult) -> Decision:
    """Each rung once between two answers with a call, compacting a few times; what failed is not tried again."""
    from .compaction import Compacted, compact

    ledger = state.ledger
    fault = result.failed.fault if result.failed is not None else Fault("context_overflow")
    may_cut = ledger.may("truncation") and not ledger.times("smaller")
    if may_cut and not ledger.times("overflow"):
        cut = cut_all(state.setup, why, fault, result.tokens)
        if cut is not None and suffices(cut, fault, result.tokens):
            return await _cut(state, cut, result)
    not_made: NotCompacted | None = None
    if not ledger.times("smaller") and ledger.may("overflow") and not state.unsummarised:
        ledger.count("overflow")
        compacted = await compact(state.setup, ledger, why, fault.observed_tokens)
        if isinstance(compacted, Compacted):
            return await _again(state, result.failed)
        not_made, state.unsummarised = compacted, True
    if (spent := ledger.exhausted()) is not None:
        return failed(Outcome.LIMIT, spent)
    if _fits_by_now(state, result) and ledger.may("shrunk"):
        ledger.count("shrunk")
        return Next.AGAIN
    if may_cut and (cut := cut_all(state.setup, why, fault, result.tokens, KEPT)) is not None:
        return await _cut(state, cut, result)
    if ledger.may("smaller") and (smaller := reduced(state.setup)) is not None:
        ledger.count("smaller")
        state.once, what = smaller
        await state.setup.log.add(Repaired("smaller request", what))
        return await _again(state, result.failed)
    if not_made is None:
        return failed(Outcome.LIMIT, fault.sentence)
    passes = not_made.fault is not None and not_made.fault.retryable
    return failed(Outcome.UNAVAILABLE if passes else Outcome.LIMIT, fault.sentence, not_made.why)


def _fits_by_now(state: State, result: AttemptResult) -> bool:
    """What preflight cut before it asked for a summary may turn out to be enough for one more request."""
    setup = state.setup
    return result.how == "overflow" and setup.fitting.fits(result.tokens or 0, setup.provider.endpoint)


def suffices(cut: Shrunk, fault: Fault, estimate: int | None) -> bool:
    """Whether cutting alone frees enough: what the provider says that there is too much, with some room on top, in our tokens;
    a quarter of the request where it does not say.
    """
    if estimate is None:
        return False
    observed, window = fault.observed_tokens, fault.window
    excess = (observed - window) * estimate // observed if observed and window and observed > window else 0
    return cut.before - cut.after >= max(excess * 3 // 2, estimate // 4)


async def _cut(state: State, cut: Shrunk, result: AttemptResult) -> Next:
    state.ledger.count("truncation")
    await state.setup.log.add(cut)
    return await _again(state, result.failed)


async def _again(state: State, failure: Failed | None) -> Next:
    return Next.AGAIN if failure is None else await state.again(failure)


def cut_all(setup: Setup, why: "Why", fault: Fault, estimate: int | None, most: int | None = None) -> Shrunk | None:
    """Every long result that was not cut to make room yet, together no longer than one may be, or each at most `most` characters.

    `estimate`: tokens of the request, where it was measured. None where there is no such result.
    """
    conversation = setup.log.conversation
    results = cuttable(conversation)
    sent = {id: as_sent(result, conversation.cuts) for id, result in results.items()}
    window = setup.fitting.window(setup.provider.endpoint) or fault.observed_tokens or SMALL_WINDOW
    sizes = sizes_under_pressure({id: len(each.text) for id, each in sent.items()}, most or caps(window).result)
    cuts = tuple(cut for id, size in sizes.items() if (cut := shorten(results[id], size)) is not None)
    if not cuts:
        return None
    long = of_message(Results(tuple(sent[cut.call_id] for cut in cuts)))
    short = of_message(Results(tuple(render(results[cut.call_id], cut) for cut in cuts)))
    saved = round(long.total - short.total)
    before = max(fault.observed_tokens or estimate or 0, saved)
    return Shrunk(why, cuts, before=before, after=before - saved)


def reduced(setup: Setup) -> tuple[Setup, tuple[str, ...]] | None:
    """For one more try: a short answer, no optional sections, and the provider alone judges whether it fits."""
    provider = setup.provider
    most = provider.endpoint.profile.max_output
    system = tuple(section for section in setup.system if section not in setup.optional)
    if system == setup.system and most is not None and most <= SHORT_ANSWER:
        return None
    what = [f"room for an answer of {min(SHORT_ANSWER, most or SHORT_ANSWER)} tokens"]
    what += [f"left out: {section.splitlines()[0]}" for section in setup.system if section in setup.optional]
    lineup = Lineup([Candidate(Reduced(provider, SHORT_ANSWER))])
    return replace(setup, lineup=lineup, system=system), tuple(what)
