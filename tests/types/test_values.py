import importlib
import pkgutil
import typing
from typing import Any, get_args

import msgspec
import pytest

import ferrule.types
from ferrule.types import errors
from ferrule.types.errors import FerruleError
from ferrule.types.fault import MEANINGS, Fault, FaultCode
from ferrule.types.outcome import EXIT_CODES, Outcome
from ferrule.types.records import Entry
from ferrule.types.stream import StreamEvent
from ferrule.types.usage import NOTHING, Price, Usage

MODULES = [importlib.import_module(f"ferrule.types.{found.name}") for found in pkgutil.iter_modules(ferrule.types.__path__)]
VALUES = sorted(
    {
        value
        for module in MODULES
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, msgspec.Struct) and value.__module__.startswith("ferrule.types")
    },
    key=lambda value: value.__name__,
)


def parts(hint: Any) -> list[Any]:
    return [hint, *(inner for argument in get_args(hint) for inner in parts(argument))]


@pytest.mark.parametrize("value", VALUES)
def test_a_value_can_never_be_changed(value: type[msgspec.Struct]) -> None:
    assert value.__struct_config__.frozen
    held = [part for hint in typing.get_type_hints(value).values() for part in parts(typing.get_origin(hint) or hint)]
    held += [typing.get_origin(part) for hint in typing.get_type_hints(value).values() for part in parts(hint)]
    assert not {list, dict, set, bytearray} & set(held)


@pytest.mark.parametrize("union", [Entry, StreamEvent])
def test_events_and_records_are_told_apart_by_their_tag(union: Any) -> None:
    tags = [kind.__struct_config__.tag for kind in get_args(union)]
    assert None not in tags
    assert len(set(tags)) == len(tags)
    msgspec.json.Decoder(union)


def test_every_cause_of_a_failed_call_says_whether_to_try_again_and_has_a_sentence() -> None:
    assert set(MEANINGS) == set(get_args(FaultCode))
    for code, meaning in MEANINGS.items():
        assert meaning.sentence.endswith(".")
        assert meaning.outcome is not Outcome.FINISHED
        assert Fault(code, "their words", 400).sentence == f"{meaning.sentence} (HTTP 400) It said: their words"
        expected = Outcome.STUCK if code == "repetition" else Outcome.UNAVAILABLE
        assert meaning.retryable == (meaning.outcome is expected)


def test_every_error_is_of_one_tree_and_leads_to_an_outcome_that_is_no_success() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) >= 7
    for kind in kinds:
        assert issubclass(kind, FerruleError)
        assert kind.outcome.exit_code == EXIT_CODES[kind.outcome] != 0
        assert kind.retryable == (kind.outcome is Outcome.UNAVAILABLE)


def test_the_outcomes_and_their_exit_codes_are_those_of_the_design() -> None:
    assert {str(outcome): outcome.exit_code for outcome in Outcome} == {
        "finished": 0,
        "failed": 1,
        "usage_error": 2,
        "needs_input": 3,
        "limit": 4,
        "stuck": 5,
        "refused": 6,
        "incomplete": 7,
        "unverified": 8,
        "aborted": 9,
        "unavailable": 75,
        "interrupted": 130,
    }


def test_usage_adds_up_and_one_unknown_cost_makes_the_sum_unknown() -> None:
    one, other = Usage(1, 2, 3, 4, 1, 0.5), Usage(10, 20, 30, 40, 2, 0.25)
    assert one.plus(other) == Usage(11, 22, 33, 44, 3, 0.75)
    assert one.plus(NOTHING) == one
    assert one.plus(Usage(1)).cost is None
    assert (one.prompt, one.total) == (8, 10)


def test_a_price_counts_what_came_from_the_cache_and_what_went_into_it_by_itself() -> None:
    usage = Usage(input=1_000_000, output=1_000_000, cache_read=1_000_000, cache_write=1_000_000)
    assert Price(2.0, 10.0, 0.2, 2.5).cost(usage) == pytest.approx(14.7)
    assert Price(2.0, 10.0).cost(usage) == pytest.approx(16.0)
