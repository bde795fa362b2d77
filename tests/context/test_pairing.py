import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.context.pairing import INTERRUPTED, NO_USER, NONE, UNKNOWN, Repairs, is_synthetic, repair, valid
from ferrule.types.messages import Assistant, Image, Message, Opaque, Reasoning, Results, Text, ToolCall, ToolResult, User


def user(text: str = "go") -> User:
    return User((Text(text),))


def calls(*ids: str, text: str = "") -> Assistant:
    said = (Text(text),) if text else ()
    return Assistant((*said, *(ToolCall(id, "read_file", "{}") for id in ids)), "calls", "openai/m")


def says(text: str) -> Assistant:
    return Assistant((Text(text),), "end", "openai/m")


def result(id: str, text: str = "done") -> ToolResult:
    return ToolResult(id, "read_file", "ok", (Text(text),))


def results(*ids: str) -> Results:
    return Results(tuple(result(id) for id in ids))


def interrupted(id: str) -> ToolResult:
    return ToolResult(id, "read_file", "interrupted", (Text(INTERRUPTED),))


def unknown(id: str) -> ToolResult:
    return ToolResult(id, "read_file", "unknown", (Text(UNKNOWN),))


# The numbers are those of the scenario list that was observed in OpenClaw; the others do not apply to our message types.
SCENARIOS: dict[str, tuple[tuple[Message, ...], tuple[Message, ...], Repairs]] = {
    "1 a result behind a user message moves up and its missing sibling is synthesised": (
        (user(), calls("a", "b"), user("hm"), results("a")),
        (user(), calls("a", "b"), Results((result("a"), interrupted("b"))), user("hm")),
        Repairs(added=("b",), moved=1),
    ),
    "2 a duplicate within the turn": (
        (user(), calls("a"), Results((result("a", "first"), result("a", "second")))),
        (user(), calls("a"), Results((result("a", "first"),))),
        Repairs(duplicates=1),
    ),
    "3 a duplicate across the conversation": (
        (user(), calls("a"), results("a"), user(), calls("b"), Results((result("b"), result("a", "again")))),
        (user(), calls("a"), results("a"), user(), calls("b"), results("b")),
        Repairs(duplicates=1),
    ),
    "4 an orphan": ((user(), results("x"), says("hi")), (user(), says("hi")), Repairs(orphans=1)),
    "7 a call without a result": (
        (user(), calls("a")),
        (user(), calls("a"), Results((interrupted("a"),))),
        Repairs(added=("a",)),
    ),
    "13 text beside a call is kept": (
        (user(), calls("a", text="look"), user("go on")),
        (user(), calls("a", text="look"), Results((interrupted("a"),)), user("go on")),
        Repairs(added=("a",)),
    ),
    "20 a real result replaces a synthetic one": (
        (user(), calls("a"), Results((interrupted("a"),)), results("a")),
        (user(), calls("a"), results("a")),
        Repairs(duplicates=1, moved=1),
    ),
    "20 a synthetic one never replaces a real one": (
        (user(), calls("a"), results("a"), Results((unknown("a"),))),
        (user(), calls("a"), results("a")),
        Repairs(duplicates=1),
    ),
    "21 a result behind the next turn moves up": (
        (user(), calls("a"), calls("b"), results("b", "a")),
        (user(), calls("a"), results("a"), calls("b"), results("b")),
        Repairs(moved=1),
    ),
    "23 a text answer between call and result": (
        (user(), calls("a"), says("wait"), results("a")),
        (user(), calls("a"), results("a"), says("wait")),
        Repairs(moved=1),
    ),
    "28 the same id in two turns": (
        (user(), calls("a"), user(), calls("a"), Results((result("a", "of the second"),))),
        (user(), calls("a"), Results((interrupted("a"),)), user(), calls("a"), Results((result("a", "of the second"),))),
        Repairs(added=("a",)),
    ),
    "29 a window that starts with results": (
        (results("a"), says("so"), user()),
        (User((Text(NO_USER),)), says("so"), user()),
        Repairs(orphans=1, opened=True),
    ),
    "30 a window that starts with calls": (
        (calls("a"), results("a"), user()),
        (User((Text(NO_USER),)), calls("a"), results("a"), user()),
        Repairs(opened=True),
    ),
    "31 a crash after the call, before its result": (
        (user(), calls("a"), user("again")),
        (user(), calls("a"), Results((interrupted("a"),)), user("again")),
        Repairs(added=("a",)),
    ),
    "32 two calls, one result, then the person": (
        (user(), calls("a", "b"), results("b"), user("stop")),
        (user(), calls("a", "b"), Results((interrupted("a"), result("b"))), user("stop")),
        Repairs(added=("a",)),
    ),
    "34 a result before its call": (
        (user(), results("a"), calls("a")),
        (user(), calls("a"), Results((interrupted("a"),))),
        Repairs(added=("a",), orphans=1),
    ),
    "results in the wrong order": (
        (user(), calls("a", "b"), results("b", "a")),
        (user(), calls("a", "b"), results("a", "b")),
        Repairs(moved=1),
    ),
    "results spread over two messages": (
        (user(), calls("a", "b"), results("a"), results("b")),
        (user(), calls("a", "b"), results("a", "b")),
        Repairs(moved=1),
    ),
    "the same id twice in one message": (
        (user(), calls("a", "a"), Results((result("a", "1"), result("a", "2")))),
        (user(), calls("a", "a"), Results((result("a", "1"), result("a", "2")))),
        NONE,
    ),
    "parts and messages without content": (
        (
            user(),
            Assistant((Reasoning(""), Text(" \n"), Text("yes")), "end", "openai/m"),
            User((Text(""), Image("image/png", ""))),
            Assistant((), "end", "openai/m"),
            Results(()),
        ),
        (user(), says("yes")),
        Repairs(emptied=7),
    ),
    "nothing is left": ((Assistant((Text(""),), "end", "openai/m"),), (), Repairs(emptied=2)),
}

