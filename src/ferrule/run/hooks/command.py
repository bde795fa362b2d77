"""A hook that is a command: JSON on its standard input, its answer on standard output, complaints on standard error."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ferrule.process.protocol import Command, Processes

from .answer import Answer, Broken, of_command
from .hook import Hook

MOST = 1 << 20
"""Bytes of each stream that are kept."""

WITH_STREAMS = 'exec /bin/sh -c "$1" <"$2" 2>"$3"'


class _Kept(bytearray):
    """The beginning of a stream; what comes after it is read and forgotten."""

    def take(self, data: bytes) -> None:
        self.extend(data[: MOST + 1 - len(self)])


async def ask_command(
    hook: Hook, asked: bytes, folder: str, env: tuple[tuple[str, str], ...], processes: Processes
) -> Answer | Broken:
    """Run in `folder`, as confined as the agent's own commands: it may be a script that the agent has written.

    Whatever it leaves running is ended with it.
    """
    import tempfile

    out, err = _Kept(), _Kept()
    try:
        with tempfile.TemporaryDirectory(prefix="ferrule-hook-") as scratch:
            stdin, stderr = Path(scratch, "stdin"), Path(scratch, "stderr")
            stdin.write_bytes(asked)
            argv = ("/bin/sh", "-c", WITH_STREAMS, "hook", hook.command, str(stdin), str(stderr))
            with _reading(stderr, err):
                command = Command(argv, folder, env, hook.timeout, stderr="null", lent=(scratch,))
                ended = await processes.run(command, out.take)
    except OSError as error:
        return Broken(f"it could not be started: {error}")
    if len(out) > MOST:
        return Broken(f"it printed more than {MOST} bytes")
    return of_command(hook.event, ended, hook.timeout, bytes(out), bytes(err))


@contextmanager
def _reading(pipe: Path, kept: _Kept) -> Iterator[None]:
    """Whatever is written to a named pipe, until the context is left. Both ends are held, so that it has no end before that."""
    os.mkfifo(pipe, 0o600)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    writing = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    loop = asyncio.get_running_loop()

    def take() -> bool:
        try:
            kept.take(os.read(reading, 65536))
        except BlockingIOError:
            return False
        return True

    loop.add_reader(reading, take)
    try:
        yield
        while take():
            pass
    finally:
        loop.remove_reader(reading)
        os.close(reading)
        os.close(writing)
