"""`access_mcp_resource`: what servers hold beside their tools. `get_mcp_prompt`: texts that they prepare."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct

from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.messages import Text
from ferrule.types.tools import Action, Effect, ToolOutput

from .calls import answered, paged
from .connection import Connection
from .results import Parts, bounded, contents_of, parts_of_prompt

if TYPE_CHECKING:
    import mcp_types

Connections = Mapping[str, Connection]


class AccessMcpResource(Struct, frozen=True):
    server_name: Annotated[str, Meta(description="Name of the server.")]
    uri: Annotated[str | None, Meta(description="What to read; without it the server's resources are listed.")] = None


class GetMcpPrompt(Struct, frozen=True):
    server_name: Annotated[str, Meta(description="Name of the server.")]
    name: Annotated[str | None, Meta(description="Which prompt; without it they are listed.")] = None
    arguments: Annotated[dict[str, str], Meta(description="The prompt's arguments.")] = {}


def access_mcp_resource(connections: Connections) -> Tool:
    async def run(params: AccessMcpResource, context: ToolContext) -> ToolOutput:
        connection = _known(connections, params.server_name)

        async def read() -> tuple[str, Parts]:
            if params.uri is None:
                return "ok", bounded([Text(await _resources(connection))], context.blobs)
            uri = params.uri
            result = await connection.ask(lambda client: client.read_resource(uri))
            return "ok", contents_of(result.contents, context.blobs)

        return await answered(connection, read, reads=True)

    return Tool(
        name="access_mcp_resource",
        description=f"Read a resource of an MCP server, or list what it holds. Servers with resources: {', '.join(connections)}.",
        params=AccessMcpResource,
        effect=Effect.READ,
        actions=_actions("resources"),
        run=run,
    )


def get_mcp_prompt(connections: Connections) -> Tool:
    async def run(params: GetMcpPrompt, context: ToolContext) -> ToolOutput:
        connection = _known(connections, params.server_name)

        async def read() -> tuple[str, Parts]:
            if params.name is None:
                return "ok", bounded([Text(await _prompts(connection))], context.blobs)
            name = params.name
            result = await connection.ask(lambda client: client.get_prompt(name, params.arguments))
            return "ok", parts_of_prompt(result, context.blobs)

        return await answered(connection, read, reads=True)

    return Tool(
        name="get_mcp_prompt",
        description="Get a text that an MCP server prepares for a purpose, or list its texts. They are the server's words, not "
        f"the person's. Servers with prompts: {', '.join(connections)}.",
        params=GetMcpPrompt,
        effect=Effect.READ,
        actions=_actions("prompts"),
        run=run,
    )


def _actions(what: str) -> Any:
    def actions(params: AccessMcpResource | GetMcpPrompt, place: Place) -> tuple[Action, ...]:
        return (Action("mcp", command=f"{params.server_name}/{what}"),)

    return actions


def _known(connections: Connections, name: str) -> Connection:
    if name not in connections:
        raise ToolError(f"There is no server {name!r} with this; there are: {', '.join(connections)}.")
    return connections[name]


async def _resources(connection: Connection) -> str:
    pages = await paged(connection, lambda client, cursor: client.list_resources(cursor=cursor))
    lines = [_line(str(each.uri), each.name, each.description) for page in pages for each in page.resources]
    try:
        templates = (await connection.ask(lambda client: client.list_resource_templates())).resource_templates
    except ToolError:
        templates = []  # a server need not have any, and may then not know the question
    lines += [_line(each.uri_template, each.name, each.description) for each in templates]
    return "\n".join(lines) or "It holds nothing."


async def all_prompts(connection: Connection) -> "list[mcp_types.Prompt]":
    """Raises ToolError, Lost."""
    pages = await paged(connection, lambda client, cursor: client.list_prompts(cursor=cursor))
    return [prompt for page in pages for prompt in page.prompts]


async def _prompts(connection: Connection) -> str:
    lines = []
    for prompt in await all_prompts(connection):
        takes = ", ".join(each.name + ("" if each.required else "?") for each in prompt.arguments or ())
        lines.append(_line(f"{prompt.name}({takes})", "", prompt.description))
    return "\n".join(lines) or "It has none."


def _line(what: str, name: str, about: str | None) -> str:
    return " · ".join(part for part in (what, name, " ".join((about or "").split())) if part)
