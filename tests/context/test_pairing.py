import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.context.pairing import INTERRUPTED, NONE, UNKNOWN, Repairs, is_synthetic, repair, valid
from ferrule.types.messages import Assistant, Image, Message, Opaque, Reasoning, Results, Text, ToolCall, ToolResult, User

from .histories import calls, interrupted, result, results, says, unknown, user

# Beside those of `test_pairing_scenarios.py`.
SCENARIOS: dict[str, tuple[tuple[Message, ...], tuple[Message, ...], Repairs]] = {
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
    "an answer that was refused": (user(), Assistant((Text("no"),), "refusal", "openai/m"), user()),
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
