from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.review.prompting import fence
from ferrule.review.render import PLACEHOLDER, PROMPT, render, template


@dataclass
class Holder:
    name: str
    inner: dict[str, Any]


@pytest.mark.parametrize(
    ("text", "values", "rendered"),
    [
        ("plain", {}, "plain"),
        ("{{a}} and {{ a }}", {"a": "x"}, "x and x"),
        ("{{a.b.c}}", {"a": {"b": {"c": 1}}}, "1"),
        ("{{a.name}} {{a.inner.deep}}", {"a": Holder("n", {"deep": True})}, "n True"),
        ("[{{a}}]", {"a": None}, "[]"),
        ("{{a}}", {"a": ["x", 2, None, ("y", "z")]}, "x, 2, , y, z"),
        ("{{a}}", {"a": []}, ""),
        ("{{a}}", {"a": "{{b}} {{a}}", "b": "never"}, "{{b}} {{a}}"),
        ("{{a}}", {"a": ["{{b}}"], "b": "never"}, "{{b}}"),
        ("{{a}}{{b}}", {"a": "{{", "b": "a}}"}, "{{a}}"),
        ("{a} {{{{a}}}} {{a b}} {{}} {{a.}} {{.a}}", {"a": "x"}, "{a} {{x}} {{a b}} {{}} {{a.}} {{.a}}"),
        ("{{a}}", {"a": "\\1 \\g<0> $1"}, "\\1 \\g<0> $1"),
    ],
)
def test_names_are_replaced_once_and_nothing_else_is(text: str, values: dict[str, Any], rendered: str) -> None:
    assert render(text, values) == rendered


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("{{a}}", {}),
        ("{{a.b}}", {"a": {}}),
        ("{{a.b}}", {"a": "text"}),
        ("{{a.b}}", {"a": None}),
        ("{{a.gone}}", {"a": Holder("n", {})}),
    ],
)
def test_a_name_that_nobody_gives_is_an_error_that_names_it(text: str, values: dict[str, Any]) -> None:
    with pytest.raises(KeyError, match=text[2:-2].replace(".", r"\.")):
        render(text, values)


@given(st.text("{} ab.", max_size=30), st.text("{}ab.", max_size=20))
def test_a_value_stays_as_it_is_whatever_stands_around_it(around: str, value: str) -> None:
    frame = PLACEHOLDER.sub("", around).replace("{", "(")
    assert render(f"{frame}{{{{v}}}}{frame}", {"v": value}) == f"{frame}{value}{frame}"


def test_every_template_is_there_and_asks_only_for_what_is_given() -> None:
    names = {path.stem for path in PROMPT.glob("*.md")}
    assert names == {"kickoff", "role", "rules"}
    asked = {name: set(PLACEHOLDER.findall(template(name))) for name in names}
    given_names = {f"subject.{name}" for name in ("title", "overview", "instructions", "diff", "fence", "coverage")}
    assert asked == {"kickoff": given_names, "role": set(), "rules": set()}


@given(st.text("=\n the change under review", max_size=60), st.integers(0, 4), st.integers(0, 4))
def test_a_fence_stands_nowhere_in_what_it_encloses(text: str, before: int, after: int) -> None:
    evil = fence("")
    for _ in range(3):
        inside = f"{text}\n{'=' * before}{evil}{'=' * after}\n{text}"
        evil = fence(inside)
        assert evil not in inside
        assert "\n" not in evil
