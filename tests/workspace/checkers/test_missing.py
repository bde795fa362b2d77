"""A library that is not installed is told like a program that is not: by the coverage, with its name."""

import sys

import pytest

from ferrule.tools.checks.text import report_text
from ferrule.workspace.checkers.base import Changed
from ferrule.workspace.checkers.catalog import checkers

from .checking import changed, report

FILES: dict[str, Changed] = {
    "yaml": changed("a.yml", "a: 1\n"),
    "detect_secrets": changed("a.txt", "key = 1\n"),
    "markdown_it": changed("a.md", "[a](b.md)\n"),
    "tree_sitter": changed("a.go", "package a\n"),
    "tree_sitter_go": changed("a.go", "package a\n"),
    "tree_sitter_javascript": changed("a.test.js", "it.only('a', () => {});\n"),
}


@pytest.fixture
def gone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name = str(request.param)
    for module in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    return name


@pytest.mark.parametrize("gone", FILES, indirect=True)
def test_a_library_that_is_not_installed_is_named_and_nothing_else_is_left_out(gone: str) -> None:
    said = report(FILES[gone], checkers=checkers())
    told = [run.detail for run in said.coverage.runs if run.state != "ran"] + [each.reason for each in said.coverage.skipped]
    assert told and all(plain(gone) in plain(each) for each in told)
    assert {run.state for run in said.coverage.runs} <= {"ran", "missing"}
    assert plain(gone) in plain(report_text(said).splitlines()[-1])
    assert {"conflicts", "typos", "sizes"} <= {run.checker for run in said.coverage.runs if run.state == "ran"}


def plain(text: str) -> str:
    return text.replace("_", "-").lower()
