import pytest

from ferrule.workspace.checkers.base import CheckFinding, Skipped
from ferrule.workspace.checkers.code.ruff import ruff

from .checking import changed, findings, places, report

FAULTY = "import os\n\n\ndef f(x=[]):\n    y = 1\n    return z\n"
FOUND = [("F401", 1), ("B006", 4), ("F841", 5), ("F821", 6)]


def test_names_and_habits_are_judged_with_their_severity() -> None:
    found = findings(changed("a.py", FAULTY), checker=ruff())
    assert [(each.rule, each.line, each.severity) for each in found] == [
        ("F401", 1, "nit"),
        ("B006", 4, "should-fix"),
        ("F841", 5, "nit"),
        ("F821", 6, "blocking"),
    ]


def test_a_finding_tells_all() -> None:
    assert findings(changed("a.py", "print(undefined)\n"), checker=ruff()) == (
        CheckFinding("a.py", 1, 1, "ruff", "F821", "blocking", "Undefined name `undefined`"),
    )


@pytest.mark.parametrize(
    "source, rule",
    [
        ("def f(:\n", "invalid-syntax"),
        ("def f():\n    breakpoint()\n", "T100"),
        ("import pdb\npdb.set_trace()\n", "T100"),
        ("print('%s %s' % (1,))\n", "F507"),
        ("if x is 'a':\n    x = 1\n", "F632"),
        ("return 1\n", "F706"),
        ("x == 1\n", "B015"),
    ],
)
def test_each_kind_of_mistake_is_found(source: str, rule: str) -> None:
    assert rule in {each.rule for each in findings(changed("a.py", source), checker=ruff())}


def test_clean_python_has_no_finding() -> None:
    assert findings(changed("a.py", "import os\n\nprint(os.sep)\n"), checker=ruff()) == ()


def test_lines_that_did_not_change_are_not_judged() -> None:
    old = FAULTY + "\nprint(1)\n"
    assert findings(changed("a.py", old.replace("print(1)", "print(2)"), old), checker=ruff()) == ()


def test_what_was_said_of_the_old_file_is_not_said_again_of_a_moved_line() -> None:
    old = "def f():\n    return z\n"
    assert findings(changed("a.py", "if True:\n\n    def f():\n        return z\n", old), checker=ruff()) == ()


def test_one_more_of_what_was_there_is_said() -> None:
    old = "def f():\n    return z\n"
    assert places(findings(changed("a.py", old + "\n\nprint(z)\n", old), checker=ruff())) == [("F821", 5)]


def test_an_import_that_is_tried_and_one_of_a_package_are_no_findings() -> None:
    tried = changed("a.py", "try:\n    import yaml\nexcept ImportError:\n    pass\n")
    package = changed("p/__init__.py", "from .a import b\n")
    assert findings(tried, package, checker=ruff()) == ()


@pytest.mark.parametrize("name", ["ruff.toml", ".ruff.toml", "pyproject.toml", "src/ruff.toml"])
def test_configuration_in_the_change_is_not_obeyed(name: str) -> None:
    rules = 'lint.ignore = ["ALL"]\nexclude = ["*"]\nextend = "/etc/passwd"\n'
    hostile = changed(name, rules if name != "pyproject.toml" else f"[tool.ruff]\n{rules}")
    assert places(findings(changed("src/a.py", FAULTY), hostile, checker=ruff())) == FOUND


def test_configuration_of_the_base_says_what_to_leave_out() -> None:
    base = {"ruff.toml": b'lint.ignore = ["F401"]\nlint.per-file-ignores = {"src/*" = ["B006"]}\nlint.select = ["ALL"]\n'}
    assert places(findings(changed("src/a.py", FAULTY), checker=ruff(), base=base)) == [("F841", 5), ("F821", 6)]


def test_a_file_that_the_base_excludes_is_told_as_skipped() -> None:
    said = report(
        changed("gen/a.py", FAULTY), changed("b.py", FAULTY), checkers=(ruff(),), base={"ruff.toml": b'exclude = ["gen"]\n'}
    )
    assert places(said.findings) == FOUND
    assert said.coverage.skipped == (Skipped("gen/a.py", "excluded by the project's ruff configuration", "ruff"),)


@pytest.mark.parametrize("content", [b"[", b"\xff", b'lint.ignore = "not a list"\n', b'target-version = "py1"\n', b"tool = 3\n"])
@pytest.mark.parametrize("name", ["ruff.toml", "pyproject.toml"])
def test_configuration_that_cannot_be_used_is_left_aside(name: str, content: bytes) -> None:
    if name == "pyproject.toml" and content.startswith((b"lint", b"target")):
        content = b"[tool.ruff]\n" + content
    assert places(findings(changed("a.py", FAULTY), checker=ruff(), base={name: content})) == FOUND


@pytest.mark.parametrize(
    "path", ["with space.py", "ünïcode.py", "line\nbreak.py", "\N{REPLACEMENT CHARACTER}FF.py", "-c.py", "ruff.py", "a/b/c.pyi"]
)
def test_any_file_name_is_told_as_it_was_given(path: str) -> None:
    assert [each.path for each in findings(changed(path, "print(z)\n"), checker=ruff())] == [path]


def test_a_script_without_suffix_is_python_by_its_first_line() -> None:
    assert places(findings(changed("bin/tool", "#!/usr/bin/env python3\nprint(z)\n"), checker=ruff())) == [("F821", 2)]


def test_bytes_that_are_not_utf8_end_in_a_finding_or_nothing_but_not_in_a_failure() -> None:
    assert findings(changed("a.py", b"x = 'caf\xe9'\n"), changed("b.py", b"print(z)\n"), checker=ruff())[-1].path == "b.py"


def test_a_safe_fix_of_one_line_is_a_suggestion() -> None:
    found = findings(changed("a.py", "x = 1\nprint(f'{x}', x is 'a')\n"), checker=ruff())
    assert [(each.rule, each.suggestion) for each in found] == [("F632", "print(f'{x}', x == 'a')")]
