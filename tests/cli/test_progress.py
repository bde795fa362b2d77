from collections.abc import Iterable

import pytest

from ferrule.front.cli.show.progress import Progress, telling
from ferrule.front.cli.show.terminal import Look, clean, duration, one_line
from ferrule.types.fault import Fault
from ferrule.types.messages import Assistant, ResultKind, Text, ToolCall, ToolResult, User
from ferrule.types.records import (
    AssistantSaid,
    CallFinished,
    CallStarted,
    Cut,
    Entry,
    ModelChosen,
    Record,
    Repaired,
    Retried,
    Shrunk,
    TodosSet,
    UserSaid,
)
from ferrule.types.result import Output, RecordAdded, Streaming, TaskEvent
from ferrule.types.stream import Done, Failed, PartBegan, PartDelta, StreamEvent
from ferrule.types.tools import Effect, Todo
from ferrule.types.usage import Usage

CALLS = (
    ToolCall("c1", "read_file", '{"path":"hello.py"}'),
    ToolCall("c2", "execute_command", '{"command":"pytest -q","cwd":"tests"}'),
)
SAID = Assistant((Text("I look.\nThen I test."), *CALLS), "calls", "openai/x")


def recorded(*entries: Entry) -> list[TaskEvent]:
    return [RecordAdded(Record(seq, "main", 0.0, entry, "")) for seq, entry in enumerate(entries, 1)]


def streamed(*events: StreamEvent) -> list[TaskEvent]:
    return [Streaming(event) for event in events]


def finished(id: str, name: str, kind: ResultKind, text: str = "", seconds: float = 0.012) -> CallFinished:
    return CallFinished(ToolResult(id, name, kind, (Text(text),)), seconds)


def rendered(events: Iterable[TaskEvent], look: Look | None = None) -> str:
    chunks: list[str] = []
    progress = Progress(chunks.append, look or Look(width=60))
    for event in events:
        progress.show(event)
    progress.finish()
    return "".join(chunks)


TURN = [
    *streamed(
        PartBegan(0, "reasoning"),
        PartDelta(0, "secretly"),
        PartBegan(1, "text"),
        PartDelta(1, "I look.\nThen"),
        PartDelta(1, " I test."),
        PartBegan(2, "call", "c1", "read_file"),
        PartDelta(2, '{"path":"hello.py"}'),
        Done(SAID, Usage()),
    ),
    *recorded(
        AssistantSaid(SAID, Usage(), 1.0),
        CallStarted("c1", "read_file", Effect.READ),
        CallStarted("c2", "execute_command", Effect.MUTATING),
        finished("c1", "read_file", "ok", "print('hello')"),
        finished("c2", "execute_command", "error", "It cannot be started:\nno such program anywhere on this machine", 61.5),
    ),
]


def test_a_turn_is_its_text_and_one_line_a_call() -> None:
    assert rendered(TURN) == (
        "I look.\nThen I test.\n"
        "  ✓ read_file hello.py  12 ms\n"
        "  ✗ execute_command pytest -q  1 min 02 s: It cannot be started: no such program a…\n"
    )


def test_text_that_was_not_streamed_is_shown_once_from_the_record() -> None:
    assert rendered(recorded(AssistantSaid(SAID, Usage(), 1.0))) == "I look.\nThen I test.\n"


def test_on_a_terminal_a_running_call_is_redrawn_in_place() -> None:
    assert rendered(TURN, Look(colour=False, live=True, width=60)) == (
        "  … thinking\r\x1b[KI look.\nThen I test.\n"
        "  … read_file hello.py\r\x1b[K  … execute_command pytest -q\r\x1b[K"
        "  ✓ read_file hello.py  12 ms\n"
        "  ✗ execute_command pytest -q  1 min 02 s: It cannot be started: no such program a…\n"
    )


def test_colours_mark_what_happened() -> None:
    assert rendered(TURN[1:5] + TURN[-2:-1], Look(colour=True, width=60)) == (
        "\x1b[2mI look.\nThen\x1b[0m\x1b[2m I test.\x1b[0m\n  \x1b[32m✓\x1b[0m read_file\x1b[2m  12 ms\x1b[0m\n"
    )


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("ok", "  ✓ edit  12 ms\n"),
        ("error", "  ✗ edit  12 ms: why\n"),
        ("denied", "  ⊘ edit: why\n"),
        ("interrupted", "  ‖ edit  12 ms\n"),
        ("skipped", "  ↷ edit\n"),
        ("unknown", "  ? edit  12 ms: why\n"),
    ],
)
def test_each_kind_of_result_has_its_mark(kind: ResultKind, shown: str) -> None:
    assert rendered(recorded(finished("c1", "edit", kind, "why"))) == shown


