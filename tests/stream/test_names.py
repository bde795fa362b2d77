import pytest

from ferrule.stream.inbound.names import resolve_name
from ferrule.types.messages import Assistant, RawCall, ToolCall

from .playing import normalise, tool

TOOLS = ("read_file", "write_to_file", "execute_command", "apply_diff", "tool_1")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("functions.read_file:0", "read_file"),
        ("functions.functions.read_file", "read_file"),
        ("Functions.READ_FILE", "read_file"),
        ("read_file_2", "read_file"),
        ("read_file#3", "read_file"),
        ("tool_1", "tool_1"),
        ("filesystem.read_file", "read_file"),
        ("filesystem/read_file", "read_file"),
        ("mcp__fs__read_file", "read_file"),
        ("server:read_file", "read_file"),
        ("default_api.Bash", "execute_command"),
        ("apply-patch", None),
        ("bash:7", "execute_command"),
        ("ｆｕｎｃｔｉｏｎｓ．ｒｅａｄ＿ｆｉｌｅ", "read_file"),
        ("\ufeffread\u2060_file\u200b", "read_file"),
        ("functions.3", None),
        ("function_12", None),
        ("call_00001", None),
        ("tools", None),
        ("read", None),
        ("read_file; rm -rf /", None),
        ("x" * 200 + ".read_file", None),
    ],
)
def test_a_name_is_the_one_tool_that_it_means_or_none(written: str, meant: str | None) -> None:
    name, problem = resolve_name(written, TOOLS)
    assert ((name if problem is None else None), problem is None) == (meant, meant is not None)


@pytest.mark.parametrize("written", ["READ_FILE", "a.READ_FILE", "functions.Read_File:1"])
def test_a_name_that_means_two_tools_is_refused_however_it_is_written(written: str) -> None:
    _, problem = resolve_name(written, ("read_file", "Read_file"))
    assert problem is not None and "matches several tools" in problem


@pytest.mark.parametrize(
    ("id", "meant"),
    [("functions.read_file:3", "read_file"), ("read_file_0", "read_file"), ("call_9f3", None), ("toolu_01", None), ("", None)],
)
def test_a_blank_name_is_read_from_the_id_of_its_call_alone(id: str, meant: str | None) -> None:
    message, _ = normalise(Assistant((ToolCall(id, " ", '{"path":"a"}'),), "calls", "m/m"), [tool("read_file", "path")])
    (call,) = message.calls
    assert ((call.name if call.problem is None else None), call.raw) == (meant, RawCall(id, " ", '{"path":"a"}'))


def test_ids_that_are_missing_doubled_or_used_before_become_ours() -> None:
    said = [ToolCall(id, "read_file", '{"path":"a"}') for id in ("", "x", "x", "call_00001")]
    message, _ = normalise(Assistant(tuple(said), "calls", "m/m"), [tool("read_file", "path")], 8)
    assert [call.id for call in message.calls] == ["call_00008", "call_00009", "call_00010", "call_00011"]
