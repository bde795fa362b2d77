import ast
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from . import LETTERS, RULES, violations
from .case import Case, but
from .cases_anthropic import CASES as ANTHROPIC
from .cases_chat import CASES as CHAT
from .cases_google import CASES as GOOGLE
from .cases_responses import CASES as RESPONSES

CASES: dict[str, list[Case]] = {"openai": CHAT, "openai-responses": RESPONSES, "anthropic": ANTHROPIC, "google": GOOGLE}
EVERY = [pytest.param(dialect, case, id=f"{case.rule} {case.name}") for dialect, cases in CASES.items() for case in cases]
HERE = Path(__file__).parent
DOCUMENT = HERE.parent.parent / "docs" / "wire-rules.md"


def numbers(found: list[str]) -> set[str]:
    return {line.split(" ", 1)[0] for line in found}


@pytest.mark.parametrize(("dialect", "case"), EVERY)
def test_a_violating_body_breaks_exactly_its_rule(dialect: str, case: Case) -> None:
    assert numbers(violations(dialect, case.bad, portable=True)) - {"A8", "C18", "G10"} | {case.rule} == {case.rule} | case.also
    assert case.rule in numbers(violations(dialect, case.bad, portable=True))


@pytest.mark.parametrize(("dialect", "case"), EVERY)
def test_a_conforming_body_breaks_no_rule(dialect: str, case: Case) -> None:
    assert violations(dialect, case.good) == []
    assert case.rule not in numbers(violations(dialect, case.good, portable=True))


@pytest.mark.parametrize("dialect", RULES)
def test_every_rule_has_a_case(dialect: str) -> None:
    assert {case.rule for case in CASES[dialect]} == {f"{LETTERS[dialect]}1", *(rule.number for rule in RULES[dialect])}


@pytest.mark.parametrize("dialect", RULES)
def test_portable_rules_are_silent_unless_asked_for(dialect: str) -> None:
    portable = {rule.number for rule in RULES[dialect] if rule.portable}
    for case in CASES[dialect]:
        if case.rule in portable:
            assert violations(dialect, case.bad) == []


@pytest.mark.parametrize("dialect", RULES)
def test_the_document_lists_the_rules_in_order(dialect: str) -> None:
    rows = re.findall(rf"^\| ({LETTERS[dialect]}\d+)(†?) \| (.*?) \|", DOCUMENT.read_text(), re.MULTILINE)
    first = (f"{LETTERS[dialect]}1", "", "the body is a JSON object in UTF-8: no half surrogate pair, no NaN, no key twice")
    assert rows == [first, *((rule.number, "†" if rule.portable else "", rule.title) for rule in RULES[dialect])]


@pytest.mark.parametrize(
    ("dialect", "number"), [("openai", "C1"), ("openai-responses", "R1"), ("anthropic", "A1"), ("google", "G1")]
)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"{",
        b'{"a": NaN}',
        b"\xef\xbb\xbf{}",
        b'{"a": "\t"}',
        b"[" * 100_000,
        b'{"a": "\xed\xa0\x80"}',
        b'{"a": 1, "a": 1}',
    ],
    ids=["empty", "null", "cut", "NaN", "byte order mark", "raw control character", "deep", "encoded surrogate", "key twice"],
)
def test_bytes_that_are_not_a_json_object_are_refused(dialect: str, number: str, body: bytes) -> None:
    assert number in numbers(violations(dialect, body))


@pytest.mark.parametrize(
    "value", [float("nan"), {1: "a"}, b"bytes", {"set"}, ("tuple",)], ids=["NaN", "key", "bytes", "set", "tuple"]
)
def test_a_value_that_json_can_not_hold_is_refused(value: Any) -> None:
    assert numbers(violations("openai", CHAT[0].good | {"metadata": value})) == {"C1"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def paths(value: Any, before: str = "") -> list[str]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for key, child in children:
        path = f"{before}.{key}" if before else str(key)
        found += [path, *paths(child, path)]
    return found


@pytest.mark.parametrize("dialect", RULES)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_body_makes_the_judge_stumble(dialect: str, data: st.DataObject) -> None:
    bodies = [body for case in CASES[dialect] for body in (case.good, case.bad) if isinstance(body, dict)]
    body = data.draw(st.sampled_from(bodies))
    places = [path for path in paths(body) if "a b" not in path and "a.b" not in path]
    spoiled = but(body, (data.draw(st.sampled_from(places)), data.draw(JSON)))
    assert all(re.match(rf"{LETTERS[dialect]}\d+ ", line) for line in violations(dialect, spoiled, portable=True))


def test_the_judge_imports_nothing_but_the_standard_library() -> None:
    strangers = set()
    for path in HERE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
            strangers |= {
                (path.name, module.split(".")[0]) for module in modules if module.split(".")[0] not in sys.stdlib_module_names
            }
    assert strangers == {
        ("sdk.py", "anthropic"),
        ("sdk.py", "google"),
        ("sdk.py", "openai"),
        ("sdk.py", "pydantic"),
        ("sdk.py", "typing_extensions"),
        ("test_history.py", "pytest"),
        ("test_rules.py", "hypothesis"),
        ("test_rules.py", "pytest"),
        ("test_sdk_types.py", "pytest"),
    }
