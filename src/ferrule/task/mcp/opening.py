"""What the servers of a project bring into a task."""

import contextlib
import logging
from collections.abc import AsyncIterator
from importlib.util import find_spec

from msgspec import Struct
from msgspec.structs import replace

from ferrule.task.kind import Opening, TaskOptions
from ferrule.tools.base import Tool
from ferrule.types.records import Entry

from .entry import secrets_of
from .files import Configured, configured


class Brought(Struct, frozen=True):
    """`allow` are rules for tools that need no approval; `remark` is for the person. `prompt` is what was typed with the text of
    a server's prompt, None where none was typed."""

    tools: tuple[Tool, ...] = ()
    allow: tuple[str, ...] = ()
    remark: str = ""
    records: tuple[Entry, ...] = ()
    prompt: str | None = None


def secrets(options: TaskOptions) -> tuple[tuple[str, str], ...]:
    """What the configuration of the servers holds that must not be seen in any output. Raises UsageError."""
    return tuple(pair for server in configured(options.folder, options.environ).servers for pair in secrets_of(server))


async def bring(opening: Opening) -> Brought:
    """Starts the servers; they are closed with the task. Raises UsageError for what is configured wrongly."""
    found = configured(opening.place.root, opening.options.environ)
    remark = " ".join(f"{note}." for note in found.notes)
    if not found.servers:
        return Brought(remark=remark)
    if find_spec("mcp") is None:
        named = ", ".join(server.name for server in found.servers)
        missing = f"The MCP servers {named} are left out: what speaks with them is not installed (pip install 'ferrule[mcp]')."
        return Brought(remark=" ".join(text for text in (remark, missing) if text))
    brought = await _start(opening, found)
    return replace(brought, remark=" ".join(text for text in (remark, brought.remark) if text))


async def _start(opening: Opening, found: Configured) -> Brought:
    from ferrule.tools.mcp.connection import Connection
    from ferrule.tools.mcp.servers import close, gather

    from .nested import Nesting, lost
    from .typed import expanded

    roots = (opening.place.root, *opening.place.extra)
    connections = [Connection(server, opening.processes, opening.environment, roots) for server in found.servers]
    quiet = contextlib.AsyncExitStack()
    await quiet.enter_async_context(_quiet_sdk())
    opening.closers.append(quiet.aclose)
    opening.closers.append(lambda: close(connections))
    gathered = await gather(connections, opening.options.config.mcp.tools, Nesting(opening).run)
    allow = tuple(f"mcp:{server.name}/{tool}" for server in found.servers for tool in sorted(server.allow))
    typed = opening.options.prompt if opening.conversation.waiting is None else None
    prompt = None if typed is None else await expanded(typed, connections)
    return Brought(gathered.tools, allow, " ".join(gathered.troubles), await lost(opening), prompt)


@contextlib.asynccontextmanager
async def _quiet_sdk() -> "AsyncIterator[None]":
    """The SDK logs to whoever listens, which is the terminal where nobody does; what matters comes back as errors."""
    logger, nobody = logging.getLogger("mcp"), logging.NullHandler()
    logger.addHandler(nobody)
    try:
        yield
    finally:
        logger.removeHandler(nobody)