UNCHANGED: dict[str, tuple[Message, ...]] = {
    "27 a whole conversation": (user(), calls("a", "b"), results("a", "b"), says("done"), user(), says("bye")),
    "28 the same id in two turns, each answered": (user(), calls("a"), results("a"), user(), calls("a"), results("a")),
    "5 and 6 an answer that was refused": (user(), Assistant((Text("no"),), "refusal", "openai/m"), user()),
    "19 answers of several models": (user(), says("a"), user(), Assistant((Text("b"),), "end", "anthropic/n"), user()),
    "two user messages in a row": (user("a"), user("b"), says("c")),
    "opaque data without text": (
        user(),
        Assistant((Reasoning("", Opaque("anthropic", "m", "{}")), Text("", Opaque("google", "m", "{}"))), "end", "m/m"),
    ),
    "an empty conversation": (),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name: str) -> None:
    before, after, report = SCENARIOS[name]
    assert repair(before) == (after, report)


@pytest.mark.parametrize("name", UNCHANGED)
def test_a_valid_conversation_is_returned_as_the_same_object(name: str) -> None:
    for messages in (UNCHANGED[name], list(UNCHANGED[name])):
        repaired, report = repair(messages)
        assert repaired is messages
        assert report == NONE
        assert not report


def test_a_call_that_had_started_gets_an_unknown_outcome() -> None:
    repaired, report = repair((user(), calls("a", "b")), started={"b"})
    assert repaired == (user(), calls("a", "b"), Results((interrupted("a"), unknown("b"))))
    assert report.lines() == ("added a result for call a", "added a result for call b")


def test_a_report_says_each_kind_of_change_once() -> None:
    report = Repairs(added=("a",), duplicates=2, orphans=1, moved=3, emptied=1, opened=True)
    assert report.lines() == (
        "added a result for call a",
        "dropped 2 second result(s) of a call",
        "dropped 1 result(s) without a call",
        "moved 3 result(s) to their calls",
        "dropped 1 empty part(s) or message(s)",
        "opened the conversation with a user message",
    )


