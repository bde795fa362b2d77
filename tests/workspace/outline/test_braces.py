import pytest

from ferrule.workspace.outline.base import Wanted

from .choosing import block, chosen, spans

JAVASCRIPT = """\
const fs = require("fs");
import {
  a,
} from "b";

function first() {
  return 1;
}

/**
 * Says what second does.
 */
export function second(x) {
  switch (x) {
    case 1: {
      return x;
    }
    default:
      break;
  }
  if (x) {
    a();
  } else {
    b();
  }
}

class Third {
  method(
    x,
    y,
  ) {
    return {
      x: 1,
    };
  }

  other() {}
}
"""
BY = pytest.mark.parametrize("language", [None, "JavaScript"])


@BY
@pytest.mark.parametrize(
    ("anchor", "levels", "lines"),
    [
        (7, 0, (6, 8)),
        (8, 0, (6, 8)),
        (16, 1, (15, 17)),
        (16, 2, (14, 20)),
        (16, 3, (13, 26)),
        (19, 2, (14, 20)),
        (22, 1, (21, 25)),
        (24, 1, (21, 25)),
        (23, 1, (13, 26)),
        (25, 0, (13, 26)),
        (34, 1, (33, 35)),
        (34, 2, (29, 36)),
        (33, 1, (29, 36)),
        (34, 0, (28, 39)),
        (38, 0, (28, 39)),
        (28, 0, (28, 39)),
    ],
)
def test_two_spaces_are_levels_and_closing_lines_belong_to_their_block(
    language: str | None, anchor: int, levels: int, lines: tuple[int, int]
) -> None:
    assert block(JAVASCRIPT, anchor, language, levels) == lines


@BY
def test_imports_over_several_lines_and_signatures_are_the_header(language: str | None) -> None:
    found = chosen(JAVASCRIPT, 34, language, Wanted(levels=1))
    assert found.header == spans((1, 1), (2, 4), (28, 28), (29, 32)) or found.header == spans((1, 4), (28, 28), (29, 32))
    assert chosen(JAVASCRIPT, 22, language).shown == chosen(JAVASCRIPT, 22, language).block == spans((10, 26))[0]


@pytest.mark.parametrize(
    ("language", "text", "anchor", "levels", "lines"),
    [
        (
            "C",
            "#include <a.h>\n\nint f(int a,\n      int b)\n{\n#if A\n\tg();\n#endif\n\treturn 0;\n}\n\nint g;\n",
            9,
            0,
            (3, 10),
        ),
        ("C", "static int\nf(void)\n{\n    return 0;\n}\n\nint h(void) { return 1; }\n", 4, 0, (1, 5)),
        ("Go", 'package a\n\nimport (\n\t"fmt"\n)\n\nfunc f() {\n\tfmt.Println(1)\n}\n\nfunc g() {\n}\n', 8, 0, (7, 9)),
        ("Rust", "#[derive(A)]\nstruct S {\n    a: i32,\n}\n\nimpl S {\n    fn f(&self) {\n        1\n    }\n}\n", 8, 1, (7, 9)),
        ("Rust", "#[derive(A)]\nstruct S {\n    a: i32,\n}\n\nimpl S {\n    fn f(&self) {\n        1\n    }\n}\n", 8, 0, (6, 10)),
        ("Ruby", "class A\n  def f\n    if x\n      1\n    else\n      2\n    end\n  end\n\n  def g\n  end\nend\n", 6, 1, (3, 7)),
        ("Ruby", "class A\n  def f\n    if x\n      1\n    else\n      2\n    end\n  end\n\n  def g\n  end\nend\n", 6, 2, (2, 8)),
        ("shell", "f() {\n  for x in a; do\n    if b; then\n      c\n    fi\n  done\n}\n\ng() {\n  d\n}\n", 4, 2, (2, 6)),
        (
            "Java",
            "class A {\n    @Override\n    public int f()\n    {\n        return 1;\n    }\n\n    int g;\n}\n",
            5,
            1,
            (2, 6),
        ),
        ("C++", "#ifndef A\n#define A\nnamespace n {\nint f() {\n  return 1;\n}\nint g();\n}\n#endif\n", 5, 1, (4, 6)),
        ("TypeScript", "@a\nexport class K {\n  m(): void {\n    x();\n  }\n}\nlet y = 1;\n", 4, 0, (1, 6)),
        ("PHP", "<?php\nfunction f()\n{\n    return 1;\n}\n\nfunction g()\n{\n}\n", 4, 0, (2, 5)),
        ("Go", "package a\n\nfunc f() {\n\ta()\n\tb()\n\tif c {\n\t\td()\n\t}\n}\n", 5, 1, (3, 9)),
        ("CSS", "#a {\n  b: c;\n}\n\n#d,\n#g {\n  e: f;\n}\n", 2, 0, (1, 3)),
        ("CSS", "a {\n  b: c;\n}\n\nd {\n  e: f;\n}\n", 6, 0, (5, 7)),
    ],
)
@pytest.mark.parametrize("parsed", [False, True])
def test_each_language_by_its_grammar_and_by_indentation(
    language: str, text: str, anchor: int, levels: int, lines: tuple[int, int], parsed: bool
) -> None:
    if text.startswith("static int") and not parsed:
        lines = (2, 5)  # that the type on a line of its own belongs to it, indentation cannot tell
    assert block(text, anchor, language if parsed else None, levels) == lines


