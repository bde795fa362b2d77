"""What `make check` and the tests themselves hold."""

import ast
import re
import socket
import subprocess
import sys
import time
import tomllib
import warnings
from pathlib import Path

import pytest

from scripts import coverage_check, guard

ROOT = Path(__file__).parents[2]
TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]


def recipe(target: str) -> str:
    return (ROOT / "Makefile").read_text().split(f"\n{target}:")[1].split("\n\n")[0]


def test_the_check_runs_every_guard_and_the_gate_runs_check_and_test() -> None:
    for command in (
        "ruff format --check src tests bench scripts",
        "ruff check src tests bench scripts",
        "mypy",
        "lint-imports",
        "python scripts/guard.py",
        "python scripts/coverage_check.py",
    ):
        assert re.search(rf"^\t\$\(BIN\)/{command}$", recipe("check"), re.MULTILINE), command
    assert (ROOT / ".ci" / "run").read_text().splitlines()[-2:] == ["make check", "make test"]


def test_types_are_checked_strictly_and_tests_have_a_limit_of_time_and_no_warnings() -> None:
    assert TOOLS["mypy"]["strict"] is True
    options = TOOLS["pytest"]["ini_options"]
    assert (options["timeout"], options["filterwarnings"]) == (60, ["error"])


def test_a_warning_is_a_failure_here() -> None:
    with pytest.raises(UserWarning):
        warnings.warn("this", UserWarning, stacklevel=1)


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess",
        "from multiprocessing import Pool",
        "import os\nos.fork()",
        "import importlib\nimportlib.import_module('x')",
    ],
)
def test_the_guard_names_what_belongs_elsewhere(source: str) -> None:
    path = guard.SOURCE / "task" / "made_up.py"
    faults = [fault for node in ast.walk(ast.parse(source)) for fault in guard.node_faults(node, path)]
    assert len(faults) == 1


def test_the_guard_names_long_functions_files_and_work_on_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "SOURCE", tmp_path / "ferrule")
    (tmp_path / "ferrule").mkdir()
    bad = tmp_path / "ferrule" / "bad.py"
    bad.write_text("SEEN = []\nprint('loaded')\ndef long():\n" + "    pass\n" * 50 + "#\n" * 400)
    faults = "\n".join(guard.file_faults(bad))
    for word in ("453 lines, at most 400", "long has 51 lines", "a call on import", "a mutable value"):
        assert word in faults


@pytest.mark.parametrize("way", ["connect", "connect_ex"])
def test_no_test_reaches_another_host(way: str) -> None:
    with socket.socket() as one, pytest.raises(AssertionError, match="tried to reach"):
        getattr(one, way)(("192.0.2.1", 80))


def test_no_test_asks_for_the_name_of_another_host() -> None:
    with pytest.raises(AssertionError, match="tried to reach"):
        socket.getaddrinfo("host.invalid", 80)


def test_what_the_coverage_names_exists_and_is_checked_fast() -> None:
    began = time.process_time()
    assert coverage_check.main() == 0
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    ("shown", "fault"),
    [
        ("`tests/none.py::test_x`", "there is no test tests/none.py::test_x"),
        ("`tests/repository/test_guards.py::test_none`", "there is no test tests/repository/test_guards.py::test_none"),
        ("`bench nothing`", "the bench has no row nothing"),
        ("`make nothing`", "there is no target nothing"),
        ("`docs/nothing.md`", "there is no file docs/nothing.md"),
        ("some day", "names nothing"),
        ("*later*:", "names nothing"),
    ],
)
def test_a_reference_that_leads_nowhere_is_a_fault(shown: str, fault: str) -> None:
    faults: list[str] = []
    coverage_check.row_state("7", shown, faults)
    assert len(faults) == 1
    assert fault in faults[0]


def test_a_row_is_shown_or_says_why_not() -> None:
    faults: list[str] = []
    states = [
        coverage_check.row_state("1", shown, faults)
        for shown in ("`bench repair`, `make check`", "*missing*: nobody wrote it", "*later*: the issue says so")
    ]
    assert (states, faults) == (["shown", "missing", "later"], [])


def test_the_checker_ends_with_1_where_something_is_missing(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "docs").mkdir()
    for name in ("scripts/coverage_check.py", "Makefile"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "docs" / "coverage.md").write_text(
        "# C\n\n## Issue 9\n\n| # | demand | shown by |\n|---|---|---|\n| 1 | x | `a.py::b` |\n"
    )
    ran = subprocess.run(
        [sys.executable, tmp_path / "scripts" / "coverage_check.py"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (
        1,
        "Issue 9: 1 rows: 1 shown, 0 later, 0 missing\ndocs/coverage.md: row 1: there is no test a.py::b\n",
    )
