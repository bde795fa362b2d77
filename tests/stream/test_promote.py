import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.providers.base import Profile
from ferrule.stream.filter import Answering
from ferrule.stream.inbound.written import LONGEST, may_become, read
from ferrule.types.fault import Fault
from ferrule.types.messages import Assistant, Reasoning, Text, ToolCall
from ferrule.types.stream import Done, Failed, PartBegan, PartDelta, StreamEvent, fold

from .playing import USAGE, at, normalise, played, spoken, tool

PROMOTES = at(Profile(promote=True))
TOOLS = (tool("read_file", "path"), tool("write_to_file", "path", "content"))
READ = '{"path": "a.py"}'

SPELLINGS = {
    "bracket": f"[read_file]\n{READ}\n[END_TOOL_REQUEST]",
    "bracket, closed by its name": f"[read_file]\n{READ}\n[/read_file]",
    "tool bracket": f"[tool:read_file] {READ}",
    "tool bracket, closed": f"[tool:read_file] {READ} [/tool]",
    "harmony": f"commentary to=functions.read_file code {READ}",
    "harmony with its marks": f"<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{READ}<|call|>",
    "xml": "<function=read_file>\n<parameter=path>\na.py\n</parameter>\n</function>",
    "xml with quoted names": '<function=fs.read_file><parameter name="path">a.py</parameter></function>',
    "xml in a wrapper": "<tool_call>\n<function=read_file>\n<parameter=path>a.py</parameter>\n</function>\n</tool_call>",
    "xml in brackets": "[function=read_file][parameter=path]a.py[/parameter][/function]",
    "json": f'{{"name": "read_file", "arguments": {READ}}}',
    "json with parameters": f'{{"name": "read_file", "parameters": {READ}}}',
    "json with a text of json": json.dumps({"name": "read_file", "input": READ}),
    "json in a wrapper": f'<tool_call>\n{{"name": "read_file", "arguments": {READ}}}\n</tool_call>',
    "json as in a request": f'{{"type": "function", "function": {{"name": "read_file", "arguments": {json.dumps(READ)}}}}}',
}

NOT_CALLS = {
    "words before": "I read: " + SPELLINGS["json"],
    "words behind": SPELLINGS["json"] + "\nDone.",
    "an unknown tool beside a known one": SPELLINGS["xml"] + "<function=rm><parameter=path>a</parameter></function>",
    "an unknown tool": '{"name": "rm", "arguments": {}}',
    "a bracket that is not closed": f"[read_file]\n{READ}",
    "arguments that are cut": "[tool:read_file] {",
    "xml that is cut": "<function=read_file><parameter=path>a.py</parameter>",
    "a parameter twice": "<function=read_file><parameter=path>a</parameter><parameter=path>b</parameter></function>",
    "json with another key": f'{{"name": "read_file", "arguments": {READ}, "why": "because"}}',
    "json that is an answer": '{"verdict": "good"}',
    "an array": f"[{SPELLINGS['json']}]",
    "a long name": f'{{"name": "{"x" * 121}", "arguments": {{}}}}',
    "prose": "The file is fine.",
    "markdown": "[a link](https://example.org)",
}


def answer(text: str, stop: str = "end") -> Assistant:
    return Assistant((Text(text),), stop, "openai/m")  # type: ignore[arg-type]


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_a_text_that_is_a_call_is_read_and_marked(text: str) -> None:
    message, notes = normalise(answer(f"\n{text}\n"), TOOLS, endpoint=PROMOTES)
    (call,) = message.calls
    assert (call.name, json.loads(call.arguments), call.problem, call.promoted) == ("read_file", {"path": "a.py"}, None, True)
    assert (message.stop, len(message.parts), "promote: 1 call(s)" in notes[0]) == ("calls", 1, True)


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_without_the_profiles_word_the_same_text_stays_text(text: str) -> None:
    message, notes = normalise(answer(text), TOOLS)
    assert (message, notes) == (answer(text), ())


@pytest.mark.parametrize("text", NOT_CALLS.values(), ids=NOT_CALLS)
def test_what_is_not_wholly_calls_of_known_tools_is_passed_on_unchanged(text: str) -> None:
    events = [*spoken((Text(text),), 3), Done(answer(text), USAGE)]
    assert played(events, Answering(TOOLS), PROMOTES) == events


