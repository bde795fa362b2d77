import pytest

from ferrule.stream.filter import Answering
from ferrule.stream.inbound.calls import REPEATS
from ferrule.stream.turns import turn_kind
from ferrule.types.fault import Fault
from ferrule.types.messages import Assistant, Message, Opaque, Reasoning, Results, Text, ToolCall, ToolResult, User
from ferrule.types.stream import Done, Failed, Noted, PartBegan, PartDelta, StreamEvent
from ferrule.types.usage import Usage

from .playing import PLAIN, USAGE, normalise, played, spoken, tool

TOOLS = (tool("read_file", "path"),)
CALL = ToolCall("x", "read_file", '{"path":"a"}')


def says(text: str, stop: str = "end", *parts: Reasoning) -> Assistant:
    return Assistant((*parts, Text(text)), stop, "openai/m")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (Assistant((Text("I look."), CALL), "calls", "m/m"), "calls"),
        (Assistant((ToolCall("x", "nope", "{}", problem="no such tool"),), "calls", "m/m"), "calls"),
        (says("It is done."), "answer"),
        (says("Fertig。"), "answer"),
        (says("The list:\n- a\n- b"), "answer"),
        (says("It works:\n```\nok\n```"), "answer"),
        (says("No.", "refusal"), "answer"),
        (says("It goes on and on", "length"), "answer"),
        (says("Next I run the tests:"), "announced"),
        (says("次に実行します："), "announced"),
        (says("Теперь исправлю:\n"), "announced"),
        (says("```python\nprint(1)"), "announced"),
        (says("I call it.", "calls"), "announced"),
        (Assistant((Reasoning("Hm."),), "end", "m/m"), "reasoning_only"),
        (Assistant((Reasoning("", Opaque("openai", "m", "{}")), Text(" ")), "end", "m/m"), "reasoning_only"),
        (Assistant((), "end", "m/m"), "empty"),
    ],
)
def test_a_turn_is_what_its_structure_says(message: Assistant, kind: str) -> None:
    assert turn_kind(message) == kind


def test_an_unknown_stop_reason_is_one_failure_with_what_was_said() -> None:
    said = says("Half", "pondering")
    events = played([*spoken(said.parts), Done(said, USAGE), Noted("late", "x"), Done(said, USAGE)], Answering(TOOLS))
    ends = [event for event in events if isinstance(event, Done | Failed)]
    assert ends == [Failed(Fault("bad_response", "unknown stop reason 'pondering'"), said.parts, USAGE)]
    assert events[-1] is ends[0]


@pytest.mark.parametrize(
    ("message", "stop"),
    [(Assistant((CALL,), "end", "m/m"), "calls"), (Assistant((CALL,), "length", "m/m"), "length"), (says("x", "calls"), "calls")],
)
def test_a_stop_reason_agrees_with_what_is_there(message: Assistant, stop: str) -> None:
    assert normalise(message, TOOLS)[0].stop == stop


def test_an_answer_that_fails_after_text_keeps_it_and_runs_nothing() -> None:
    partial = (Text("I wri"), ToolCall("x", "write_to_file", '{"pa'))
    failed = Failed(Fault("cut"), partial, Usage())
    assert played([*spoken(partial), failed], Answering(TOOLS))[-1] is failed


def test_no_event_follows_the_end() -> None:
    said = says("Done.")
    events = played(
        [Done(said, USAGE), PartBegan(3, "text"), PartDelta(3, "more"), Failed(Fault("cut"), (), USAGE)], Answering(TOOLS)
    )
    assert events == [Done(said, USAGE)]


def unknown(name: str = "teleport") -> Assistant:
    return Assistant((Text("I try."), ToolCall("x", name, '{"to":"mars"}')), "calls", "openai/m")


def turns(count: int, *between: Message) -> list[Message]:
    history: list[Message] = [User((Text("go"),))]
    for number in range(count):
        said, _ = normalise(unknown(), TOOLS, number + 1)
        history += [said, Results((ToolResult(said.calls[0].id, "teleport", "error", (Text("no"),)),)), *between]
    return history


@pytest.mark.parametrize(("before", "calls"), [(0, 1), (REPEATS - 1, 1), (REPEATS, 0), (REPEATS + 5, 0)])
def test_the_eleventh_call_in_a_row_of_a_tool_that_does_not_exist_gives_way_to_a_text(before: int, calls: int) -> None:
    message, notes = normalise(unknown(), TOOLS, before + 1, turns(before))
    assert (len(message.calls), message.stop) == (calls, "calls" if calls else "end")
    assert message.parts[0] == Text("I try.")
    assert ("teleport" in message.text, any("unknown-tools" in note for note in notes)) == (not calls, not calls)


def test_texts_between_do_not_end_the_row_and_a_call_of_a_real_tool_does() -> None:
    assert normalise(unknown(), TOOLS, 99, turns(REPEATS, says("hm")))[0].calls == ()
    real = Assistant((CALL,), "calls", "openai/m")
    assert len(normalise(unknown(), TOOLS, 99, [*turns(REPEATS), real])[0].calls) == 1
    assert len(normalise(unknown("beam"), TOOLS, 99, turns(REPEATS))[0].calls) == 1


def test_arguments_pass_through_as_they_came_however_many_deltas_they_have() -> None:
    events: list[StreamEvent] = [PartBegan(0, "call", "x", "read_file"), *(PartDelta(0, c) for c in CALL.arguments)]
    assert played(events, Answering(TOOLS), PLAIN) == events
