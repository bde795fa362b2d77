import os

import pytest

from ferrule.types.tools import Action

from .bench import Bench

PYTHON = '''\
import os

@decorated
class A(Base):
    """Text."""

    def one(self, x: int) -> int:
        def inner():
            pass
        return x

    async def two(self): ...

if True:
    def late(): pass
'''


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "a.py",
            PYTHON,
            "# a.py\n 4-12 | class A(Base):\n 7-10 |   def one(self, x: int) -> int:\n  8-9 |     def inner():\n"
            "12-12 |   async def two(self): ...\n15-15 | def late(): pass",
        ),
        (
            "a.ts",
            "export class A {\n  b(): void {\n  }\n  c = () => {};\n}\ninterface I { x: number }\nconst f = (x) => x;\n"
            "type T = string;\nenum E { A }\nconst plain = 1;\n",
            "# a.ts\n1-5 | export class A {\n2-3 |   b(): void {\n4-4 |   c = () => {};\n6-6 | interface I { x: number }\n"
            "7-7 | const f = (x) => x;\n8-8 | type T = string;\n9-9 | enum E { A }",
        ),
        (
            "a.go",
            "package a\n\ntype S struct {\n}\n\nfunc (s S) M() {\n}\n",
            "# a.go\n3-4 | type S struct {\n6-7 | func (s S) M() {",
        ),
        (
            "a.rs",
            "struct S;\nimpl S {\n    fn f() {}\n}\nuse std::io;\n",
            "# a.rs\n1-1 | struct S;\n2-4 | impl S {\n3-3 |   fn f() {}",
        ),
        (
            "a.c",
            "struct s { int x; };\nstruct s *g;\nint f(void) {\n  return 0;\n}\n",
            "# a.c\n1-1 | struct s { int x; };\n3-5 | int f(void) {",
        ),
        (
            "a.cpp",
            "namespace n {\nclass C {\n  void m() {}\n};\n}\n",
            "# a.cpp\n1-5 | namespace n {\n2-4 |   class C {\n3-3 |     void m() {}",
        ),
        (
            "A.java",
            "class A {\n  A() {}\n  int m() { return 1; }\n}\n",
            "# A.java\n1-4 | class A {\n2-2 |   A() {}\n3-3 |   int m() { return 1; }",
        ),
        (
            "a.rb",
            "module M\n  class C\n    def m\n    end\n  end\nend\n",
            "# a.rb\n1-6 | module M\n2-5 |   class C\n3-4 |     def m",
        ),
        ("a.php", "<?php\nclass A {\n  function m() {}\n}\n", "# a.php\n2-4 | class A {\n3-3 |   function m() {}"),
        ("tool", "#!/bin/bash\nrun() {\n  true\n}\n", "# tool\n2-4 | run() {"),
        ("a.css", ".a, .b {\n  x: 1;\n}\n", "# a.css\n1-3 | .a, .b {"),
    ],
)
def test_what_a_file_defines_is_listed_with_its_lines(bench: Bench, name: str, content: str, expected: str) -> None:
    (bench.root / name).write_text(content)
    assert bench.text("list_code_definitions", path=name) == expected


def test_a_folder_lists_its_own_files_in_order_without_ignored_and_other_ones(bench: Bench) -> None:
    (bench.root / "src" / "deep").mkdir(parents=True)
    (bench.root / ".gitignore").write_text("gen_*\n")
    (bench.root / ".ferruleignore").write_text("secret.py\n")
    for name in ("b.py", "a.go", "gen_x.py", "secret.py", "deep/c.py"):
        (bench.root / "src" / name).write_text("func f() {}\n" if name.endswith("go") else "def f(): pass\n")
    (bench.root / "src" / "readme.md").write_text("# Text\n")
    (bench.root / "src" / "bad.py").write_text("def f(:\n")
    os.mkfifo(bench.root / "src" / "pipe.py")
    assert bench.text("list_code_definitions", path="src") == (
        "# src/a.go\n1-1 | func f() {}\n# src/b.py\n1-1 | def f(): pass\n# src/bad.py (it does not parse (line 1))\n"
        "# src/pipe.py (it is a named pipe, not a file)"
    )


def test_many_definitions_are_cut_and_that_is_said(bench: Bench) -> None:
    (bench.root / "a.py").write_text("def f(): pass\n" * 700)
    (bench.root / "b.py").write_text("def g(): pass\n")
    text = bench.text("list_code_definitions", path=".").split("\n")
    assert text[-3:] == [
        "600-600 | def f(): pass",
        "(100 more in this file. Read on behind line 600.)",
        "(The rest is left out after 600 definitions. Name a single file to see its own.)",
    ]


@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        ("a.md", "No definitions of a.md: there is no grammar of its language here."),
        ("bad.py", "No definitions of bad.py: it does not parse (line 1)."),
        ("b.md", "b.md does not exist. Did you mean a.md?"),
    ],
)
def test_what_has_no_definitions_is_said(bench: Bench, path: str, refusal: str) -> None:
    (bench.root / "a.md").write_text("text\n")
    (bench.root / "bad.py").write_text("def f(:\n")
    assert bench.refusal("list_code_definitions", path=path).startswith(refusal.removesuffix("."))


def test_a_file_without_definitions_and_a_folder_without_sources_are_no_errors(bench: Bench) -> None:
    (bench.root / "empty").mkdir()
    (bench.root / "a.py").write_text("x = 1\n")
    assert bench.text("list_code_definitions", path="a.py") == "a.py defines nothing."
    assert (
        bench.text("list_code_definitions", path="empty")
        == "empty/ holds no source file of a language that there is a grammar of."
    )


def test_a_source_with_a_fault_tells_what_stands_around_it(bench: Bench) -> None:
    (bench.root / "a.go").write_text("package a\n\nfunc ok() {\n}\n\nfunc bad( {\n}\n\nfunc fine() {\n}\n")
    assert "3-4 | func ok() {" in bench.text("list_code_definitions", path="a.go")


def test_the_action_reads_the_path(bench: Bench) -> None:
    assert bench.actions("list_code_definitions", path="x") == (Action("read", (str(bench.root / "x"),)),)
