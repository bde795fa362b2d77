import pytest

from ferrule.task.receipts.tested import judged, looks_like_test, marked
from ferrule.types.tools import FileChange, GateResult

TESTS = (
    *(
        "tests/a.py",
        "test/x.txt",
        "src/app/__tests__/b.js",
        "spec/models/user.rb",
        "e2e/login.ts",
        "pkg/testdata/in.json",
        "test_a.py",
        "a_test.go",
        "a-test.js",
    ),
    *(
        "app.test.ts",
        "app.spec.tsx",
        "user_spec.rb",
        "conftest.py",
        "TestUser.java",
        "UserTest.java",
        "UserTests.cs",
        "UserSpec.scala",
        "tests.py",
    ),
    *(
        "Makefile",
        "pyproject.toml",
        "pytest.ini",
        "tox.ini",
        "package.json",
        "jest.config.js",
        "vitest.config.ts",
        ".mocharc.json",
        "sub/conftest.py",
    ),
)
OTHERS = (
    *(
        "app.py",
        "src/latest.py",
        "contest.py",
        "attestation.go",
        "protest/a.py",
        "greatest.js",
        "inspect.py",
        "README.md",
        "testament.txt",
        "src/Attest.java",
    ),
    *("special/spectrum.py", "config.json"),
)


@pytest.mark.parametrize("path", TESTS)
def test_a_test_is_known_by_its_folder_its_name_or_what_runs_it(path: str) -> None:
    assert looks_like_test(path)


@pytest.mark.parametrize("path", OTHERS)
def test_other_files_are_not(path: str) -> None:
    assert not looks_like_test(path)


@pytest.mark.parametrize(
    "command",
    [
        "python check.py",
        "python ./check.py",
        "CHECK=check.py sh run",
        "run check.py::part",
        "run --file=check.py",
        "(cd x; sh check.py)",
        "sh 'check.py' && true",
        "unclosed ' check.py",
    ],
)
def test_a_file_that_the_command_names_counts(command: str) -> None:
    assert judged(command, ["check.py", "other.py"]) == ("check.py",)


def test_a_folder_that_the_command_names_counts_but_not_the_current_one() -> None:
    assert judged("python -m pytest checks/unit", ["checks/unit/a.py", "checks/b.py"]) == ("checks/unit/a.py",)
    assert judged("sh . ./ ..", ["a.py"]) == ()


def test_only_gates_with_a_command_are_marked() -> None:
    gates = (GateResult("failed_tool", True), GateResult("verify", True, command="make test"))
    changes = (FileChange("tests/a.py", "1", "2"), FileChange("b.py", None, "3"))
    assert [gate.changed_tests for gate in marked(gates, changes)] == [(), ("tests/a.py",)]
