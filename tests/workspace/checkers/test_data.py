import pytest

from ferrule.workspace.checkers.base import CheckFinding
from ferrule.workspace.checkers.data.ini_files import ini_files
from ferrule.workspace.checkers.data.json_files import json_files
from ferrule.workspace.checkers.data.toml_files import toml_files
from ferrule.workspace.checkers.data.workflows import workflows
from ferrule.workspace.checkers.data.xml_files import xml_files
from ferrule.workspace.checkers.data.yaml_files import yaml_files

from .checking import changed, findings, places

CHECKERS = {"json": json_files(), "yaml": yaml_files(), "toml": toml_files(), "ini": ini_files(), "xml": xml_files()}


@pytest.mark.parametrize(
    "kind, path, content, found",
    [
        ("json", "a.json", '{"a": [1, 2, {"b": null}]}\n', []),
        ("json", "a.json", '\ufeff{"a": 1}\n', []),
        ("json", "a.json", '{\n  "a": 1,\n}\n', [("parse-error", 3)]),
        ("json", "a.json", '{\n"a": 1,\n"b": {"a": 2},\n"\\u0061": 3}\n', [("duplicate-key", 4)]),
        ("json", "tsconfig.json", "{ // comment\n}\n", []),
        ("json", "a.json", "[" * 100_000, []),
        ("json", "a.json", b'{"a": "\xff"}\n', [("parse-error", 1)]),
        ("yaml", "a.yml", "a: 1\nb: [1, {c: 2}]\n---\na: 2\n", []),
        ("yaml", "a.yml", "a: !own\n  x: &y 1\nb: {<<: *y, <<: *y}\n", []),
        ("yaml", "a.yml", "a: [1\nb: 2\n", [("parse-error", 2)]),
        ("yaml", "a.yml", "a:\n  - x: 1\n    x: 2\n  - x: 3\n", [("duplicate-key", 3)]),
        ("yaml", "a.yml", "? [1, 2]\n: 1\na: 1\n? {b: 1}\n: b\na: 2\n", [("duplicate-key", 6)]),
        ("yaml", "a.yml", "a: b\x07\n", [("parse-error", 1)]),
        ("yaml", "chart.yaml", "a: [\n{{ if x }}\nb: 1\n", []),
        ("yaml", "a.yml", "a: ${{ b }}\nc: [\n", [("parse-error", 2)]),
        ("yaml", "a.yml", "[" * 50_000, [("parse-error", 1)]),
        ("toml", "a.toml", "[a]\nb = 1\n", []),
        ("toml", "a.toml", "[a]\nb = \n", [("parse-error", 2)]),
        ("toml", "a.toml", "[a]\nb = 1\nb = 2\n", [("parse-error", 3)]),
        ("toml", "uv.lock", 'a = "b\n', [("parse-error", 1)]),
        ("toml", "a.toml", b"a = 1\nb = '\xff'\n", [("parse-error", 2)]),
        ("ini", "setup.cfg", "[a]\nb = 1\nc\n", []),
        ("ini", "setup.cfg", "[a]\nb = 1\nb = 2\n", [("duplicate-key", 3)]),
        ("ini", "tox.ini", "[a]\nb = 1\n[a]\n", [("duplicate-section", 3)]),
        ("ini", "tox.ini", "b = 1\n[a]\n", [("parse-error", 1)]),
        ("ini", "php.ini", "b = 1\n", []),
        ("xml", "a.svg", "<svg><a href='x'/></svg>\n", []),
        ("xml", "a.xml", "<a>\n<b>\n</a>\n", [("parse-error", 3)]),
        ("xml", "a.xml", '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<a>&x;</a>\n', []),
    ],
)
def test_what_cannot_be_read_is_found_where_it_is(
    kind: str, path: str, content: str | bytes, found: list[tuple[str, int]]
) -> None:
    assert places(findings(changed(path, content), checker=CHECKERS[kind])) == found


