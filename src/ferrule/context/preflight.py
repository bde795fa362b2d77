"""Before a model call: does the request fit the context window, and what is the cheapest that makes it fit?

Pure. Thresholds are those of OpenClaw, the order of routes is ours: cutting results costs nothing, a summary costs a model call.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ferrule.types.messages import Assistant, Results, ToolResult
from ferrule.types.records import Cut
from ferrule.types.request import Request

from .estimate import Estimator
from .shrink import Shrinkable, kept_from
from .truncate import caps, render, shorten, sizes_of_turn, sizes_under_pressure

Route = Literal["fits", "truncate_tool_results", "truncate_then_compact", "compact"]

UNCALIBRATED, CALIBRATED = 1.2, 1.05
"""What an estimate is multiplied by: as long as the provider has reported nothing, and from then on."""

PROMPT = 8_000
"""Tokens that are left for the prompt, whatever the reserve (if the window has them)."""


class Plan(Struct, frozen=True):
    """What is to be done before asking.

    `cuts` are to be recorded (`Shrunk`) before anything else happens, on every route: a result that is too large to come in
    whole is cut although the request fits. `estimate` is tokens of the request as it is, `after` with the cuts, both without
    the margin; `budget` is what the prompt may have (None: the window is unknown), `overflow` by how much the request exceeds
    it, margin included, the cuts of what has not been sent yet taken off.
    """

    route: Route
    estimate: int
    after: int
    budget: int | None = None
    overflow: int = 0
    cuts: tuple[Cut, ...] = ()


def prompt_budget(window: int, reserve: int) -> int:
    """Tokens for the prompt: the window without the reserve for the answer, yet never less than a useful prompt needs."""
    return window - min(reserve, window - min(PROMPT, window - 1))


def excess(tokens: float, budget: int) -> int:
    """By how many whole tokens so many, the margin included, are more than the budget."""
    return max(0, math.ceil(round(tokens, 3)) - budget)


def plan(request: Request, conversation: Shrinkable, estimator: Estimator, window: int | None, reserve: int) -> Plan:
    """`request` is built from the conversation as it stands. `window` and `reserve` (for the answer) in tokens.

    Results behind the last answer have not been sent yet and are held to the caps of one result and one turn. Results that were
    sent are cut only if the request doesn't fit otherwise, oldest first, and once: what was cut on its way in counts as whole.
    """
    estimate = estimator.estimate(request)
    if window is None:
        return Plan("fits", estimate, estimate)
    budget, most = prompt_budget(window, reserve), caps(window)
    margin = CALIBRATED if estimator.calibrated else UNCALIBRATED
    results = cuttable(conversation)
    shown = {id: as_sent(result, conversation.cuts) for id, result in results.items()}
    lengths = {id: len(result.text) for id, result in _fresh(conversation).items() if id not in conversation.cuts}
    coming = sizes_of_turn(lengths, most)

    def outcome(sizes: Mapping[str, int], pressed: Mapping[str, int]) -> tuple[tuple[Cut, ...], int, int]:
        cuts = _cuts(results, {**sizes, **pressed}, pressed)
        after = _after(request, results, shown, cuts, estimator) if cuts else estimate
        return cuts, after, excess(after * margin, budget)

    cuts, after, overflow = outcome(coming, {})
    if overflow == 0:
        return Plan("fits", estimate, after, budget, 0, cuts)
    lengths = {id: coming.get(id, len(result.text)) for id, result in shown.items()}
    every = sizes_under_pressure(lengths, most.result)
    reducible = sum(lengths[id] - size for id, size in every.items())
    if reducible == 0:
        return Plan("compact", estimate, after, budget, overflow, cuts)
    wanted = max(4 * overflow + 2_048, 6 * overflow)
    enough = reducible >= wanted
    sizes = sizes_under_pressure(lengths, most.result, wanted) if enough else every
    cuts, after, left = outcome(coming, sizes)
    if left and sizes != every:
        cuts, after, left = outcome(coming, every)
    route: Route = "truncate_tool_results" if enough and not left else "truncate_then_compact"
    return Plan(route, estimate, after, budget, overflow, cuts)


def cuttable(conversation: Shrinkable) -> dict[str, ToolResult]:
    """The results that were not cut to make room yet, as they came, oldest first."""
    messages, cuts = conversation.messages, conversation.cuts
    kept = (messages[at] for at in range(kept_from(messages, conversation.compacted), len(messages)))
    results = (result for message in kept if isinstance(message, Results) for result in message.parts)
    return {result.call_id: result for result in results if result.call_id not in cuts or cuts[result.call_id].coming}


def as_sent(result: ToolResult, cuts: Mapping[str, Cut]) -> ToolResult:
    cut = cuts.get(result.call_id)
    return result if cut is None else render(result, cut)


def _fresh(conversation: Shrinkable) -> dict[str, ToolResult]:
    """The results behind the last answer."""
    behind = takewhile(lambda message: not isinstance(message, Assistant), reversed(conversation.messages))
    results = (result for message in behind if isinstance(message, Results) for result in message.parts)
    return {result.call_id: result for result in results}


def _cuts(results: Mapping[str, ToolResult], sizes: Mapping[str, int], pressed: Mapping[str, int]) -> tuple[Cut, ...]:
    made = (shorten(results[id], size) for id, size in sizes.items())
    return tuple(replace(cut, coming=cut.call_id not in pressed) for cut in made if cut is not None)


def _after(
    request: Request,
    results: Mapping[str, ToolResult],
    shown: Mapping[str, ToolResult],
    cuts: Sequence[Cut],
    estimator: Estimator,
) -> int:
    whole = tuple(shown[cut.call_id] for cut in cuts)
    short = tuple(render(results[cut.call_id], cut) for cut in cuts)
    return estimator.estimate(request, gone=(Results(whole),), instead=(Results(short),))
