"""All servers of a task: started beside each other, their tools gathered; one that fails costs its tools, not the task."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from ferrule.tools.base import Tool
from ferrule.types.errors import ToolError

from .calls import Described, describe, named, tool_of
from .catalog import Catalog, Nested, call_tool, search_tools
from .connection import START_LIMIT, Connection, Lost
from .resources import access_mcp_resource, get_mcp_prompt
from .rest import read_mcp_result

if TYPE_CHECKING:
    import mcp_types
    from mcp import Client


class Gathered(Struct, frozen=True):
    """`troubles` are sentences about servers that cannot be used."""

    tools: tuple[Tool, ...]
    troubles: tuple[str, ...]


class _Found(Struct, frozen=True):
    """What one server has."""

    tools: tuple[Described, ...] = ()
    resources: bool = False
    prompts: bool = False
    trouble: str = ""


async def gather(connections: Sequence[Connection], most: int, nested: Nested) -> Gathered:
    """The tools of all servers, in their order; more than `most` are put into a catalog."""
    found = await asyncio.gather(*(_find(connection) for connection in connections))
    described = tuple(tool for each in found for tool in each.tools)
    tools = [tool_of(name, each) for name, each in named(described).items()]
    if len(tools) > most:
        catalog = Catalog(named(described), lambda: _again(connections))
        tools = [search_tools(catalog), call_tool(catalog, nested)]
    pairs = list(zip(connections, found, strict=True))
    if resources := {connection.server.name: connection for connection, each in pairs if each.resources}:
        tools.append(access_mcp_resource(resources))
    if prompts := {connection.server.name: connection for connection, each in pairs if each.prompts}:
        tools.append(get_mcp_prompt(prompts))
    if tools:
        tools.append(read_mcp_result())
    return Gathered(tuple(tools), tuple(each.trouble for each in found if each.trouble))


async def close(connections: Sequence[Connection]) -> None:
    await asyncio.gather(*(connection.close() for connection in connections))


async def _find(connection: Connection) -> _Found:
    try:
        async with asyncio.timeout(2 * START_LIMIT):
            has = await connection.ask(_capabilities)
            tools = await describe(connection) if has.tools is not None else ()
    except TimeoutError:
        return _Found(trouble=f"The server {connection.server.name} did not list its tools within {2 * START_LIMIT:g} s.")
    except (ToolError, Lost) as trouble:
        return _Found(trouble=str(trouble))
    return _Found(tools, has.resources is not None, has.prompts is not None)


async def _capabilities(client: "Client") -> "mcp_types.ServerCapabilities":
    return client.server_capabilities


async def _again(connections: Sequence[Connection]) -> dict[str, Described]:
    """What the servers have at this moment; of one that does not answer, nothing."""
    tools: list[Described] = []
    for connection in connections:
        with suppress(ToolError, Lost):
            tools += await describe(connection)
    return named(tuple(tools))