def test_what_goes_wrong_on_the_way_is_one_line_each() -> None:
    events = [
        *streamed(PartBegan(0, "text"), PartDelta(0, "Half a th"), Failed(Fault("cut"), (Text("Half a th"),), Usage())),
        *recorded(
            Retried(Fault("rate_limit", status=429), 2.5, (), Usage()),
            Repaired("pairing", ("one result added", "another one")),
            Retried(Fault("quota", "Your plan is at its end. " * 9, 429), 0.0, (), Usage(), "openai/z"),
            UserSaid(User((Text("[Automatic reminder] Your last answer was empty. Go on with a call."),)), "reminder"),
            UserSaid(User((Text("Files changed: a.py."),)), "note"),
            Shrunk("preflight", (Cut("c1", 9, 9),), before=9_000, after=1_200),
            Shrunk("overflow", messages=1_007, summary="So far.", before=91_000, after=9_200),
            Shrunk("overflow", before=9_000, after=9_000),
            UserSaid(User((Text("what I said myself"),)), "person"),
            ModelChosen("openai/y", "http://127.0.0.1:1/v1"),
            ModelChosen("scripted/f", "/f"),
            TodosSet((Todo("a", "completed"), Todo("write it", "in_progress"))),
        ),
        Output("c1", "noise"),
    ]
    assert rendered(events, Look(width=90)) == (
        "Half a th\n"
        "  ↻ asking again in 2.5 s: The provider limits how often it may be asked. (HTTP 429)\n"
        "  ⚒ repaired by pairing: one result added (and 1 more)\n"
        "  ↻ asking openai/z instead: What the account may use in a day, week or month is used up.…\n"
        "  ↻ the model was reminded: Your last answer was empty.\n"
        "  ↻ the model was told: Files changed: a.py.\n"
        "  ⚒ 1 result cut: about 9,000 tokens before, 1,200 after\n"
        "  ⚒ 1,007 messages summarised: about 91,000 tokens before, 9,200 after\n"
        "  · asking openai/y at http://127.0.0.1:1/v1\n"
        "  · todos 1/2: write it\n"
    )


def test_text_that_follows_a_cut_answer_is_shown_whole() -> None:
    again = Assistant((Text("All of it."),), "end", "openai/x")
    events = [
        *streamed(PartBegan(0, "text"), PartDelta(0, "Half"), Failed(Fault("cut"), (), Usage())),
        *recorded(AssistantSaid(again, Usage(), 1.0)),
    ]
    assert rendered(events) == "Half\nAll of it.\n"


def test_text_from_a_model_or_a_tool_cannot_steer_the_terminal() -> None:
    call = ToolCall("c1", "execute_command", '{"command":"a\\u001b]0;title\\u0007\\nrm"}')
    events = [
        *streamed(PartBegan(0, "text"), PartDelta(0, "\x1b[2Jgone\rover\u202e\x9b1m")),
        *recorded(
            AssistantSaid(Assistant((Text("x"), call), "calls", "m"), Usage(), 1.0),
            finished("c1", "execute_command", "error", "\x1b[31mred"),
        ),
    ]
    assert rendered(events) == ("␛[2Jgone␍over\\u202e\\x9b1m\n  ✗ execute_command a␛]0;title␇ rm  12 ms: ␛[31mred\n")


def test_marks_have_plain_forms_for_other_encodings() -> None:
    text = rendered(recorded(finished("c1", "edit", "ok"), finished("c2", "edit", "denied", "no")), Look(symbols=False, width=60))
    assert text == "  + edit  12 ms\n  ! edit: no\n"
    assert text.isascii()


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ('{"path":"a.py","offset":3}', "a.py"),
        ('{"path":"src","regex":"def x"}', "def x in src"),
        ('{"limit":3,"name":"first text"}', "first text"),
        ("{}", ""),
        ("not json", ""),
        ("[1]", ""),
    ],
)
def test_a_call_is_named_by_what_it_is_about(arguments: str, shown: str) -> None:
    assert telling(arguments) == shown


def test_a_finding_is_told_by_its_place() -> None:
    assert telling('{"path": "a.py", "severity": "nit", "text": "x", "line": 7}') == "a.py:7"


def test_lines_are_folded_and_cut() -> None:
    assert one_line("a\n  b\tc", 20) == "a b c"
    assert one_line("abcdef", 4) == "abc…"
    assert clean("a\r\nb\tc\x00\x7f") == "a\nb\tc␀␡"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.0, "0 ms"), (0.9994, "999 ms"), (1.0, "1.0 s"), (59.94, "59.9 s"), (60.0, "1 min 00 s"), (3725, "62 min 05 s")],
)
def test_durations_are_readable(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown
