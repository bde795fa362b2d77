import json

import pytest

from ferrule.attempt.stuck import FAILING, FRUITLESS, POLLING, SAME, UNKNOWN, Loop, Repetition, steady
from ferrule.types.messages import Text, ToolCall, ToolResult

KNOWN = ("read_file", "edit", "execute_command", "write_to_file")
Turn = tuple[list[ToolCall], list[ToolResult]]


def turn(name: str, text: str, kind: str = "ok", **arguments: str) -> Turn:
    return [ToolCall("i", name, json.dumps(arguments))], [ToolResult("i", name, kind, (Text(text),))]


def watched(*turns: Turn) -> list[Loop | None]:
    watch = Repetition()
    return [watch.add(*each, KNOWN) for each in turns]


def seen(*turns: Turn) -> str:
    """One letter a turn: `.` nothing, `w` warned, `S` stopped."""
    return "".join("." if loop is None else "S" if loop.stop else "w" for loop in watched(*turns))


def test_the_same_turn_is_warned_about_and_then_stops_the_run():
    assert seen(*[turn("read_file", "x", path="a")] * 6) == "..wwwS"
    assert SAME == (3, 6)


def test_turns_in_a_circle_of_two_or_three_are_the_same_turns():
    there, back, third = turn("edit", "a is b", path="f"), turn("edit", "b is a", path="f"), turn("read_file", "f", path="f")
    assert seen(*[there, back] * 6)[-1] == "S"
    assert seen(*[there, back] * 6).index("S") >= 10
    assert seen(*[there, back, third] * 6)[-1] == "S"


def test_thirty_identical_commands_without_output_are_stopped_at_the_sixth():
    assert seen(*[turn("execute_command", "Exit code 0.\nThere was no output.", command="make")] * 30).index("S") == 5


def test_reads_that_advance_through_a_file_are_progress():
    assert seen(*[turn("read_file", f"part {n}", path="a", offset=str(n)) for n in range(60)]) == "." * 60
    assert seen(*[turn("read_file", "the same blank page", path="a", offset=str(n)) for n in range(60)]) == "." * 60


def test_a_result_that_changes_is_progress():
    assert seen(*[turn("execute_command", f"{n} tests left", command="make") for n in range(40)]) == "." * 40


def test_polling_whose_results_differ_in_times_alone_is_no_progress():
    polled = [turn("execute_command", f"Output:\n12:00:{n:02} pid {n} waiting", command="tail log") for n in range(12)]
    assert seen(*polled) == "....wwwwwSSS"
    assert POLLING == (5, 10)
    assert "differ only in times" in (watched(*polled)[9] or Loop("", "", False)).why


def test_polling_that_shows_progress_beside_the_time_goes_on():
    polled = [turn("execute_command", f"12:00:{n:02} {n * 2} % done", command="tail log") for n in range(40)]
    assert seen(*polled) == "." * 40


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("at 2026-01-02T03:04:05Z", "at 2026-01-02T03:09:59.123+02:00"),
        ("2026-01-02 03:04:05,100 INFO", "2026-01-02 03:04:06,200 INFO"),
        ("12:00:01 ok", "12:00:02 ok"),
        ("Exit code 0 after 1.2 s.", "Exit code 0 after 13.0 s."),
        ("elapsed 59s", "elapsed 1m3s"),
        ("took 3 minutes", "took 4 minutes"),
        ("pid 17", "pid 4711"),
        ("PID: 17", "PID: 18"),
        ("worker[17]: up", "worker[18]: up"),
        ("ts=1700000000", "ts=1700000060"),
        ("ts=1700000000123", "ts=1700000060456"),
        ("<x at 0x7f0011223344>", "<x at 0x7f0011223399>"),
        ("run 123e4567-e89b-12d3-a456-426614174000", "run 123e4567-e89b-12d3-a456-4266141740ff"),
    ],
)
def test_what_changes_by_itself_is_left_out(before: str, after: str):
    assert steady(before) == steady(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a.py:10:25: error", "a.py:11:25: error"),
        ("a.py:10:25:30", "a.py:10:25:31"),
        ("3 failed", "2 failed"),
        ("v1.2.3", "v1.2.4"),
        ("list[0]", "list[1]"),
        ("50 %", "51 %"),
        ("port 8080", "port 8081"),
        ("abc1234", "abc1235"),
    ],
)
def test_what_may_be_progress_is_kept(before: str, after: str):
    assert steady(before) != steady(after)


def failing(n: int) -> Turn:
    said = f"edit: nothing like `variant {n}` is in the file; the nearest is {n} % alike"
    return turn("edit", said, "error", path="a", old=str(n))


def test_an_edit_that_fails_the_same_way_is_told_what_to_change_and_then_stopped():
    looked = [each for n in range(8) for each in (failing(n), turn("read_file", f"page {n}", path="b"))]
    assert seen(*looked) == "......w.w.w.w.S."
    warned = watched(*looked)[6]
    assert warned is not None
    assert warned.warning.startswith("edit failed in the same way 4 times, with no success between. Do not try another variant:")
    assert FAILING == (4, 8)


def test_failures_with_a_success_between_or_of_other_kinds_are_progress():
    good = turn("edit", "done", path="a")
    assert seen(*[failing(n) for n in range(3)], good, *[failing(n) for n in range(3)]) == "......."
    assert seen(*[turn("edit", "not found", "error", path=f"{n}") for n in range(9)]) == "." * 9
    assert seen(*[turn("edit", "so " * n, "error", path="a") for n in range(9)]) == "." * 9


def test_tools_that_do_not_exist_are_answered_with_those_that_do():
    loops = watched(*[turn(f"tool_{n}", f"There is no tool 'tool_{n}'.", "error") for n in range(6)])
    assert [loop and loop.stop for loop in loops] == [None, None, False, False, False, True]
    assert loops[2] is not None
    assert loops[2].advice == (
        "The tools are: read_file, edit, execute_command, write_to_file. Call one of them by exactly this name."
    )
    assert UNKNOWN == (3, 6)


def test_a_run_in_which_nothing_succeeds_is_stopped_whatever_it_tries():
    denied = [turn("execute_command", f"Denied: {n}", "denied", command=f"rm {n}") for n in range(20)]
    assert seen(*denied) == "." * 9 + "w" * 10 + "S"
    assert FRUITLESS == (10, 20)
    assert seen(*denied[:19], turn("read_file", "x"), *denied[:9]) == "." * 9 + "w" * 10 + "." * 10
