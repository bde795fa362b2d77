import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.workspace.codebase.pieces import MOST, pieces
from ferrule.workspace.codebase.terms import asked, defined, terms


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("userName", ["username", "user", "name"]),
        ("user_name", ["user_name", "user", "name"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("os.path.join", ["os.path.join", "os", "path", "join"]),
        ("self.userName()", ["self.username", "self", "username", "user", "name"]),
        ("x = 42;", ["x", "42"]),
        ("größe Übung", ["größe", "übung"]),
        ("a" * 101, []),
        ("+-*/", []),
    ],
)
def test_an_identifier_is_found_whole_by_its_parts_and_with_what_it_is_reached_through(text: str, found: list[str]) -> None:
    assert list(terms(text)) == found


def test_names_that_are_defined_are_known_as_such() -> None:
    text = "class UserStore:\n    def find_one(self): pass\nfunc (s S) Close() {\nfn run() {}\nreturn other"
    assert set(defined(text)) == {"userstore", "user", "store", "find_one", "find", "one", "close", "run"}


def test_a_question_has_each_term_once() -> None:
    assert asked("retry retry Retry-After") == ["retry", "after"]


@given(st.lists(st.sampled_from(["", "def f():", "    x = 1", "}", "text"]), max_size=300))
def test_pieces_hold_every_line_that_is_not_blank_once_and_in_order(lines: list[str]) -> None:
    found = list(pieces("\n".join(lines)))
    covered = [number for piece in found for number in range(piece.first, piece.last + 1)]
    assert covered == sorted(set(covered))
    assert {number for number, line in enumerate(lines, 1) if line} <= set(covered)
    assert all(
        piece.last - piece.first < MOST and piece.text == "\n".join(lines[piece.first - 1 : piece.last]) for piece in found
    )


def test_a_piece_ends_where_something_begins_at_the_margin() -> None:
    function = "def f():\n" + "    x = 1\n" * 18 + "\n"
    assert [(piece.first, piece.last) for piece in pieces((function * 3).removesuffix("\n"))] == [(1, 20), (21, 40), (41, 60)]
