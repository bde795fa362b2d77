import pytest

from . import sdk_accepts
from .case import Case
from .test_rules import EVERY


@pytest.mark.parametrize(("dialect", "case"), EVERY)
def test_the_vendors_own_types_take_every_conforming_body(dialect: str, case: Case) -> None:
    assert sdk_accepts(dialect, case.good) == []


@pytest.mark.parametrize(("dialect", "case"), [each for each in EVERY if isinstance(each.values[1], Case) and each.values[1].sdk])
def test_the_vendors_own_types_refuse_what_breaks_a_rule_of_shape(dialect: str, case: Case) -> None:
    assert sdk_accepts(dialect, case.bad) != []


@pytest.mark.parametrize(
    ("dialect", "body", "complaint"),
    [
        ("openai", {"messages": []}, "body.model: missing"),
        ("openai", {"model": "m", "messages": [], "n": True}, "body.n: 'True' is not int"),
        ("openai-responses", {"model": "m", "input": 5}, "body.input: '5' is not str"),
        ("anthropic", {"model": "m", "messages": [], "max_tokens": 1, "nice": 1}, "body.nice: not a parameter"),
        ("google", {"contents": [{"parts": [{"type": "text"}]}]}, "body.contents.0.parts.0.type: Extra inputs are not permitted"),
    ],
)
def test_a_complaint_names_the_place(dialect: str, body: dict[str, object], complaint: str) -> None:
    assert complaint in sdk_accepts(dialect, body)
