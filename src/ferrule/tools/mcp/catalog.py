"""Where servers have more tools than a prompt should hold: `search_tools` finds them, `call_tool` calls them."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct

from ferrule.tools.base import Given, Place, Tool, ToolContext, no_actions
from ferrule.types.errors import ToolError
from ferrule.types.tools import Action, Effect, ToolOutput, ok

from .calls import Described, tool_of

MOST_SHOWN = 20
LONGEST_SCHEMA = 8_000
PREFERRED = 3
"""How much more a word in the name of a tool says than one in its description."""

Nested = Callable[[Tool, Given, ToolContext], Awaitable[ToolOutput]]
"""Carries out a call that a call makes, and records it as one of its own."""


class SearchTools(Struct, frozen=True):
    query: Annotated[str, Meta(description="Words that name what is to be done; empty lists all names.")] = ""
    limit: Annotated[int, Meta(description=f"How many to show, 1 to {MOST_SHOWN}.", ge=1, le=MOST_SHOWN)] = 5


class CallTool(Struct, frozen=True):
    name: Annotated[str, Meta(description="As search_tools gives it.")]
    arguments: Annotated[dict[str, Any], Meta(description="What the tool's schema asks for.")] = {}


class Catalog:
    """The tools of all servers as they were last listed; `list_again` asks the servers."""

    def __init__(self, tools: Mapping[str, Described], list_again: Callable[[], Awaitable[Mapping[str, Described]]]) -> None:
        self.tools = dict(tools)
        self._list_again = list_again

    async def refresh(self) -> None:
        self.tools = dict(await self._list_again())

    def find(self, name: str) -> Tool:
        if (described := self.tools.get(name)) is None:
            from difflib import get_close_matches

            near = get_close_matches(name, self.tools, 1, 0.5)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise ToolError(f"No server has a tool {name!r}.{meant} search_tools finds the tools that there are.")
        return tool_of(name, described)

    def ranked(self, query: str) -> list[str]:
        """Names of the tools that have any of the words, those that have most of them first; all names for no words."""
        words = set(re.findall(r"\w+", query.lower()))
        worth = {name: _worth(name, each, words) for name, each in self.tools.items()}
        return sorted((name for name in self.tools if worth[name] or not words), key=lambda name: (-worth[name], name))


def _worth(name: str, described: Described, words: set[str]) -> int:
    """A whole word says more than a part of one."""
    name, text = name.lower(), described.description.lower()
    whole = set(re.findall(r"[^\W_]+", f"{name} {text}"))
    return sum(PREFERRED * (word in name) + (word in text) + (word in whole) for word in words)


def search_tools(catalog: Catalog) -> Tool:
    async def run(params: SearchTools, context: ToolContext) -> ToolOutput:
        await catalog.refresh()
        found = catalog.ranked(params.query)
        if not params.query.strip():
            return ok("\n".join([f"{len(found)} tools:", *found]))
        shown = [_shown(name, catalog.tools[name]) for name in found[: params.limit]]
        more = f"\n\n[{len(found) - len(shown)} more have some of these words]" if len(found) > len(shown) else ""
        return ok("\n\n".join(shown) + more if shown else f"None of {len(catalog.tools)} tools has any of these words.")

    servers = ", ".join(dict.fromkeys(each.connection.server.name for each in catalog.tools.values()))
    return Tool(
        name="search_tools",
        description=f"Find tools of the MCP servers ({servers}), which have {len(catalog.tools)} in all, too many to list here. "
        "Gives names, descriptions and schemas; call_tool then calls one.",
        params=SearchTools,
        effect=Effect.READ,
        actions=no_actions,
        run=run,
    )


def _shown(name: str, described: Described) -> str:
    schema = described.schema
    shown = schema if len(schema) <= LONGEST_SCHEMA else schema[:LONGEST_SCHEMA] + " [cut]"
    return f"{name}{' (only reads)' if described.reads else ''}\n{described.description}\nSchema: {shown}"


def call_tool(catalog: Catalog, nested: Nested) -> Tool:
    """Its actions are those of the tool that it calls."""

    async def run(params: CallTool, context: ToolContext) -> ToolOutput:
        return await nested(catalog.find(params.name), Given(params.arguments), context)

    def actions(params: CallTool, place: Place) -> tuple[Action, ...]:
        return catalog.find(params.name).actions(Given(params.arguments), place)

    return Tool(
        name="call_tool",
        description="Call a tool of an MCP server by the name that search_tools gave.",
        params=CallTool,
        effect=Effect.EXTERNAL,
        actions=actions,
        run=run,
    )
