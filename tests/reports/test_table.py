import ast
from functools import cache
from pathlib import Path

from .table import SHOWN, WITHOUT

ROOT = Path(__file__).parents[2]


@cache
def defined_in(path: str) -> frozenset[str]:
    file = ROOT / path
    tree = ast.parse(file.read_bytes()) if file.exists() else ast.Module([], [])
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_every_report_has_a_test_that_exists_or_a_reason() -> None:
    assert sorted([*SHOWN, *WITHOUT]) == list(range(1, 61))
    named = {one for tests in SHOWN.values() for one in tests}
    assert sorted(one for one in named if one.partition("::")[2] not in defined_in(one.partition("::")[0])) == []


def test_every_test_of_this_folder_stands_in_the_table() -> None:
    here = {
        f"{file.relative_to(ROOT)}::{name}"
        for file in Path(__file__).parent.glob("test_*.py")
        for name in defined_in(str(file.relative_to(ROOT)))
    }
    written = {one for one in here if "::test_" in one and "test_table.py" not in one}
    assert written - {one for tests in SHOWN.values() for one in tests} == set()