def test_entities_that_grow_are_not_expanded() -> None:
    layers = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 20}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE a [<!ENTITY e0 "x">{layers}]><a>&e11;</a>\n'
    assert findings(changed("a.xml", bomb), checker=xml_files()) == ()


def test_aliases_that_grow_are_not_expanded() -> None:
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 20)}]\n" for n in range(1, 20))
    assert findings(changed("a.yml", bomb), checker=yaml_files()) == ()


@pytest.mark.parametrize(
    "kind, path, old, new, found",
    [
        ("json", "a.json", "{,}\n1\n", "{,}\n2\n", []),
        ("json", "a.json", '{\n"a": 1,\n"a": 2,\n"b": 1}\n', '{\n"a": 1,\n"a": 2,\n"b": 2}\n', []),
        ("yaml", "a.yml", "a: 1\na: 2\nb:\n  c: 1\n", "a: 1\na: 2\nb:\n  c: 1\n  c: 2\n", [("duplicate-key", 5)]),
        ("yaml", "a.yml", "a: 1\n\nb:\n  a: 1\n  a: 2\n", "a: 1\na: 3\nb:\n  a: 1\n  a: 2\n", [("duplicate-key", 2)]),
        ("toml", "a.toml", "a = 1\nb = 2\n", "b = 2\nb = 2\n", [("parse-error", 1)]),
    ],
)
def test_only_what_the_change_caused_is_told(kind: str, path: str, old: str, new: str, found: list[tuple[str, int]]) -> None:
    assert places(findings(changed(path, new, old), checker=CHECKERS[kind])) == found


GOOD_WORKFLOW = """\
on: push
permissions: {}
jobs:
  test:
    runs-on: ubuntu-24.04
    steps:
      - run: make test
"""
INJECTED = GOOD_WORKFLOW.replace("on: push", "on: issues").replace("make test", "echo ${{ github.event.issue.title }}")
CI = ".github/workflows/ci.yml"


def test_a_good_workflow_has_no_finding() -> None:
    assert findings(changed(CI, GOOD_WORKFLOW), checker=workflows()) == ()


def test_text_of_strangers_in_a_command_is_found_on_its_line() -> None:
    found = findings(changed(CI, INJECTED), checker=workflows())
    assert [(each.rule, each.line, each.severity) for each in found] == [("template-injection", 7, "should-fix")]


def test_a_workflow_is_judged_on_changed_lines_only() -> None:
    assert findings(changed(CI, INJECTED + "      - run: make\n", INJECTED), checker=workflows()) == ()


def test_what_github_would_refuse_is_found() -> None:
    assert findings(changed(CI, GOOD_WORKFLOW.replace("run: make", "runn: make"), GOOD_WORKFLOW), checker=workflows()) == (
        CheckFinding(
            CI,
            7,
            7,
            "workflows",
            "schema",
            "blocking",
            "GitHub would refuse this workflow: jobs.test.steps.0: Additional properties are not allowed "
            "('runn' was unexpected).",
        ),
    )


def test_a_workflow_that_was_refused_before_is_not_told_again() -> None:
    bad = GOOD_WORKFLOW.replace("run: make", "runn: make")
    assert findings(changed(CI, bad + "  # more\n", bad), checker=workflows()) == ()


def test_a_workflow_that_is_no_yaml_is_left_to_the_checker_of_yaml() -> None:
    assert findings(changed(CI, "on: [\n"), checker=workflows()) == ()


def test_configuration_of_workflows_comes_from_the_base() -> None:
    config = b"rules:\n  template-injection:\n    disable: true\n"
    assert findings(changed(CI, INJECTED), checker=workflows(), base={".github/zizmor.yml": config}) == ()
    assert places(findings(changed(CI, INJECTED), changed(".github/zizmor.yml", config), checker=workflows())) == [
        ("template-injection", 7)
    ]
