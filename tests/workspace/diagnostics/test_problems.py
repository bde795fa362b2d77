from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.workspace.diagnostics.problems import Problem, fresh


def error(line: int, text: str = "bad") -> Problem:
    return Problem(line, "error", text, "judge")


def test_a_problem_that_moved_with_its_line_is_not_new() -> None:
    assert fresh((error(2),), (error(3),), "a\nbad\n", "new\na\nbad\n") == ()


def test_a_problem_of_another_kind_or_place_is_new() -> None:
    assert fresh((error(1),), (error(1), error(2, "worse")), "bad\nb\n", "bad\nc\n") == (error(2, "worse"),)
    assert fresh((error(1),), (error(1), error(2)), "bad\nb\n", "bad\nbad\n") == (error(2),)


def test_a_problem_of_a_line_that_was_rewritten_is_not_new() -> None:
    assert fresh((error(1),), (error(1),), "x = y\n", "x = y  # why\n") == ()


def test_a_problem_on_a_line_that_stayed_is_new() -> None:
    """Such as a name that is no longer imported."""
    assert fresh((), (error(2),), "import os\nos.sep\n", "\nos.sep\n") == (error(2),)


def test_as_many_as_there_were_are_left_out() -> None:
    assert fresh((error(1),), (error(1), error(2)), "a\n", "b\nc\n") == (error(2),)


LINES = st.lists(st.sampled_from(["a", "b", "bad", ""]), max_size=8)


@settings(max_examples=200)
@given(LINES, LINES)
def test_inserted_lines_bring_their_own_problems_alone(lines: list[str], more: list[str]) -> None:
    def judged(lines: list[str]) -> tuple[Problem, ...]:
        return tuple(error(number) for number, line in enumerate(lines, 1) if line == "bad")

    new = [*lines, *more]
    assert len(fresh(judged(lines), judged(new), "\n".join(lines), "\n".join(new))) == more.count("bad")
    assert fresh(judged(new), judged(lines), "\n".join(new), "\n".join(lines)) == ()
