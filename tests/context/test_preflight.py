from fractions import Fraction
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.context.estimate import Estimator
from ferrule.context.preflight import Plan, plan, prompt_budget
from ferrule.context.shrink import Shrinking
from ferrule.context.truncate import caps
from ferrule.types.messages import Results
from ferrule.types.records import Shrunk
from ferrule.types.request import Request
from ferrule.types.usage import Usage

from .talking import Talk

LINE = "a line of a result that says little but takes its room\n"


def text(characters: int) -> str:
    return (LINE * (characters // len(LINE) + 1))[:characters]


def request(talk: Talk, tokens: int = 0) -> Request:
    """The request for the conversation as it stands; its system prompt makes it about so many tokens large."""
    messages = Shrinking().of(talk.conversation)
    missing = tokens - Estimator().estimate(Request((), messages))
    each = Estimator().estimate(Request((text(10_000),), ())) / 10_000
    return Request(("You are a coding agent.", text(max(0, int(missing / each)))), messages)


def reporting(asked: Request, tokens: int) -> Estimator:
    """An estimator to which the provider reported so many tokens for exactly this request."""
    estimator = Estimator()
    estimator.observe(asked, Usage(input=tokens))
    assert estimator.calibrated
    return estimator


def oracle_budget(window: int, reserve: int) -> int:
    """As the facts state it, in their words and their order."""
    min_prompt = max(min(8_000, int(Fraction(window, 2))), min(8_000, window - 1))
    effective_reserve = min(reserve, window - min_prompt)
    return window - effective_reserve


def oracle_route(tokens: int, window: int, reserve: int, reducible: int) -> tuple[str, int]:
    needed = Fraction(tokens) * Fraction(105, 100)
    rounded = needed.numerator // needed.denominator + (needed.denominator > 1)
    overflow = max(0, rounded - oracle_budget(window, reserve))
    if overflow == 0:
        return "fits", 0
    if reducible == 0:
        return "compact", overflow
    if reducible >= max(4 * overflow + 2_048, -(-6 * overflow // 1)):
        return "truncate_tool_results", overflow
    return "truncate_then_compact", overflow


@given(st.integers(1, 300_000), st.integers(0, 300_000))
def test_the_budget_is_the_window_without_the_reserve_but_a_prompt_always_has_room(window: int, reserve: int) -> None:
    assert prompt_budget(window, reserve) == oracle_budget(window, reserve)
    assert min(8_000, window - 1) <= prompt_budget(window, reserve) <= window


def old_results(*lengths: int) -> Talk:
    """Results that were sent before: an answer follows them."""
    talk = Talk()
    talk.says("go")
    for length in lengths:
        talk.turn(text(length))
    talk.answers("done")
    return talk


def at_border(window: int, reserve: int, overflow: int) -> int:
    """The most tokens that, with the margin, exceed the budget by no more than `overflow`."""
    return (oracle_budget(window, reserve) + overflow) * 100 // 105


BIG = 56_000
"""One result of so many characters can come down to the cap of a window of 32,000 by 40,000."""


@pytest.mark.parametrize("off", [-1, 0, 1])
@pytest.mark.parametrize("reducible", [0, 2_054, 5_000, 6_143, 6_144, 6_145, 12_000, 40_000])
@pytest.mark.parametrize("border", ["fits", "truncates"])
def test_routes_change_exactly_at_their_thresholds(border: Literal["fits", "truncates"], reducible: int, off: int) -> None:
    window, reserve = 32_000, 8_000
    talk = old_results(16_000 + reducible) if reducible else old_results(3_000, 3_000)
    asked = request(talk, 23_000)
    most = next(over for over in range(20_000, -1, -1) if max(4 * over + 2_048, 6 * over) <= reducible or over == 0)
    tokens = at_border(window, reserve, 0 if border == "fits" else most) + off
    planned = plan(asked, talk.conversation, reporting(asked, tokens), window, reserve)
    route, overflow = oracle_route(tokens, window, reserve, reducible)
    assert (planned.route, planned.estimate, planned.budget, planned.overflow) == (route, tokens, 24_000, overflow)
    assert bool(planned.cuts) == (route not in ("fits", "compact"))


def test_all_routes_are_reached_by_these_thresholds() -> None:
    reached = {
        oracle_route(24_000 + over, 32_000, 8_000, reducible)[0] for over in (-9_000, -1_000, 5_000) for reducible in (0, 5_000)
    }
    assert reached == {"fits", "compact", "truncate_tool_results", "truncate_then_compact"}


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 60_000), min_size=1, max_size=6),
    st.sampled_from([12_000, 32_000, 100_000, 200_000]),
    st.integers(0, 40_000),
    st.floats(0.7, 1.6),
)
def test_the_route_and_the_overflow_are_those_of_the_facts(lengths: list[int], window: int, reserve: int, filled: float) -> None:
    talk = old_results(*lengths)
    tokens = int(oracle_budget(window, reserve) * filled)
    asked = request(talk, tokens)
    estimator = Estimator()
    estimator.observe(asked, Usage(input=tokens))
    if not estimator.calibrated:
        return
    cap = caps(window).result
    capped = [min(length, cap) for length in lengths]
    spare = sum(max(0, size - 2_000) for size in capped)
    aggregate = min(spare, max(0, sum(capped) - cap)) if len(lengths) > 1 else 0
    reducible = sum(lengths) - sum(capped) + aggregate
    planned = plan(asked, talk.conversation, estimator, window, reserve)
    route, overflow = oracle_route(tokens, window, reserve, reducible)
    assert planned.overflow == overflow
    # The characters freed may turn out to be too few tokens: then, and only then, the next route.
    assert planned.route == route or (route, planned.route) == ("truncate_tool_results", "truncate_then_compact")
    if planned.route != route:
        assert Fraction(planned.after) * Fraction(105, 100) > oracle_budget(window, reserve)


def apply(talk: Talk, planned: Plan) -> None:
    talk.shrinks(Shrunk("preflight", planned.cuts, before=planned.estimate, after=planned.after))


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.integers(0, 60_000), min_size=1, max_size=3), min_size=1, max_size=5),
    st.sampled_from([12_000, 32_000, 100_000, 200_000]),
    st.booleans(),
    st.floats(0.8, 1.3),
)
def test_a_plan_that_was_carried_out_holds(turns: list[list[int]], window: int, done: bool, ratio: float) -> None:
    talk = Talk()
    talk.says("go")
    for lengths in turns:
        talk.turn(*map(text, lengths))
    if done:
        talk.answers("done")
    asked = request(talk)
    estimator = reporting(asked, int(Estimator().estimate(asked) * ratio))
    planned = plan(asked, talk.conversation, estimator, window, 8_000)
    apply(talk, planned)
    shorter = request(talk)
    assert estimator.estimate(shorter) == pytest.approx(planned.after, abs=8)
    assert planned.after <= planned.estimate
    assert (planned.after < planned.estimate) == bool(planned.cuts)
    again = plan(shorter, talk.conversation, estimator, window, 8_000)
    assert again.cuts == () or planned.route == "truncate_then_compact"
    if planned.route in ("fits", "truncate_tool_results"):
        assert again.route == "fits"
    for message in talk.conversation.messages:
        for result in message.parts if isinstance(message, Results) else ():
            cut = talk.conversation.cuts.get(result.call_id)
            assert cut is None or cut.head + cut.tail < len(result.text)


def test_what_is_known_to_be_unknown_always_fits() -> None:
    talk = old_results(500_000)
    planned = plan(request(talk), talk.conversation, Estimator(), None, 8_000)
    assert (planned.route, planned.budget, planned.cuts) == ("fits", None, ())


def test_the_margin_is_larger_while_nothing_was_reported() -> None:
    talk = old_results(1_000)
    asked = request(talk)
    tokens = Estimator().estimate(asked)
    window = tokens * 110 // 100
    assert plan(asked, talk.conversation, Estimator(), window, 0).route == "compact"
    assert plan(asked, talk.conversation, reporting(asked, tokens), window, 0).route == "fits"


def test_one_result_that_comes_in_is_held_to_the_cap_although_it_fits() -> None:
    talk = Talk()
    talk.says("go")
    (id,) = talk.turn(text(400_000))
    planned = plan(request(talk), talk.conversation, Estimator(), 1_000_000, 8_000)
    assert planned.route == "fits"
    assert [cut.call_id for cut in planned.cuts] == [id]
    assert 0.9 * 64_000 < planned.cuts[0].head + planned.cuts[0].tail < 64_000
    assert planned.after < planned.estimate / 4


def test_several_results_below_the_cap_of_one_are_held_to_that_of_a_turn() -> None:
    talk = Talk()
    talk.says("go")
    ids = talk.turn(*[text(15_000)] * 5, text(3_000))
    planned = plan(request(talk), talk.conversation, Estimator(), 40_000, 8_000)
    assert planned.route == "fits"
    assert [cut.call_id for cut in planned.cuts] == list(ids[:5])
    assert sum(cut.head + cut.tail for cut in planned.cuts) + 3_000 <= 48_000


