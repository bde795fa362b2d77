import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.tools.base import Place
from ferrule.tools.mcp.names import tool_name
from ferrule.types.errors import ToolError
from ferrule.types.tools import Action

from .serving import Served, faulty, rude, serving


def test_past_the_limit_there_is_a_catalog_in_place_of_the_tools(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        assert set(served.tools) == {"search_tools", "call_tool", "read_mcp_result"}
        assert "75 in all" in served.tools["search_tools"].description
        found = await served.text("search_tools", query="number 7", limit=2)
        assert found.startswith("ok: mcp__rude__tool_0_7\nNumber 7.\nSchema: {")
        assert "more have some of these words]" in found
        assert "tool_0_0 (only reads)" in await served.text("search_tools", query="tool_0_0", limit=20)
        assert await served.text("search_tools", query="xyzzy") == "ok: None of 75 tools has any of these words."
        listed = (await served.text("search_tools")).splitlines()
        assert listed[0] == "ok: 75 tools:" and len(listed) == 76
        assert await served.text("call_tool", name="mcp__rude__tool_2_24", arguments={"word": "so"}) == "ok: did tool_2_24 so"
        assert await served.text("call_tool", name="mcp__rude__tool_1_0") == "error: The server rude refused: no such luck"

    serving(tmp_path, rude(tmp_path, "many"), test=test)


def test_a_call_through_the_catalog_is_judged_by_what_it_calls(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        tool = served.tools["call_tool"]
        assert tool.actions(tool.params(name="mcp__rude__tool_0_1"), Place(tmp_path)) == (Action("mcp", command="rude/tool_0_1"),)
        with pytest.raises(ToolError, match=r"No server has a tool 'mcp__rude__tool_9'. Did you mean mcp__rude__tool_"):
            tool.actions(tool.params(name="mcp__rude__tool_9"), Place(tmp_path))

    serving(tmp_path, rude(tmp_path, "many"), test=test)


def test_as_many_as_the_limit_are_listed(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        assert len(served.tools) == 76 and "mcp__rude__tool_2_24" in served.tools

    serving(tmp_path, rude(tmp_path, "many"), test=test, most=75)


def test_the_catalog_follows_a_list_that_changes(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        assert "grown" not in await served.text("search_tools")
        assert await served.text("call_tool", name="mcp__faulty__grow") == "ok: one more, one less"
        listed = await served.text("search_tools")
        assert "mcp__faulty__grown" in listed and "mcp__faulty__count" not in listed
        assert await served.text("call_tool", name="mcp__faulty__grown") == "ok: grown up"

    serving(tmp_path, faulty(tmp_path), test=test, most=3)


def test_a_tool_that_is_gone_is_refused_by_its_server(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        await served.call("mcp__faulty__grow")
        output = await served.call("mcp__faulty__count")
        assert output.kind == "error"
        assert "count" in await served.text("mcp__faulty__count")

    serving(tmp_path, faulty(tmp_path), test=test)


def test_hidden_tools_are_not_offered(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        assert "mcp__faulty__add" in served.tools
        assert "mcp__faulty__crash" not in served.tools

    serving(tmp_path, faulty(tmp_path, hidden=frozenset({"crash"})), test=test)


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("files", "read_file", "mcp__files__read_file"),
        ("my files", "läs.fil", "mcp__my_files__l_s_fil"),
        ("s", "get-env", "mcp__s__get-env"),
    ],
)
def test_names_are_as_every_vendor_takes_them(server: str, tool: str, name: str) -> None:
    assert tool_name(server, tool) == name


@given(st.lists(st.tuples(st.text(max_size=70), st.text(max_size=70)), max_size=8, unique=True))
def test_any_names_are_valid_and_distinct(tools: list[tuple[str, str]]) -> None:
    names: list[str] = []
    for server, tool in tools:
        names.append(tool_name(server, tool, names))
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names)
    assert len(set(names)) == len(names)


def test_names_that_would_be_the_same_are_told_apart() -> None:
    first = tool_name("s", "a.b")
    second = tool_name("s", "a b", {first})
    assert first == "mcp__s__a_b" and second != first and len(second) <= 64
    long = [tool_name("s", "x" * 80 + end) for end in "ab"]
    assert len(set(long)) == 2 and {len(name) for name in long} == {64}
