"""One server while a task is open: started at its first use, started again a few times when it breaks off, never asked twice."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ferrule import __version__
from ferrule.process.protocol import Processes
from ferrule.types.errors import ToolError

from .log import Log
from .pipes import stdio
from .server import Server

if TYPE_CHECKING:
    import mcp_types
    from mcp import Client
    from mcp.client._transport import TransportStreams
    from mcp.client.session import ClientRequestContext

T = TypeVar("T")
START_LIMIT = 30.0
"""Seconds until a server must be ready."""
RESTARTS = 3
"""How often a server that broke off is started again while a task is open."""
IDLE = 24 * 3600.0
"""Seconds that a stream may be silent: between two calls it is, and a call has its own limit."""
LONGEST_EVENT = 32 * 1024 * 1024
"""Bytes of one message of a server that is reached by HTTP."""


class Lost(Exception):
    """A request was sent and has no answer; what it led to is unknown."""


class Connection:
    """`roots` are the folders that a server is told of. Belongs to one event loop; `close` is called in the task that opened it
    or in another one, and may be called again.

    `note` takes what the next result is to say: that the server lost its memory, and what it asked in vain.
    """

    def __init__(
        self, server: Server, processes: Processes, environment: tuple[tuple[str, str], ...], roots: tuple[Path, ...]
    ) -> None:
        self.server = server
        self.log = Log(server.log)
        self._processes, self._environment, self._roots = processes, environment, roots
        self._client: Client | None = None
        self._life: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._starting = asyncio.Lock()
        self._starts = 0
        self._closed = False
        self._ended = ""
        self._notes: list[str] = []

    async def ask(self, request: "Callable[[Client], Awaitable[T]]", seconds: float | None = None) -> T:
        """The answer. Raises ToolError where nothing was done or the server refused, and Lost."""
        client = await self._ready()
        limit = self.server.timeout if seconds is None else seconds
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED

        try:
            async with asyncio.timeout(limit):
                return await request(client)
        except TimeoutError:
            raise Lost(f"The server {self.server.name} did not answer within {limit:g} s.") from None
        except MCPError as refusal:
            # Servers give errors of their own the code that the SDK has for a lost connection.
            if self._client is not client or (refusal.code, refusal.message) == (CONNECTION_CLOSED, "Connection closed"):
                raise Lost(await self._broken(client)) from None
            raise ToolError(f"The server {self.server.name} refused: {refusal.message}") from None
        except Exception as failure:
            # What an SDK and its HTTP client raise on a bad answer or a lost connection is theirs, and has no common type.
            self.log.line(f"a request failed: {_leaf(failure)}")
            if self.server.transport != "stdio":
                self._drop(client)
            raise Lost(f"The server {self.server.name} gave no answer that can be read: {_leaf(failure)}") from None

    def notes(self) -> tuple[str, ...]:
        taken, self._notes = tuple(self._notes), []
        return taken

    async def close(self) -> None:
        self._closed = True
        self._stop.set()
        if self._life is not None:
            await asyncio.wait([self._life])

    async def _ready(self) -> "Client":
        """The living client, or a new one."""
        async with self._starting:
            if self._client is not None:
                return self._client
            if self._closed:
                raise ToolError(f"The server {self.server.name} was closed with the task.")
            if self._starts > RESTARTS:
                raise ToolError(f"The server {self.server.name} is not started again: it {self._ended}. {self._where()}")
            if self._starts and self._life is not None:
                await asyncio.wait([self._life])
                again = "was started again: what it kept in memory is lost" if self.server.command else "was connected to again"
                self._notes.append(f"The server {self.server.name} {self._ended} and {again}.")
            return await self._start()

    async def _start(self) -> "Client":
        self._starts += 1
        self._stop = asyncio.Event()
        try:
            self.log.begin(f"start {self._starts}: {self.server.target}")
        except OSError as problem:
            raise ToolError(f"The log {self.server.log} cannot be written: {problem.strerror}") from problem
        ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        life = self._life = asyncio.create_task(self._live(ready, self._stop))
        try:
            await asyncio.wait([ready], timeout=START_LIMIT)
        finally:
            if not ready.done():
                self._ended = self._ended or f"was not ready within {START_LIMIT:g} s"
                life.cancel()
                await asyncio.wait([life])
        if not ready.cancelled():
            return ready.result()
        raise ToolError(f"The server {self.server.name} cannot be used: it {self._ended}. {self._where()}")

    async def _live(self, ready: "asyncio.Future[Client]", stop: asyncio.Event) -> None:
        """From start to end, in one task: what the SDK opens is closed in the task that opened it."""
        from mcp import Client
        from mcp_types import Implementation

        self._ended = ""
        try:
            async with Client(
                self._transport(stop),
                client_info=Implementation(name="ferrule", version=__version__),
                elicitation_callback=self._decline,
                list_roots_callback=self._tell_roots,
                logging_callback=self._logged,
                cache=None,
            ) as client:
                self._client = client
                ready.set_result(client)
                await stop.wait()
        except Exception as failure:
            # As in `ask`; whoever waits for the server is told.
            if not self._ended:
                self._ended = f"cannot be reached: {_leaf(failure)}"
                self.log.line(f"{self.server.name} {self._ended}")
        finally:
            self._client = None
            self._ended = self._ended or "was closed"
            ready.cancel()

    def _transport(self, stop: asyncio.Event) -> "AbstractAsyncContextManager[TransportStreams]":
        def ended(how: str) -> None:
            self._ended = self._ended or how
            self._client = None
            self.log.line(f"{self.server.name} {how}")
            stop.set()

        if self.server.transport == "stdio":
            return stdio(self.server, self._processes, self._environment, self.log, ended)
        if self.server.transport == "sse":
            from mcp.client.sse import sse_client

            return sse_client(self.server.url, dict(self.server.headers), START_LIMIT, IDLE)
        return _http(self.server)

    def _drop(self, client: "Client") -> None:
        """What is reached by HTTP does not say when it is gone; it is reached anew at the next request."""
        if self._client is client:
            self._client, self._ended = None, "could not be reached"
            self._stop.set()

    async def _broken(self, client: "Client") -> str:
        self._drop(client)
        if self._life is not None:
            await asyncio.wait([self._life])
        return f"The server {self.server.name} {self._ended} before it had answered. {self._where()}"

    def _where(self) -> str:
        said = self.log.said()
        return f"Its log is {self.server.log}" + (f"; it ends with:\n{said}" if said else ".")

    async def _decline(
        self, context: "ClientRequestContext", params: "mcp_types.ElicitRequestParams"
    ) -> "mcp_types.ElicitResult":
        from mcp_types import ElicitResult

        self._notes.append(f"The server asked: {params.message!r}. Nobody is there to answer, so the question was declined.")
        return ElicitResult(action="decline")

    async def _tell_roots(self, context: "ClientRequestContext") -> "mcp_types.ListRootsResult":
        from mcp_types import ListRootsResult, Root

        return ListRootsResult.model_validate({"roots": [Root.model_validate({"uri": path.as_uri()}) for path in self._roots]})

    async def _logged(self, params: "mcp_types.LoggingMessageNotificationParams") -> None:
        self.log.line(f"{params.level}: {params.data}"[:2000])


@contextlib.asynccontextmanager
async def _http(server: Server) -> "AsyncIterator[TransportStreams]":
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(headers=dict(server.headers), timeout=httpx2.Timeout(START_LIMIT, read=IDLE)) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=LONGEST_EVENT) as streams,
    ):
        yield streams


def _leaf(failure: BaseException) -> str:
    """One sentence: what is at the bottom of a group, its kind where it says nothing."""
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return " ".join(str(failure).split())[:500] or type(failure).__name__
