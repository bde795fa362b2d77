import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from ferrule.workspace.checkers.base import CheckFinding, Skipped
from ferrule.workspace.checkers.code.leftovers import leftovers
from ferrule.workspace.checkers.code.syntax import syntax
from ferrule.workspace.checkers.data.json_files import json_files

from .checking import changed, findings, places, report

GOOD = {
    "a.js": "const a = () => ({ ...b });\n",
    "a.jsx": "const a = <b c={1}>d</b>;\n",
    "a.ts": "const a: string | null = null;\n",
    "a.tsx": "const a = (b: string) => <i>{b}</i>;\n",
    "a.go": 'package a\n\nfunc f() string { return "x" }\n',
    "a.rs": 'fn main() { println!("{}", 1); }\n',
    "a.java": "class A { int f() { return 1; } }\n",
    "a.c": "int main(void) { return 0; }\n",
    "a.cpp": "int main() { auto f = [](int x) { return x; }; return f(0); }\n",
    "a.sh": "if true; then echo a; fi\n",
    "a.rb": "def f(x)\n  x.map { |y| y + 1 }\nend\n",
    "a.php": "<?php function f(int $x): int { return $x; }\n",
    "a.css": "a { color: red; }\n",
}
BAD = {
    "a.js": "const a = (;\n",
    "a.jsx": "const a = <b c={1>d</b>;\n",
    "a.ts": "const a: = 1;\n",
    "a.tsx": "const a = (b: string => <i>{b}</i>;\n",
    "a.go": "package a\n\nfunc f( {\n",
    "a.rs": "fn main( { }\n",
    "a.java": "class A { int f( { return 1; } }\n",
    "a.c": "int main(void { return 0; }\n",
    "a.cpp": "int main( { return 0; }\n",
    "a.sh": "if true; then echo a\n",
    "a.rb": "def f(x\n  x.map { |y| y + 1\n",
    "a.php": "<?php function f( { return 1; }\n",
    "a.css": "a { color: red;\n",
}


@pytest.mark.parametrize("path", GOOD)
def test_what_parses_is_no_finding(path: str) -> None:
    assert findings(changed(path, GOOD[path]), changed(path, GOOD[path] + "\n", GOOD[path]), checker=syntax()) == ()


@pytest.mark.parametrize("path", BAD)
def test_what_no_longer_parses_is_a_finding_that_weighs_what_the_grammar_is_worth(path: str) -> None:
    weight = "should-fix" if path in ("a.c", "a.cpp", "a.css", "a.sh", "a.php") else "blocking"
    found = findings(changed(path, BAD[path], GOOD[path]), checker=syntax())
    assert [(each.rule, each.severity, each.path) for each in found] == [("parse-error", weight, path)]


def test_a_finding_tells_what_stands_there() -> None:
    assert findings(changed("a.js", "f();\nlet x = );\n"), checker=syntax()) == (
        CheckFinding("a.js", 2, 2, "syntax", "parse-error", "blocking", "This no longer parses as JavaScript: unexpected `= )`."),
    )


def test_an_error_far_from_the_change_is_anchored_to_the_nearest_changed_line() -> None:
    old = "function f() {\n  g();\n}\n" + "h();\n" * 20
    found = findings(changed("a.js", old.replace("  g();\n", "  g(\n"), old), checker=syntax())
    assert [each.line for each in found] == [2]


def test_a_change_that_only_deletes_can_break_a_file() -> None:
    old = "function f() {\n  g();\n}\n"
    found = findings(changed("a.js", "function f() {\n  g();\n", old), checker=syntax())
    assert [(each.line, each.rule) for each in found] == [(None, "parse-error")]


def test_a_file_that_did_not_parse_before_is_skipped_and_told() -> None:
    said = report(changed("a.js", "let x = ;\nlet y = ;\n", "let x = ;\n"), checkers=(syntax(),))
    assert said.findings == ()
    assert said.coverage.skipped == (Skipped("a.js", "did not parse as JavaScript before the change either", "syntax"),)


@pytest.mark.parametrize("path", ["a.c", "a.cpp", "a.css", "a.sh", "a.php"])
def test_a_new_file_that_its_grammar_may_misread_is_skipped_and_told(path: str) -> None:
    said = report(changed(path, BAD[path]), checkers=(syntax(),))
    assert (said.findings, [each.checker for each in said.coverage.skipped]) == ((), ["syntax"])


def test_deep_nesting_is_survived() -> None:
    assert len(findings(changed("a.js", "(" * 100_000), checker=syntax())) == 1


@pytest.mark.parametrize(
    "path, source, lines",
    [
        ("src/a.js", "f();\ndebugger;\n", [("debugger", 2)]),
        ("src/a.js", "const s = 'debugger;'; // debugger;\n", []),
        (
            "src/a.test.ts",
            "it.only('a', () => {});\nfdescribe('b', () => {});\nit('c', () => {});\n",
            [("focused-test", 1), ("focused-test", 2)],
        ),
        ("src/a.ts", "model.fit(x);\nfit(x);\nlist.only(1);\n", []),
        ("src/a.test.ts", "model.fit(x);\nlist.only(1);\n", []),
        ("a.rb", "binding.pry\nputs 'binding.pry'\nbyebug\n", [("debugger", 1), ("debugger", 3)]),
        ("a.rs", 'fn f() { dbg!(1); }\nfn g() { println!("dbg!"); }\n', [("dbg", 1)]),
        ("a_test.go", 'package a\nvar _ = FDescribe("x", func() {})\n', [("focused-test", 2)]),
    ],
)
def test_leftovers_are_found_where_they_are_code(path: str, source: str, lines: list[tuple[str, int]]) -> None:
    assert places(findings(changed(path, source), checker=leftovers())) == lines


def test_a_leftover_that_was_there_before_is_not_told() -> None:
    assert findings(changed("a.js", "debugger;\nf();\n", "debugger;\n"), checker=leftovers()) == ()


def test_a_parser_that_dies_fails_its_checker_and_nothing_else() -> None:
    slow = changed("a.js", "(" * 400_000)
    with ThreadPoolExecutor() as pool:
        said = pool.submit(report, slow, changed("b.json", "{"), checkers=(syntax(), json_files()))
        deadline = time.monotonic() + 20
        while not said.done() and time.monotonic() < deadline:
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    if "import child; child(" in " ".join(process.cmdline()):
                        process.kill()
            time.sleep(0.01)
    runs = {run.checker: (run.state, run.detail) for run in said.result().coverage.runs}
    failed = f"a grammar did not survive one of the files ({Path(sys.executable).name} ended with signal 9)"
    assert runs == {"syntax": ("failed", failed), "json": ("ran", "")}
    assert [finding.checker for finding in said.result().findings] == ["json"]
