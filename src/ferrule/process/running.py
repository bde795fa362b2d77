"""One command as Ferrule sees it while it runs."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable

from .guard.wire import Report, reported

CHUNK = 65536
LAST_CHUNKS = 64
"""A pipe holds at most a megabyte, as fragments; more than this is written by something that we could not end."""

PATIENCE = 10.0
"""Seconds to wait for word from who is about to end a command, before it is said that it may not have been ended."""

KEEPER_LOST = "the process that watched the command was killed; the command and all below it were ended"
SUPERVISOR_LOST = "the supervisor of this session was killed; the command and all below it were ended"
UNSURE = "what watched the command was killed or stopped, and it could not be made sure that the command was ended"
OVERDUE = "the process that watched the command let its time-out pass; the command and all below it were ended"
CANCELLED = "the command was cancelled; it and all below it were ended"
CLOSED = "the session was closed while the command ran; the command and all below it were ended"


class Running:
    """The pipe with its output and the socket to its keeper. `done` is done when nothing of the command is left.

    The result of `done` is the keeper's report; when there is none, a report with the reason `lost`. `theirs` and `writing` are
    for the keeper. `failure` is what `on_output` raised: the command is then asked to end. `on_silence` is called when the
    keeper hangs up without a report: the supervisor will say more. `closing` is set by who closes the session.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, on_output: Callable[[bytes], None], on_silence: Callable[[], None]
    ) -> None:
        self.loop, self.on_output, self.on_silence = loop, on_output, on_silence
        self.done: asyncio.Future[Report] = loop.create_future()
        self.failure: Exception | None = None
        self.closing = self.silent = self.alone = False
        self.told = bytearray()
        self.control, self.theirs = socket.socketpair()
        try:
            self.reading, self.writing = os.pipe()
        except OSError:
            self.control.close()
            self.theirs.close()
            raise
        self.control.setblocking(False)
        os.set_blocking(self.reading, False)
        self.open = {self.reading, self.control.fileno()}
        loop.add_reader(self.reading, self._read_output)
        loop.add_reader(self.control.fileno(), self._read_report)

    def close_theirs(self) -> None:
        self.theirs.close()
        os.close(self.writing)

    async def send(self, request: bytes, seconds: float | None) -> bool:
        """To a keeper that may be gone already; whether it was taken in time."""
        try:
            async with asyncio.timeout(seconds):
                await self.loop.sock_sendall(self.control, request)
        except TimeoutError:
            return False
        except OSError:
            return True
        return True

    def ask_to_end(self) -> None:
        with contextlib.suppress(OSError):
            self.control.shutdown(socket.SHUT_WR)

    def _read_output(self) -> None:
        if not self._take():
            self._unwatch(self.reading)

    def _take(self) -> bool:
        """Hand one chunk on; False at the end and when there is none now."""
        try:
            data = os.read(self.reading, CHUNK)
        except BlockingIOError:
            return not self.done.done()
        if data and self.failure is None:
            try:
                self.on_output(data)
            except Exception as error:
                self.failure = error
                self.ask_to_end()
        return bool(data)

    def _read_report(self) -> None:
        try:
            data = self.control.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.told += data
        if data:
            return
        self._unwatch(self.control.fileno())
        report = reported(bytes(self.told))
        if report is not None:
            self._finish(report)
        elif self.alone:
            self.fail(UNSURE)
        else:
            self.silent = True
            self.on_silence()
            self.loop.call_later(PATIENCE, self.fail, UNSURE)

    def keeper_lost(self, ended: int) -> None:
        """The supervisor says that the keeper was killed and that it has ended what it left."""
        self._finish(("lost", None, ended, 0, CLOSED if self.closing else KEEPER_LOST))

    def supervisor_lost(self) -> None:
        """The keeper ends the command and reports; if it has hung up without a word, nobody is left to wait for.

        While closing, the supervisor goes only after everything below it.
        """
        self.alone = True
        if self.silent:
            self.fail(CLOSED if self.closing else UNSURE)
        else:
            self.loop.call_later(PATIENCE, self.fail, UNSURE)

    def fail(self, text: str) -> None:
        self._finish(("lost", None, 0, 0, text))

    def _finish(self, report: Report) -> None:
        if self.done.done():
            return
        self.done.set_result(report)
        for _ in range(LAST_CHUNKS):
            if not self._take():
                break
        self.close()

    def _unwatch(self, fd: int) -> None:
        if fd in self.open:
            self.open.discard(fd)
            self.loop.remove_reader(fd)

    def close(self) -> None:
        """May be called again."""
        if self.control.fileno() < 0:
            return
        self._unwatch(self.reading)
        self._unwatch(self.control.fileno())
        os.close(self.reading)
        self.control.close()
