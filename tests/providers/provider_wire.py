"""A loopback HTTP server that answers every request with the bytes it was given, and keeps what was asked."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from ferrule.providers.base import Provider
from ferrule.types.request import Request
from ferrule.types.stream import Done, Failed, StreamEvent

Ending = Literal["clean", "reset", "hang"]


@dataclass
class Asked:
    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Reply:
    """`chunks` go out one by one as one chunked body; then it ends cleanly, is reset, or stays open."""

    chunks: Sequence[bytes]
    status: str = "200 OK"
    headers: Sequence[str] = ("content-type: text/event-stream",)
    ending: Ending = "clean"


@dataclass
class Wire:
    url: str
    replies: list[Reply]
    asked: list[Asked] = field(default_factory=list)
    open_connections: int = 0
    connections: int = 0


@asynccontextmanager
async def serving(*replies: Reply) -> AsyncIterator[Wire]:
    """The last reply is repeated."""
    wire = Wire("", list(replies))
    handlers: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        handlers.add(task)
        wire.open_connections += 1
        wire.connections += 1
        try:
            while await _answer(wire, reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            wire.open_connections -= 1
            handlers.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    wire.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield wire
    finally:
        server.close()
        for task in list(handlers):
            task.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)


async def _answer(wire: Wire, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    wire.asked.append(Asked(head[0], headers, await reader.readexactly(int(headers.get("content-length", "0")))))
    reply = wire.replies.pop(0) if len(wire.replies) > 1 else wire.replies[0]
    writer.write("\r\n".join([f"HTTP/1.1 {reply.status}", *reply.headers, "transfer-encoding: chunked", "", ""]).encode())
    for chunk in reply.chunks:
        if chunk:
            writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            await writer.drain()
            await asyncio.sleep(0)
    if reply.ending == "clean":
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True
    if reply.ending == "hang":
        await reader.read()
        return False
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    writer.transport.abort()
    return False


async def ask(provider: Provider, request: Request) -> list[StreamEvent]:
    """All events of one call, with law 1 checked."""
    events = [event async for event in provider.stream(request)]
    assert [isinstance(event, Done | Failed) for event in events].count(True) == 1
    assert isinstance(events[-1], Done | Failed)
    return events


def sse(*values: Any, done: bool = False) -> bytes:
    """Events whose data is JSON; a pair is an event with a name."""
    lines = [
        f"event: {value[0]}\ndata: {json.dumps(value[1])}\n\n" if isinstance(value, tuple) else f"data: {json.dumps(value)}\n\n"
        for value in values
    ]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()
