"""A program that is written to while it runs: commands have no standard input, so it gets a named pipe for one."""

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from ferrule.process.protocol import Command, Ended, Processes

START = 'exec <"$0" && rm -f -- "$0" && exec "$@"'
PATIENCE = 1.0
"""Seconds in which a program whose input was closed may end by itself."""


class Pipe:
    """What is written goes out in order, however slowly it is taken."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._waiting = bytearray()

    def write(self, data: bytes) -> None:
        self._waiting += data
        self._flush()

    def _flush(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_writer(self._fd)
        try:
            while self._waiting:
                del self._waiting[: os.write(self._fd, self._waiting)]
        except BlockingIOError:
            loop.add_writer(self._fd, self._flush)

    def close(self) -> None:
        asyncio.get_running_loop().remove_writer(self._fd)
        os.close(self._fd)


@contextlib.asynccontextmanager
async def piped(
    argv: tuple[str, ...],
    cwd: Path,
    environment: tuple[tuple[str, str], ...],
    processes: Processes,
    on_output: Callable[[bytes], None],
) -> AsyncIterator[tuple[Pipe, "asyncio.Task[Ended]"]]:
    """The program's input and its end, which are over when the context is left. Raises OSError."""
    with tempfile.TemporaryDirectory(prefix="ferrule-pipe-") as folder:
        fifo = Path(folder, "in")
        os.mkfifo(fifo, 0o600)
        # Held for reading too, so that opening waits for nobody and a program that ends breaks nothing.
        pipe = Pipe(os.open(fifo, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC))
        command = Command(("/bin/sh", "-c", START, str(fifo), *argv), str(cwd), environment, stderr="null", lent=(folder,))
        running = asyncio.create_task(processes.run(command, on_output))
        try:
            yield pipe, running
        finally:
            pipe.close()
            await _end(running)


async def _end(running: "asyncio.Task[Ended]") -> None:
    """Bounded, and done whoever cancels meanwhile."""
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.wait([running], timeout=PATIENCE)
    running.cancel()
    while not running.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([running])
