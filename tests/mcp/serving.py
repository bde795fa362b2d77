"""Real servers, below a real supervisor, and what their tools answer."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ferrule.process.protocol import allowed_environment
from ferrule.process.supervisor import Supervisor
from ferrule.store.blobs import FileBlobs
from ferrule.tools.base import Given, Place, Tool, ToolContext
from ferrule.tools.mcp.connection import Connection
from ferrule.tools.mcp.server import Server
from ferrule.tools.mcp.servers import close, gather
from ferrule.types.tools import ToolOutput

HERE = Path(__file__).parent


class Served(Struct, frozen=True):
    """What the servers of one task give it; `heard` is what their tools say while they run."""

    tools: dict[str, Tool]
    troubles: tuple[str, ...]
    connections: tuple[Connection, ...]
    context: ToolContext
    supervisor: Supervisor
    heard: list[str]

    async def call(self, name: str, /, **arguments: Any) -> ToolOutput:
        tool = self.tools[name]
        params = Given(arguments) if tool.foreign is not None else tool.params(**arguments)
        return await tool.run(params, self.context)

    async def text(self, name: str, /, **arguments: Any) -> str:
        return said(await self.call(name, **arguments))


def said(output: ToolOutput) -> str:
    """Its kind and text."""
    return f"{output.kind}: " + "\n".join(getattr(part, "text", "(image)") for part in output.parts)


def stdio_server(folder: Path, name: str, *command: str, **more: Any) -> Server:
    return Server(name, folder / "mcp.json", "stdio", folder / "logs" / f"{name}.log", command, cwd=str(folder), **more)


def faulty(folder: Path, **more: Any) -> Server:
    return stdio_server(folder, "faulty", sys.executable, str(HERE / "faulty.py"), str(folder / "notes"), **more)


def rude(folder: Path, mode: str, **more: Any) -> Server:
    return stdio_server(folder, "rude", sys.executable, str(HERE / "rude.py"), mode, str(folder / "notes"), **more)


async def run_nested(tool: Tool, given: Given, context: ToolContext) -> ToolOutput:
    return await tool.run(given, replace(context, call_id=f"{context.call_id}.1"))


@asynccontextmanager
async def serve(folder: Path, *servers: Server, most: int = 40) -> AsyncIterator[Served]:
    supervisor, heard = Supervisor(), list[str]()
    environment = allowed_environment(os.environ)
    connections = tuple(Connection(server, supervisor, environment, (folder,)) for server in servers)
    context = ToolContext(Place(folder), supervisor, FileBlobs(folder / "blobs"), environment, "call_1", heard.append)
    try:
        gathered = await gather(connections, most, run_nested)
        yield Served({tool.name: tool for tool in gathered.tools}, gathered.troubles, connections, context, supervisor, heard)
    finally:
        await close(connections)
        await supervisor.close()


def serving(folder: Path, *servers: Server, test: Callable[[Served], Awaitable[None]], most: int = 40) -> None:
    async def main() -> None:
        async with serve(folder, *servers, most=most) as served:
            await test(served)

    asyncio.run(main())


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True
