import json as standard

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.providers.base import Profile
from ferrule.stream.inbound.arguments import resolve_arguments
from ferrule.stream.inbound.mending import LONGEST, mend
from ferrule.types.messages import Assistant, ToolCall

from .playing import at, normalise, tool

KNOWN = ("path", "old_text", "new_text")
VALUES = st.dictionaries(st.text(max_size=5), st.one_of(st.text(max_size=12), st.integers(), st.lists(st.booleans(), max_size=3)))


@pytest.mark.parametrize(
    ("written", "stored", "said"),
    [
        ('{"path":"a"}}', {"path": "a"}, "1 trailing character"),
        ('{"path":"a"}]);', {"path": "a"}, "3 trailing"),
        (':{"path":"a"}', {"path": "a"}, "1 leading"),
        ('functions.edit:0{"path":"a"}', {"path": "a"}, "16 leading"),
        ('<|tool_call_argument_begin|>{"path":"a"}', {"path": "a"}, "leading"),
        ('```json\n{"path":"a"}\n```', {"path": "a"}, "code fence"),
        ('"{\\"path\\": \\"a\\"}}"', {"path": "a"}, "trailing"),
        ("{“path”: “a”}", {"path": "a"}, "quotes"),
        ('{“path”: “a”, “old_text”: “say “hi” "now"”}', {"path": "a", "old_text": 'say “hi” "now"'}, "quotes"),
        ('{"path": “a\nb”}', {"path": "a\nb"}, "quotes"),
    ],
)
def test_what_stands_around_a_whole_object_is_taken_off_and_told(written: str, stored: dict[str, str], said: str) -> None:
    text, problem, mended = resolve_arguments(written, (), KNOWN)
    assert (standard.loads(text), problem) == (stored, None)
    assert said in mended


@pytest.mark.parametrize(
    "written",
    [
        '{"path":"a"',
        '{"path":"a',
        '{"outer": {"path": "a"}',
        '"path": {"path": "a"}}',
        '[{"path":"a"}, ',
        '{"path":"a"}{"path":"b"}',
        '{"path":"a"} and',
        'Sure, I will: {"path":"a"}',
        "x" * 97 + '{"path":"a"}',
        ":" * 97 + '{"path":"a"}',
        "{'path': 'a'}",
        "{“path”: “a”, “path”: “b”}",
        "{“path”: “a”, “mode”: “b”}",
        "{“path”: “a",
        "{“path”: a}",
        '{"path": NaN}}',
        '{"path":"' + "a" * LONGEST + '"}}',
    ],
    ids=range(17),
)
def test_what_is_open_doubtful_or_too_long_is_never_made_to_run(written: str) -> None:
    text, problem, mended = resolve_arguments(written, (), KNOWN)
    assert (text, mended) == ("{}", "")
    assert problem is not None and "Nothing was run" in problem


@given(VALUES, st.data())
@settings(max_examples=150)
def test_no_beginning_of_an_object_is_ever_mended(value: dict[str, object], data: st.DataObject) -> None:
    whole = standard.dumps(value)
    part = whole[: data.draw(st.integers(1, len(whole) - 1))]
    assert mend(part, KNOWN) is None
    assert resolve_arguments(part, (), KNOWN).problem is not None


@given(VALUES, st.sampled_from(["", ":", "functions.f:1 ", "<|x|>"]), st.sampled_from(["", "}", " ] ", ");"]))
@settings(max_examples=150)
def test_mending_gives_the_object_itself_again_and_again(value: dict[str, object], before: str, behind: str) -> None:
    text = resolve_arguments(before + standard.dumps(value) + behind, (), KNOWN).text
    assert standard.loads(text) == value
    assert resolve_arguments(text, (), KNOWN) == (text, None, "")


@pytest.mark.parametrize("written", ["", "  ", "null", '""', '"null"'])
def test_no_arguments_are_none_only_where_none_are_required(written: str) -> None:
    assert resolve_arguments(written) == ("{}", None, "")
    text, problem, _ = resolve_arguments(written, ("path", "old_text"))
    assert (text, problem) == (
        "{}",
        "The arguments are empty; required: `path`, `old_text`. Nothing was run. Send the whole call again.",
    )


def test_a_call_of_an_answer_that_was_cut_is_not_mended_either() -> None:
    message, notes = normalise(Assistant((ToolCall("a", "edit", '{"path":"a"}}'),), "length", "m/m"), [tool("edit", "path")])
    (call,) = message.calls
    assert (call.arguments, call.problem is not None, [note for note in notes if "mended" in note]) == ("{}", True, [])


def test_every_mending_is_told_with_its_call() -> None:
    message, notes = normalise(Assistant((ToolCall("a", "edit", ':{"path":"a"}'),), "calls", "m/m"), [tool("edit", "path")])
    assert [call.arguments for call in message.calls] == ['{"path":"a"}']
    assert notes == ("arguments: call_00001: arguments mended: 1 leading character(s) dropped",)


@pytest.mark.parametrize(("decodes", "stored"), [(True, "a < b && c"), (False, "a &lt; b &amp;&amp; c")])
def test_html_entities_are_decoded_for_flagged_models_and_kept_for_all_others(decodes: bool, stored: str) -> None:
    said = Assistant((ToolCall("a", "run", '{"command": "a &lt; b &amp;&amp; c", "n": ["&gt;"]}'),), "calls", "m/m")
    message, notes = normalise(said, [tool("run", "command")], endpoint=at(Profile(html_entities=decodes)))
    value = standard.loads(message.calls[0].arguments)
    assert value == {"command": stored, "n": [">" if decodes else "&gt;"]}
    assert bool(notes) is decodes
