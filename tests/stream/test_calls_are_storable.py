import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.stream.inbound.arguments import resolve_arguments
from ferrule.stream.inbound.calls import CUT
from ferrule.stream.inbound.names import resolve_name
from ferrule.stream.naming import VALID_NAME
from ferrule.types import json
from ferrule.types.messages import Assistant, RawCall, Reasoning, Text, ToolCall

from .playing import normalise, tool

TOOLS = ("read_file", "write_to_file", "edit", "execute_command")


@pytest.mark.parametrize(
    "written",
    [
        "read_file",
        " read_file ",
        "Read_File",
        "READ_FILE",
        "functions.read_file",
        "functions.Read_file",
        "tools.read_file",
        "default_api.read_file",
        "\u200bread_file",
        "read\u200d_file",
        "\uff52\uff45\uff41\uff44_file",
        "read_file\n",
    ],
)
def test_a_name_that_means_one_tool_is_resolved(written):
    assert resolve_name(written, TOOLS) == ("read_file", None)


def test_an_alias_is_resolved_only_where_its_tool_is_offered():
    assert resolve_name("write_file", TOOLS) == ("write_to_file", None)
    name, problem = resolve_name("write_file", ("read_file",))
    assert name == "write_file"
    assert problem is not None


def test_a_name_that_means_two_tools_is_an_error():
    name, problem = resolve_name("Edit", ("edit", "EDIT"))
    assert name == "Edit"
    assert problem is not None
    assert "matches several tools" in problem


@given(st.text())
def test_whatever_name_is_written_the_stored_one_is_valid(written):
    name, problem = resolve_name(written, TOOLS)
    assert VALID_NAME.fullmatch(name)
    assert problem is None or "Nothing was run" in problem


@given(st.text())
def test_whatever_arguments_are_written_the_stored_ones_are_an_object(written):
    stored, problem, _ = resolve_arguments(written)
    value, notes = json.loads(stored)
    assert isinstance(value, dict)
    assert notes == ()
    assert problem is None or value == {}


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("", "{}"),
        ("  ", "{}"),
        ("null", "{}"),
        ('{"a": 1}', '{"a": 1}'),
        ('"{\\"a\\": 1}"', '{"a":1}'),
        ('{"a": "line\nbreak"}', '{"a":"line\\nbreak"}'),
    ],
)
def test_arguments_that_are_an_object_are_kept(written, stored):
    assert resolve_arguments(written) == (stored, None, "")


@pytest.mark.parametrize("written", ['{"a": 1', '{"a": 1}, {"b": 2}', "[1]", "3", '"text"', '"[1]"', "{'a': 1}", '{"a": rm -rf}'])
def test_arguments_that_are_no_object_are_never_guessed(written):
    stored, problem, _ = resolve_arguments(written)
    assert stored == "{}"
    assert problem is not None


def test_a_message_is_stored_with_our_ids_and_its_raw_calls_beside():
    said = Assistant(
        (
            Text("  "),
            Reasoning(""),
            Text("reading"),
            ToolCall("x", "functions.read_file", '{"path": "a"}'),
            ToolCall("x", "nope!", "oops"),
        ),
        "calls",
        "openai/m",
    )
    message, notes = normalise(said, [tool(name) for name in TOOLS], 7)
    unknown = "The tool 'nope!' does not exist. Nothing was run. The tools are: read_file, write_to_file, edit, execute_command."
    assert message == Assistant(
        (
            Text("reading"),
            ToolCall("call_00007", "read_file", '{"path": "a"}', RawCall("x", "functions.read_file", '{"path": "a"}')),
            ToolCall("call_00008", "nope", "{}", RawCall("x", "nope!", "oops"), unknown),
        ),
        "calls",
        "openai/m",
    )
    assert len(notes) == 3


def test_no_call_of_an_answer_that_was_cut_can_be_run():
    said = Assistant((ToolCall("a", "read_file", '{"path": "a"}'), ToolCall("b", "edit", '{"file')), "length", "openai/m")
    message, _ = normalise(said, [tool(name) for name in TOOLS], 1)
    assert [call.problem for call in message.calls] == [CUT, CUT]