IDS = st.sampled_from(["a", "b", "c"])
KINDS = st.sampled_from(["ok", "error", "denied", "interrupted", "unknown"])
TEXTS = st.sampled_from(["", " ", "x", "y", INTERRUPTED, UNKNOWN])
RESULT = st.builds(ToolResult, IDS, st.just("read_file"), KINDS, st.tuples(st.builds(Text, TEXTS)))
SAID = st.one_of(
    st.builds(Text, TEXTS), st.builds(Reasoning, TEXTS), st.builds(ToolCall, IDS, st.just("read_file"), st.just("{}"))
)
MESSAGE = st.one_of(
    st.builds(User, st.lists(st.builds(Text, TEXTS), max_size=2).map(tuple)),
    st.builds(Assistant, st.lists(SAID, max_size=3).map(tuple), st.just("end"), st.just("m/m")),
    st.builds(Results, st.lists(RESULT, max_size=3).map(tuple)),
)
HISTORY = st.lists(MESSAGE, max_size=10).map(tuple)


def assert_strict(messages: tuple[Message, ...]) -> None:
    """Law 4, written without the code under test."""
    if messages:
        assert isinstance(messages[0], User)
    for at, message in enumerate(messages):
        assert message.parts
        wanted = [part.id for part in message.parts if isinstance(part, ToolCall)] if isinstance(message, Assistant) else []
        follower = messages[at + 1] if at + 1 < len(messages) else None
        got = [part.call_id for part in follower.parts] if isinstance(follower, Results) else []
        assert wanted == got
        if isinstance(message, Results):
            assert isinstance(messages[at - 1], Assistant)


@given(HISTORY, st.frozensets(IDS))
@settings(max_examples=300, deadline=None)
def test_the_repaired_history_is_valid_and_repairing_it_again_changes_nothing(
    history: tuple[Message, ...], started: frozenset[str]
) -> None:
    repaired, report = repair(history, started)
    assert_strict(tuple(repaired))
    again, nothing = repair(repaired, started)
    assert again is repaired
    assert nothing == NONE
    assert (repaired == history) == (report == NONE) == valid(history)


def visible(part: object) -> bool:
    return not (isinstance(part, Text | Reasoning) and not part.text.strip()) or (isinstance(part, Reasoning) and bool(part.text))


@given(HISTORY)
@settings(max_examples=300, deadline=None)
def test_everything_but_results_stays_as_it_was_and_in_order(history: tuple[Message, ...]) -> None:
    repaired, report = repair(history)
    before = [(type(m), tuple(p for p in m.parts if visible(p))) for m in history if not isinstance(m, Results)]
    after = [(type(m), m.parts) for m in repaired if not isinstance(m, Results)]
    assert after[report.opened :] == [each for each in before if each[1]]


@given(HISTORY)
@settings(max_examples=300, deadline=None)
def test_a_real_result_behind_its_call_is_dropped_only_when_the_call_has_another(history: tuple[Message, ...]) -> None:
    repaired, _ = repair(history)
    kept = Counter(part.call_id for m in repaired if isinstance(m, Results) for part in m.parts if not is_synthetic(part))
    open_calls: Counter[str] = Counter()
    matching: Counter[str] = Counter()
    last: dict[str, ToolResult] = {}
    for message in history:
        for part in message.parts:
            if isinstance(part, ToolCall):
                open_calls[part.id] += 1
                last.pop(part.id, None)
            elif (
                isinstance(part, ToolResult)
                and not is_synthetic(part)
                and open_calls[part.call_id]
                and last.get(part.call_id) != part
            ):
                open_calls[part.call_id] -= 1
                matching[part.call_id] += 1
                last.setdefault(part.call_id, part)
    assert kept == matching


def long_history(turns: int) -> list[Message]:
    history: list[Message] = [user()]
    for turn in range(turns):
        history += [calls(f"c{turn}"), results(f"c{turn}")]
    return history


def seconds(history: list[Message]) -> float:
    best = 9.0
    for _ in range(2):
        started = time.process_time()
        repair(history)
        best = min(best, time.process_time() - started)
    return best


def test_a_hundred_thousand_messages_take_no_more_than_two_seconds() -> None:
    whole = long_history(50_000)
    damaged = [message for at, message in enumerate(whole) if at % 7 != 2]
    reused: list[Message] = [user(), *[calls("same") for _ in range(50_000)], *[results("same") for _ in range(50_000)]]
    assert seconds(whole) < 2
    assert seconds(damaged) < 2
    assert seconds(reused) < 2