def test_several_calls_in_one_text_keep_their_order_and_thoughts_keep_their_place() -> None:
    both = SPELLINGS["json"] + "\n" + SPELLINGS["xml"].replace("a.py", "b.py")
    message, _ = normalise(Assistant((Reasoning("Hm."), Text(both)), "end", "openai/m"), TOOLS, endpoint=PROMOTES)
    assert [type(part) for part in message.parts] == [Reasoning, ToolCall, ToolCall]
    assert [json.loads(call.arguments)["path"] for call in message.calls] == ["a.py", "b.py"]


@pytest.mark.parametrize("parts", [("[read_file]\n", f"{READ}\n[/read_file]"), ("[read_file]", READ, "[END_TOOL_REQUEST]")])
def test_a_call_may_be_spread_over_parts(parts: tuple[str, ...]) -> None:
    message, _ = normalise(Assistant(tuple(map(Text, parts)), "end", "openai/m"), TOOLS, endpoint=PROMOTES)
    assert [call.name for call in message.calls] == ["read_file"]


@pytest.mark.parametrize("stop", ["length", "refusal"])
def test_an_answer_that_did_not_end_by_itself_is_not_read(stop: str) -> None:
    message, _ = normalise(answer(SPELLINGS["json"], stop), TOOLS, endpoint=PROMOTES)
    assert message.calls == ()


def test_a_real_call_beside_it_speaks_against_every_text() -> None:
    real = ToolCall("x", "read_file", READ)
    message, _ = normalise(Assistant((Text(SPELLINGS["json"]), real), "calls", "openai/m"), TOOLS, endpoint=PROMOTES)
    assert [(part.promoted, part.name) for part in message.calls] == [(False, "read_file")]
    assert message.parts[0] == Text(SPELLINGS["json"])


def test_what_was_held_back_when_an_answer_fails_is_still_shown() -> None:
    events = [*spoken((Text(SPELLINGS["json"]),)), Failed(Fault("cut"), (Text(SPELLINGS["json"]),), USAGE)]
    assert played(events, Answering(TOOLS), PROMOTES) == events


def test_a_text_that_is_too_long_is_let_go() -> None:
    text = f'{{"name": "write_to_file", "arguments": {{"path": "a", "content": "{" ".join(map(str, range(LONGEST // 5)))}"}}}}'
    assert read(text) == ()
    message, _ = normalise(answer(text), TOOLS, endpoint=PROMOTES)
    assert message == answer(text)


TEXTS = st.one_of(
    st.sampled_from([*SPELLINGS.values(), *NOT_CALLS.values()]), st.text(alphabet='[<{"}]>/=:fnactio\n', max_size=40)
)


@given(TEXTS, st.sampled_from(["", "\n", " \n\n"]))
@settings(max_examples=100)
def test_wherever_the_stream_is_cut_into_pieces_the_answer_is_the_same_and_nothing_is_lost(text: str, before: str) -> None:
    said = answer(before + text)
    expected = normalise(said, TOOLS, endpoint=PROMOTES)
    for place in range(1, len(before + text)):
        pieces = [PartDelta(0, (before + text)[:place]), PartDelta(0, (before + text)[place:])]
        events: list[StreamEvent] = [PartBegan(0, "text"), *pieces, Done(said, USAGE)]
        passed = played(events, Answering(TOOLS), PROMOTES)
        assert passed[-1] == Done(expected[0], USAGE)
        if not expected[0].calls:
            assert fold(passed) == said.parts


@given(st.sampled_from([*SPELLINGS.values()]), st.data())
def test_every_beginning_of_a_call_may_become_one(text: str, data: st.DataObject) -> None:
    assert may_become(text[: data.draw(st.integers(0, len(text)))])


@given(TEXTS, st.text(max_size=20))
def test_what_can_no_longer_become_a_call_never_does(text: str, more: str) -> None:
    assert may_become(text) or not may_become(text + more)


def test_prose_is_shown_at_once_and_a_call_never_is() -> None:
    events = spoken((Text("The file is fine."),), 1)
    assert played(events, Answering(TOOLS), PROMOTES) == events
    shown = played([*spoken((Text(SPELLINGS["xml"]),), 1), Done(answer(SPELLINGS["xml"]), USAGE)], Answering(TOOLS), PROMOTES)
    assert [event for event in shown if isinstance(event, PartBegan)] == [PartBegan(0, "call", "", "read_file")]


def test_the_arguments_of_a_written_call_may_repeat_themselves_as_those_of_any_call() -> None:
    text = f'{{"name": "write_to_file", "arguments": {{"path": "a", "content": "{"la " * 5_000}"}}}}'
    message, _ = normalise(Assistant((Text(text),), "end", "openai/m"), TOOLS, endpoint=PROMOTES)
    assert [len(call.arguments) > 15_000 for call in message.calls] == [True]
