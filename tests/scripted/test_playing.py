"""What the provider yields for a step."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.providers.base import Profile
from ferrule.types.fault import Fault
from ferrule.types.messages import Assistant, Opaque, Reasoning, Text, ToolCall
from ferrule.types.request import ToolSchema
from ferrule.types.stream import Done, Failed, Noted, PartBegan, PartDelta, PartOpaque, fold
from ferrule.types.usage import NOTHING, Price, Usage
from tests.scripted.playing import GO, done, events, play, provider, request, results, write


def mark(path: Path, step: int = 0, time: int = 0) -> Opaque:
    return Opaque("scripted", str(path), f'{{"step":{step},"time":{time}}}')


def test_parts_come_in_deltas_of_the_asked_size(tmp_path: Path) -> None:
    step = {
        "reasoning": "hm",
        "text": "Grüße😀",
        "calls": [{"name": "f", "arguments": {"a": 1}}],
        "chunk": 4,
        "usage": {"input": 9},
    }
    path = write(tmp_path, step)
    own = mark(path)
    message = Assistant(
        (Reasoning("hm", own), Text("Grüße😀", own), ToolCall("call_1_1_1", "f", '{"a": 1}', opaque=own)),
        "calls",
        f"scripted/{path}",
    )
    assert events(provider(path), request()) == [
        PartBegan(0, "reasoning"),
        PartDelta(0, "hm"),
        PartOpaque(0, own),
        PartBegan(1, "text"),
        PartDelta(1, "Grüß"),
        PartDelta(1, "e😀"),
        PartOpaque(1, own),
        PartBegan(2, "call", "call_1_1_1", "f"),
        PartDelta(2, '{"a"'),
        PartDelta(2, ": 1}"),
        PartOpaque(2, own),
        Done(message, Usage(input=9)),
    ]


@pytest.mark.parametrize(
    ("step", "parts", "stop"),
    [
        ({}, [], "end"),
        ({"text": None}, [], "end"),
        ({"text": ""}, [("text", "")], "end"),
        ({"reasoning": "only"}, [("reasoning", "only")], "end"),
        ({"calls": [{"name": "no such", "id": ""}], "stop": "end"}, [("call", "", "no such", "{}")], "calls"),
        ({"calls": [{"name": "functions.Read\u200b", "id": None}]}, [("call", "", "functions.Read\u200b", "{}")], "calls"),
        (
            {"calls": [{"name": "f", "id": "x", "arguments": '"{\\"a\\": 1}"'}, {"name": "f", "id": "x", "arguments": "{"}]},
            [("call", "x", "f", '"{\\"a\\": 1}"'), ("call", "x", "f", "{")],
            "calls",
        ),
        (
            {"calls": [{"name": "f", "arguments": '{"a": "rm -rf b'}], "stop": "length"},
            [("call", "call_1_1_1", "f", '{"a": "rm -rf b')],
            "length",
        ),
        ({"text": "I can't.", "stop": "refusal"}, [("text", "I can't.")], "refusal"),
        (
            {"parts": [{"call": {"name": "f"}}, {"text": "after"}]},
            [("call", "call_1_1_1", "f", "{}"), ("text", "after")],
            "calls",
        ),
    ],
)
def test_odd_answers_arrive_as_written(tmp_path: Path, step: dict[str, Any], parts: list[Any], stop: str) -> None:
    message = done(provider(write(tmp_path, step)))
    got = [
        ("call", part.id, part.name, part.arguments)
        if isinstance(part, ToolCall)
        else ("text" if isinstance(part, Text) else "reasoning", part.text)
        for part in message.parts
    ]
    assert (got, message.stop) == (parts, stop)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (
            {"kind": "http", "status": 429, "headers": {"Retry-After": "1.5"}},
            Fault("rate_limit", "scripted error: rate_limit", 429, 1.5),
        ),
        (
            {"kind": "http", "status": 429, "headers": {"retry-after-ms": "250"}},
            Fault("rate_limit", "scripted error: rate_limit", 429, 0.25),
        ),
        (
            {"kind": "http", "status": 429, "headers": {"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}},
            Fault("rate_limit", "scripted error: rate_limit", 429, 0.0),
        ),
        (
            {"kind": "http", "status": 429, "headers": {"Retry-After": "soon"}},
            Fault("rate_limit", "scripted error: rate_limit", 429),
        ),
        ({"kind": "http", "status": 500}, Fault("server_error", "scripted error: server_error", 500)),
        ({"kind": "http", "status": 503, "body": "<html>down</html>"}, Fault("overloaded", "<html>down</html>", 503)),
        ({"kind": "http", "status": 529}, Fault("overloaded", "scripted error: overloaded", 529)),
        ({"kind": "http", "status": 401}, Fault("auth", "scripted error: auth", 401)),
        ({"kind": "http", "status": 402}, Fault("billing", "scripted error: billing", 402)),
        ({"kind": "http", "status": 404}, Fault("model_not_found", "scripted error: model_not_found", 404)),
        ({"kind": "http", "status": 418}, Fault("bad_request", "scripted error: bad_request", 418)),
        (
            {
                "kind": "http",
                "status": 400,
                "says": "context_overflow",
                "tokens": 210000,
                "body": {"error": {"message": "too long"}},
            },
            Fault("context_overflow", "too long", 400, observed_tokens=210000),
        ),
        ({"kind": "reset"}, Fault("connection", "scripted reset of the connection")),
    ],
)
def test_a_failure_before_the_answer_is_a_fault_that_cost_nothing(tmp_path: Path, fault: dict[str, Any], expected: Fault) -> None:
    assert events(provider(write(tmp_path, {"fault": fault})), request()) == [Failed(expected, (), NOTHING)]


@pytest.mark.parametrize(
    ("fault", "text", "arguments", "code"),
    [
        ({"kind": "cut"}, "hello", '{"a', "cut"),
        ({"kind": "cut", "how": "drop", "at": 2}, "he", None, "cut"),
        ({"kind": "reset", "at": "middle"}, "hello", '{"a', "cut"),
        ({"kind": "reset", "bytes": 5}, "hello", None, "cut"),
        ({"kind": "cut", "at": "end"}, "hello", '{"a":1}', "cut"),
        ({"kind": "cut", "at": "start"}, None, None, "cut"),
        ({"kind": "error", "at": 4}, "hell", None, "overloaded"),
        ({"kind": "error", "says": "server_error"}, "hello", '{"a', "server_error"),
    ],
)
def test_a_failure_in_the_answer_keeps_what_had_arrived(
    tmp_path: Path, fault: dict[str, Any], text: str | None, arguments: str | None, code: str
) -> None:
    step = {"text": "hello", "calls": [{"name": "f", "arguments": '{"a":1}'}], "fault": fault}
    got = events(provider(write(tmp_path, step)), request())
    failed = got[-1]
    assert isinstance(failed, Failed)
    assert failed.fault.code == code
    assert failed.partial == fold(got)
    texts = [part.text for part in failed.partial if isinstance(part, Text)]
    calls = [part.arguments for part in failed.partial if isinstance(part, ToolCall)]
    assert (texts, calls) == ([text] if text else [], [arguments] if arguments else [])


@pytest.mark.parametrize("at", ["headers", "start", "middle", "end", 1])
def test_a_stall_waits_and_then_the_answer_goes_on(tmp_path: Path, at: Any) -> None:
    player = provider(write(tmp_path, {"text": "hello", "fault": {"kind": "stall", "seconds": 0.05, "at": at}}))

    async def timed() -> tuple[float, Any]:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        got = [event async for event in player.stream(request())]
        return loop.time() - begun, got[-1]

    seconds, last = asyncio.run(timed())
    assert seconds >= 0.05
    assert isinstance(last, Done)
    assert last.message.text == "hello"


def test_half_a_pair_is_replaced_and_reported(tmp_path: Path) -> None:
    got = events(provider(write(tmp_path, {"text": "a\ud83d", "chunk": 1})), request())
    assert Noted("scripted", "replaced half a surrogate pair in part 0") in got
    assert isinstance(got[-1], Done)
    assert got[-1].message.text == "a\ufffd"


def test_usage_is_estimated_given_or_missing_and_priced_where_the_price_is_known(tmp_path: Path) -> None:
    steps: list[dict[str, Any]] = [
        {"text": "x" * 40},
        {"text": "x", "usage": {"input": 3, "output": 2}},
        {"text": "x", "usage": None},
    ]
    player = provider(write(tmp_path, *steps), Profile(price=Price(1.0, 2.0)))
    got = [play(player, system=("y" * 38,)).usage for _ in steps]
    assert got == [Usage(10, 10, cost=30 / 1_000_000), Usage(3, 2, cost=7 / 1_000_000), Usage()]


def test_expectations_are_checked_and_the_failure_names_step_and_text(tmp_path: Path) -> None:
    expect = {
        "last_user": "stop",
        "last": "results",
        "tool": "f",
        "messages": 2,
        "answers": 1,
        "system": "be",
        "last_result": "z",
    }
    failed = play(provider(write(tmp_path, {"text": "x", "expect": expect})), tools=(ToolSchema("g", "d", '{"type": "object"}'),))
    assert isinstance(failed, Failed)
    assert failed.fault.code == "bad_request"
    assert failed.fault.detail == (
        "step 1 of the script expects another request: the last message is user, not results; "
        "the last user message does not contain 'stop'; it is 'go'; the last result does not contain 'z'; it is ''; "
        "the system prompt does not contain 'be'; it is ''; the tool 'f' is not offered; offered are g; "
        "there are 1 messages, not 2; there are 0 answers, not 1"
    )


def test_what_a_result_says_can_be_copied_into_the_answer(tmp_path: Path) -> None:
    steps: list[dict[str, Any]] = [
        {"calls": [{"name": "read_file"}]},
        {
            "copy": {"line": r"^ *(\d+) \| return", "all": "return .*"},
            "text": "line {{line}}: {{all}} {{other}}",
            "calls": [{"name": "f", "arguments": {"a": ["{{line}}"]}}, {"name": "g", "arguments": '{"n": {{line}}}'}],
        },
    ]
    path = write(tmp_path, *steps)
    first = done(player := provider(path))
    second = done(player, GO, first, results(first, "1 | def f():\n2 | return a - b"))
    assert second.text == "line 2: return a - b {{other}}"
    assert [call.arguments for call in second.calls] == ['{"a": ["2"]}', '{"n": 2}']
    missed = play(resumed := provider(path), GO, first, results(first, "nothing"))
    assert isinstance(missed, Failed)
    assert "step 2 of the script copies 'line', but the last result has no match" in missed.fault.detail
    assert resumed.endpoint.name == f"scripted/{path}"


@settings(max_examples=60)
@given(st.data())
def test_any_script_ends_once_and_its_deltas_spell_its_message(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    texts = st.text(max_size=12)
    parts = data.draw(
        st.lists(
            st.one_of(
                st.builds(lambda text: {"text": text}, texts),
                st.builds(lambda text: {"reasoning": text}, texts),
                st.builds(lambda name, text: {"call": {"name": name, "arguments": text}}, texts, texts),
            ),
            max_size=4,
        )
    )
    place = data.draw(st.one_of(st.sampled_from(["headers", "start", "middle", "end"]), st.integers(0, 40)))
    fault = data.draw(st.sampled_from([None, {"kind": "cut"}, {"kind": "reset"}, {"kind": "error"}]))
    step: dict[str, Any] = {"parts": parts, "chunk": data.draw(st.integers(1, 5)), "fault": fault and {**fault, "at": place}}
    got = events(provider(write(tmp_path_factory.mktemp("play"), step)), request())
    assert [isinstance(event, Done | Failed) for event in got] == [False] * (len(got) - 1) + [True]
    last = got[-1]
    assert fold(got) == (last.message.parts if isinstance(last, Done) else last.partial if isinstance(last, Failed) else None)
    assert isinstance(last, Failed) == (fault is not None)
