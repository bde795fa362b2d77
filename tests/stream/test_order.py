from itertools import permutations

import pytest

from ferrule.attempt.filters.catalog import FILTERS
from ferrule.providers.base import Endpoint, Profile
from ferrule.stream.chain import Chain
from ferrule.stream.filter import Filter, OnEvents
from ferrule.stream.inbound.whole import WholeAnswer
from ferrule.stream.order import OrderError, solve

from .playing import PLAIN, at


def inbound(name: str, *touches: str, before: tuple[str, ...] = (), after: tuple[str, ...] = (), ends: bool = False) -> Filter:
    nothing = WholeAnswer(name, lambda message: (message, ()))
    return OnEvents(name=name, does=name, touches=touches, before=before, after=after, begin=lambda told: nothing, ends=ends)


def names(filters: tuple[Filter, ...]) -> list[str]:
    return [each.name for each in filters]


def test_the_order_comes_from_what_is_declared_and_not_from_where_it_stands() -> None:
    given = (inbound("a", "x", after=("b",)), inbound("b", "x", after=("c",)), inbound("c", "x"), inbound("w", ends=True))
    for shuffled in permutations(given):
        assert names(solve(shuffled)) == ["c", "b", "a", "w"]


def test_before_and_after_say_the_same() -> None:
    assert names(solve([inbound("a"), inbound("b", before=("a",))])) == names(solve([inbound("a", after=("b",)), inbound("b")]))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((inbound("a", after=("b",)), inbound("b", after=("a",))), "a, b are put before each other in a circle"),
        ((inbound("a", after=("a",)),), "a are put before each other in a circle"),
        ((inbound("a", after=("nobody",)),), "a is put beside nobody, which is no inbound filter"),
        ((inbound("a", before=("w",)), inbound("w", ends=True)), "a is put beside w, which is no inbound filter"),
        ((inbound("a"), inbound("a")), "more than one filter is named a"),
        ((inbound("a", "names"), inbound("b", "names")), "a and b both touch names, and neither is put before the other"),
    ],
)
def test_a_wrong_set_of_filters_raises_when_the_chain_is_built(given: tuple[Filter, ...], said: str) -> None:
    with pytest.raises(OrderError, match=said):
        Chain(given, PLAIN)


def test_two_that_touch_the_same_may_be_ordered_by_way_of_a_third() -> None:
    given = (inbound("a", "names"), inbound("m", after=("a",)), inbound("z", "names", after=("m",)))
    assert names(solve(given)) == ["a", "m", "z"]


def test_our_own_filters_have_one_order_whatever_the_endpoint_needs_of_them() -> None:
    every = names(solve(FILTERS))
    for profile in (Profile(), Profile(promote=True, html_entities=True, ids="strict9")):
        chosen = names(Chain(FILTERS, at(profile)).filters)
        assert chosen == [name for name in every if name in chosen]
    assert names(solve(tuple(reversed(FILTERS)))) == every


def test_an_unknown_model_gets_no_filter_that_reads_calls_out_of_text_or_changes_values() -> None:
    chosen = names(Chain(FILTERS, Endpoint("openai", "never-heard-of", "https://api.openai.com/v1")).filters)
    assert not {"promote", "entities", "call-ids"} & set(chosen)
