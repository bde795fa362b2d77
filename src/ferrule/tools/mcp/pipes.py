"""A server that speaks over its standard input and output, run below the supervisor so that it cannot outlive us (law 13).

The SDK starts such servers by itself; here it gets streams instead. Commands have no standard input, so the server's is a named
pipe, which the shell in front of it opens and removes.
"""

import asyncio
import contextlib
import math
import os
import secrets
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from ferrule.process.protocol import Command, Ended, Processes

from .log import Log
from .server import Server

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

START = 'exec <"$1" 2>>"$2"; rm -f -- "$1"; shift 2; exec "$@"'
LONGEST = 32 * 1024 * 1024
"""Bytes of one message; a server that writes more without an end is ended."""
MOST_WAITING = 10_000
"""Messages that nobody has taken yet; a server that floods us with more is ended."""
PATIENCE = 2.0
"""Seconds in which a server whose input was closed may end by itself."""
SHOWN = 200


class Flood(Exception):
    """The server writes more than can be taken."""


@contextlib.asynccontextmanager
async def stdio(
    server: Server, processes: Processes, environment: tuple[tuple[str, str], ...], log: Log, on_end: Callable[[str], None]
) -> "AsyncIterator[TransportStreams]":
    """The streams of a new process; `on_end` is told in a sentence how it ended, whenever that is."""
    import anyio
    from mcp.shared.message import SessionMessage

    to_us, incoming = anyio.create_memory_object_stream["SessionMessage | Exception"](math.inf)
    outgoing, from_us = anyio.create_memory_object_stream[SessionMessage](0)
    lines = Lines(to_us, log)
    fifo = server.log.with_name(f".{secrets.token_hex(8)}.in")
    os.mkfifo(fifo, 0o600)
    try:
        pipe = os.open(fifo, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        command = Command(
            ("/bin/sh", "-c", START, "mcp", str(fifo), str(server.log), *server.command),
            server.cwd,
            tuple(sorted({**dict(environment), **dict(server.env)}.items())),
            stderr="null",
        )
        running = asyncio.create_task(_run(processes, command, lines, on_end))
        writing = asyncio.create_task(_write(from_us, pipe))
        try:
            yield incoming, outgoing
        finally:
            outgoing.close()
            await _finish(writing, running, pipe)
            for stream in (to_us, incoming, from_us):
                stream.close()
    finally:
        fifo.unlink(missing_ok=True)


async def _run(processes: Processes, command: Command, lines: "Lines", on_end: Callable[[str], None]) -> None:
    try:
        ended = await processes.run(command, lines.feed)
        on_end(how(ended))
    except Flood as flood:
        on_end(f"was ended because it {flood}")
    except asyncio.CancelledError:
        on_end("was ended because it did not end by itself when its input was closed")
        raise
    finally:
        lines.end()


async def _write(messages: "MemoryObjectReceiveStream[SessionMessage]", pipe: int) -> None:
    loop = asyncio.get_running_loop()
    async for message in messages:
        data = memoryview(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        while data:
            try:
                data = data[os.write(pipe, data) :]
            except BlockingIOError:
                free = asyncio.Event()
                loop.add_writer(pipe, free.set)
                try:
                    await free.wait()
                finally:
                    loop.remove_writer(pipe)


async def _finish(writing: asyncio.Task[None], running: asyncio.Task[None], pipe: int) -> None:
    """Close its input, give it time to end, then end it with all below it. Bounded, and done whoever cancels meanwhile."""
    closing = asyncio.ensure_future(_close(writing, running, pipe))
    cancelled = False
    while not closing.done():
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


async def _close(writing: asyncio.Task[None], running: asyncio.Task[None], pipe: int) -> None:
    await asyncio.wait([writing], timeout=PATIENCE / 4)
    writing.cancel()
    await asyncio.wait([writing])
    os.close(pipe)
    await asyncio.wait([running], timeout=PATIENCE)
    running.cancel()
    await asyncio.wait([running])


class Lines:
    """What the server writes, line by line as messages; a line that is none goes to the log."""

    def __init__(self, to: "MemoryObjectSendStream[SessionMessage | Exception]", log: Log) -> None:
        self._to = to
        self._log = log
        self._open = bytearray()

    def feed(self, data: bytes) -> None:
        """Raises Flood."""
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._open += line
            self._deliver(bytes(self._open))
            self._open.clear()
        self._open += rest
        if len(self._open) > LONGEST:
            raise Flood(f"wrote a message of more than {LONGEST // 1024 // 1024} MiB")
        if self._to.statistics().current_buffer_used > MOST_WAITING:
            raise Flood(f"wrote more than {MOST_WAITING:,} messages that nobody had asked for")

    def end(self) -> None:
        self._to.close()

    def _deliver(self, line: bytes) -> None:
        import anyio
        import mcp_types
        from mcp.shared.message import SessionMessage

        if not line.strip():
            return
        try:
            message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            self._log.line(f"wrote what is no message to standard output: {line[:SHOWN].decode(errors='replace')!r}")
            return
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._to.send_nowait(SessionMessage(message))


def how(ended: Ended) -> str:
    if ended.error is not None:
        return f"ended: {ended.error}"
    return f"was ended by signal {ended.signal}" if ended.signal is not None else f"ended with exit code {ended.exit_code}"