@pytest.mark.parametrize(
    ("text", "anchor", "levels", "lines"),
    [
        ("a:\n- b: 1\n  c: 2\n- d: 3\ne: 4\n", 3, 1, (1, 4)),
        ("a:\n- b: 1\n  c: 2\n- d: 3\ne: 4\n", 3, 0, (1, 4)),
        ("a:\n  - b\n  - c\nd:\n  e: 1\n", 5, 0, (4, 5)),
        ('[\n  {\n    "a": 1\n  },\n  {\n    "b": 2\n  }\n]\n', 6, 1, (5, 7)),
        ('[\n  {\n    "a": 1\n  },\n  {\n    "b": 2\n  }\n]\n', 3, 1, (2, 4)),
        ("<a>\n  <b>\n    c\n  </b>\n  <d/>\n</a>\n", 3, 1, (2, 4)),
        ("switch (a) {\ncase 1:\n  b();\n  break;\ndefault:\n  c();\n}\nd();\n", 3, 0, (1, 7)),
        ("class A {\npublic:\n  void f();\nprivate:\n  int x;\n};\nint y;\n", 5, 0, (1, 6)),
        ("if a; then\n  b\nelif c; then\n  d\nfi\ne\n", 4, 0, (1, 5)),
        ("do {\n  a();\n} while (b);\nc();\n", 2, 0, (1, 3)),
        ("f(\n  a,\n)\ng(\n  b,\n)\n", 5, 0, (4, 6)),
        ("local function f()\n  return 1\nend\nlocal x\n", 2, 0, (1, 3)),
        ("plain\ntext\nwithout\nindentation\n", 2, 0, (2, 2)),
    ],
)
def test_shapes_without_a_grammar(text: str, anchor: int, levels: int, lines: tuple[int, int]) -> None:
    assert block(text, anchor, levels=levels) == lines


@pytest.mark.parametrize("language", ["JavaScript", "Python"])
def test_what_does_not_parse_has_no_outline_by_syntax(language: str) -> None:
    from ferrule.workspace.outline import syntax

    text = "def f(:\n    function (((\n"
    assert syntax.outline(text, language, 2) is None
    assert block(text, 2) == (1, 2)


def test_code_without_any_indentation_has_blocks_by_syntax() -> None:
    text = "function f() {\nif (a) {\nb();\n} else {\nc();\n}\n}\nfunction g() {\nd();\n}\n"
    assert [block(text, anchor, "JavaScript", 1) for anchor in (3, 5, 9)] == [(2, 6), (2, 6), (8, 10)]
    assert block(text, 3, "JavaScript") == (1, 7)