def test_a_result_that_was_sent_whole_stays_whole_as_long_as_the_request_fits() -> None:
    talk = old_results(400_000)
    assert plan(request(talk), talk.conversation, Estimator(), 1_000_000, 8_000).cuts == ()


def test_only_as_many_of_the_oldest_are_cut_as_it_takes() -> None:
    talk = old_results(30_000, 30_000, 30_000)
    asked = request(talk)
    tokens = at_border(32_000, 8_000, 300)
    planned = plan(asked, talk.conversation, reporting(asked, tokens), 32_000, 8_000)
    assert planned.route == "truncate_tool_results"
    oldest = next(
        part.call_id for message in talk.conversation.messages if isinstance(message, Results) for part in message.parts
    )
    assert [cut.call_id for cut in planned.cuts] == [oldest]


def test_all_are_cut_where_the_characters_of_the_oldest_are_hardly_any_tokens() -> None:
    talk = Talk()
    talk.says("go")
    ids = talk.turn("\n" * 40_000) + talk.turn(text(40_000))
    talk.answers("done")
    asked = request(talk, 23_000)
    planned = plan(asked, talk.conversation, reporting(asked, at_border(32_000, 8_000, 3_000)), 32_000, 8_000)
    assert planned.route == "truncate_tool_results"
    assert [cut.call_id for cut in planned.cuts] == list(ids)


def test_what_comes_in_is_cut_beside_what_was_sent() -> None:
    talk = old_results(30_000)
    talk.says("go on")
    (fresh,) = talk.turn(text(90_000))
    asked = request(talk, 46_000)
    planned = plan(asked, talk.conversation, Estimator(), 32_000, 2_000)
    assert planned.route == "truncate_tool_results"
    sizes = {cut.call_id: cut.head + cut.tail for cut in planned.cuts}
    assert len(sizes) == 2
    assert min(sizes.values()) > 10_000
    assert 10_000 < sizes[fresh] < 16_000


def test_what_was_cut_earlier_is_not_cut_again() -> None:
    talk = old_results(30_000, 30_000)
    asked = request(talk)
    estimator = reporting(asked, at_border(32_000, 8_000, 300))
    first = plan(asked, talk.conversation, estimator, 32_000, 8_000)
    apply(talk, first)
    shorter = request(talk)
    estimator.observe(shorter, Usage(input=at_border(32_000, 8_000, 300)))
    second = plan(shorter, talk.conversation, estimator, 32_000, 8_000)
    assert second.cuts
    assert {cut.call_id for cut in first.cuts}.isdisjoint(cut.call_id for cut in second.cuts)


def test_a_result_that_was_compacted_away_gives_nothing() -> None:
    talk = old_results(56_000)
    talk.shrinks(Shrunk("overflow", messages=len(talk.conversation.messages), summary="Read it."))
    asked = request(talk)
    assert plan(asked, talk.conversation, Estimator(), 60, 8).route == "compact"


def test_characters_that_are_hardly_any_tokens_do_not_count_as_room() -> None:
    talk = Talk()
    talk.says(text(8_000))
    talk.turn("\n" * 40_000)
    talk.answers("done")
    planned = plan(request(talk), talk.conversation, Estimator(), 2_200, 0)
    assert max(4 * planned.overflow + 2_048, 6 * planned.overflow) < 38_000
    assert planned.route == "truncate_then_compact"
