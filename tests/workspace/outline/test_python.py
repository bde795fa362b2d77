import pytest

from ferrule.workspace.outline.base import Span, Wanted
from ferrule.workspace.outline.choose import Choice

from .choosing import block, chosen, outline, spans

CODE = """\
import os
from typing import (
    Any,
)


def before():
    one()

    return 1


# What a thing is.
@final
class Thing(Base):
    kind = "x"

    @property
    def first(self):
        if self.kind:
            return 1
        else:
            return 2

    # About the second.
    def second(
        self,
        name: str,
    ) -> Any:
        return [
            name,
        ]


def after():
    pass
"""
BY = pytest.mark.parametrize("language", [None, "Python"])


@BY
@pytest.mark.parametrize(
    ("anchor", "levels", "lines"),
    [
        (1, 0, (1, 1)),
        (7, 0, (7, 10)),
        (8, 0, (7, 10)),
        (8, 1, (7, 10)),
        (9, 0, (7, 10)),
        (10, 0, (7, 10)),
        (14, 0, (14, 32)),
        (15, 0, (14, 32)),
        (16, 0, (14, 32)),
        (21, 1, (20, 23)),
        (23, 1, (20, 23)),
        (21, 2, (18, 23)),
        (21, 3, (14, 32)),
        (21, 9, (14, 32)),
        (19, 1, (14, 32)),
        (31, 1, (30, 32)),
        (31, 2, (26, 32)),
        (31, 0, (14, 32)),
        (36, 0, (35, 36)),
        (35, 0, (35, 36)),
    ],
)
def test_the_block_around_a_line_is_whole_and_leaks_no_neighbour(
    language: str | None, anchor: int, levels: int, lines: tuple[int, int]
) -> None:
    assert block(CODE, anchor, language, levels) == lines


@BY
def test_the_header_holds_imports_comments_and_the_signatures_around(language: str | None) -> None:
    method = chosen(CODE, 31, language, Wanted(levels=2))
    assert method == Choice(Span(25, 32), Span(25, 32), spans((1, 4), SIGNATURES[language]), False)
    assert chosen(CODE, 31, language, Wanted(levels=1)).header == spans((1, 4), SIGNATURES[language], (26, 29))
    assert chosen(CODE, 31, language, Wanted(levels=2, header=False)) == Choice(Span(26, 32), Span(26, 32), (), False)
    assert chosen(CODE, 15, language).shown == Span(13, 32)


SIGNATURES = {None: (15, 15), "Python": (14, 15)}
"""Of the class: its decoration is part of it by syntax."""


@BY
def test_siblings_are_what_stands_in_the_same_block(language: str | None) -> None:
    assert block(CODE, 21, language, levels=2, siblings=True) == (16, 32)
    assert block(CODE, 21, language, siblings=True) == (1, 36)
    assert chosen(CODE, 21, language, Wanted(levels=2, siblings=True)).header == spans((1, 4), SIGNATURES[language])


@BY
def test_the_previous_function_and_the_next_one_stay_out(language: str | None) -> None:
    text = "def one():\n    a\n\n\ndef two():\n    b\n\n\ndef three():\n    c\n"
    assert [block(text, anchor, language) for anchor in range(1, 11)] == [
        *([(1, 2)] * 2),
        *([(5, 6)] * 4),
        *([(9, 10)] * 4),
    ]


@BY
def test_a_blank_line_stands_for_what_follows_and_at_the_end_for_what_precedes(language: str | None) -> None:
    text = "def one():\n    a\n\n    b\n\n\ndef two():\n    c\n\n\n"
    assert [outline(text, anchor, language).anchor for anchor in (3, 5, 6, 9)] == [4, 7, 7, 8]


@BY
def test_a_comment_stands_for_what_it_is_about(language: str | None) -> None:
    text = "def one():\n    a\n    # the end of one\n\n\n# about two\ndef two():\n# b\n    c\n"
    assert outline(text, 6, language).anchor == 7
    assert block(text, 6, language) == (7, 9)
    assert outline(text, 8, language).anchor == 9
    assert block(text, 2, None) == (1, 3)


def test_text_at_the_margin_of_a_string_ends_no_block_by_syntax() -> None:
    text = 'def query():\n    sql = """\nselect 1\n"""\n    return sql\n\n\ndef after():\n    pass\n'
    assert block(text, 5, "Python") == block(text, 3, "Python") == (1, 5)
    assert block(text, 3, "Python", levels=1) == (2, 4)


@BY
def test_a_lone_carriage_return_ends_no_line(language: str | None) -> None:
    text = "a = 1  # x\ry\rz\r\ndef f():\r\n    pass\r\n\r\nb = 1\r\n"
    assert block(text, 3, language) == (2, 3)


@BY
def test_a_decoration_over_several_lines_belongs_to_what_follows(language: str | None) -> None:
    text = "a = 1\n\n\n@mark(\n    [\n        1,\n    ],\n)\n@other\ndef f() -> None:\n    pass\n\n\nb = 2\n"
    assert [block(text, anchor, language) for anchor in (3, 4, 6, 8, 9, 10, 11)] == [(4, 11)] * 7


@BY
def test_a_docstring_is_no_block_and_a_case_is_one(language: str | None) -> None:
    text = (
        'def f(x):\n    """One.\n\n    Two.\n    """\n'
        "    match x:\n        case 1:\n            a\n            b\n        case _:\n            c\n"
    )
    assert block(text, 4, language, levels=1) == (1, 11)
    assert [block(text, anchor, language, levels=1) for anchor in (8, 9, 11)] == [(7, 9), (7, 9), (10, 11)]
    assert block(text, 8, language, levels=2) == (6, 11)


@BY
def test_except_and_finally_belong_to_their_try(language: str | None) -> None:
    text = "def f():\n    try:\n        a\n    except E:\n        b\n    finally:\n        c\n    d\n"
    assert [block(text, anchor, language, levels=1) for anchor in (3, 5, 7)] == [(2, 7)] * 3
    assert block(text, 4, language, levels=1) == (1, 8)
