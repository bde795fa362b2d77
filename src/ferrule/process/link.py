"""One supervisor process and the socket to it."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from .guard.wire import KILL, LINK, LOST, MESSAGE, RUN, UNSTARTED, message, parse
from .running import Running

PROGRAM = Path(__file__).with_name("guard") / "start.py"
LOADER = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
REAPING = 0.002


class Link:
    """Starts the supervisor process; raises OSError where that is impossible.

    `lost` is done once it has hung up, `exited` once it is reaped.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.running: dict[int, Running] = {}
        self.numbers = 0
        self.reaped = False
        self.exited: asyncio.Future[None] = loop.create_future()
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self.pid = launch(theirs.fileno())
            except OSError:
                ours.close()
                raise
        ours.setblocking(False)
        self.socket = ours
        self.lost: asyncio.Future[None] = loop.create_future()
        loop.add_reader(ours.fileno(), self._read)

    def begin(self, on_output: Callable[[bytes], None]) -> Running:
        """Have a keeper forked for one command. Raises ConnectionError when the supervisor is gone, else OSError."""
        self.wake()
        running = Running(self.loop, on_output, self.wake)
        try:
            self.numbers += 1
            fds = [running.theirs.fileno(), running.writing]
            socket.send_fds(self.socket, [message(RUN, self.numbers)], fds)
        except OSError as error:
            running.close()
            if isinstance(error, ConnectionError):
                self._lose()
            raise
        finally:
            running.close_theirs()
        number = self.numbers
        self.running[number] = running
        running.done.add_done_callback(lambda done: self.running.pop(number, None))
        return running

    def wake(self) -> None:
        """A supervisor that something has stopped goes on."""
        self.send_signal(signal.SIGCONT)

    def send_signal(self, number: int) -> None:
        if not self.reaped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill_keeper(self, running: Running) -> None:
        """The supervisor then ends what the keeper watched, and says so."""
        self.wake()
        for number, each in self.running.items():
            if each is running:
                with contextlib.suppress(OSError):
                    self.socket.send(message(KILL, number))

    def hang_up(self) -> None:
        """Let the supervisor end everything, and itself."""
        self.wake()
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def _read(self) -> None:
        try:
            data = self.socket.recv(MESSAGE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if len(data) != MESSAGE:
            self._lose()
            return
        kind, number, count = parse(data)
        running = self.running.get(number)
        if running is not None and kind == LOST:
            running.keeper_lost(count)
        elif running is not None and kind == UNSTARTED:
            running.fail("no process can be started: too many processes or open files")

    def _lose(self) -> None:
        """The supervisor is gone; its keepers end what they watch."""
        if self.lost.done():
            return
        self.loop.remove_reader(self.socket.fileno())
        self.socket.close()
        self.lost.set_result(None)
        for running in list(self.running.values()):
            running.supervisor_lost()
        self._reap()

    def _reap(self) -> None:
        """What has hung up is about to exit."""
        if self.reaped:
            return
        try:
            pid, _ = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            pid = self.pid
        self.reaped = pid == self.pid
        if not self.reaped:
            self.loop.call_later(REAPING, self._reap)
        elif not self.exited.done():
            self.exited.set_result(None)

    async def gone(self, seconds: float) -> bool:
        """Wait until the supervisor process has hung up and is reaped."""
        await asyncio.wait([self.exited], timeout=seconds)
        return self.reaped


def launch(link: int) -> int:
    """Start the supervisor process with `link` and without anything else of ours; returns its pid."""
    null = (os.POSIX_SPAWN_OPEN, "/dev/null", os.O_RDWR, 0)
    blocked = {signal.SIGKILL, signal.SIGSTOP}
    compiled = ["-B"] if sys.dont_write_bytecode else []
    compiled += ["-X", f"pycache_prefix={sys.pycache_prefix}"] if sys.pycache_prefix else []
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", "-E", *compiled, str(PROGRAM)],
        {name: os.environ[name] for name in LOADER if name in os.environ},
        file_actions=[(os.POSIX_SPAWN_DUP2, link, LINK), *((null[0], fd, *null[1:]) for fd in (0, 1, 2))],
        setsid=True,
        setsigmask=(),
        setsigdef=signal.valid_signals() - blocked,
    )
