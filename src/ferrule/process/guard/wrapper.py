"""What stands around a command to confine it, as the keeper sees it: started in the command's place, handed the command."""

import _socket
import os

from .spawn import spawn
from .wire import STARTED, Request, pack, told_by_wrapper


class Wrapper:
    """`told` is the wait status of the command as the program inside saw it, or why the command could not be started.

    `started`: the program inside runs and will tell; without it the wrapper's process has become the command.
    """

    def __init__(self) -> None:
        self.ours, self.theirs = _socket.socketpair()
        self.fileno = self.ours.fileno()
        self.heard = bytearray()
        self.started = False
        self.told: int | str | None = None

    def start(self, argv: list[bytes], output: int) -> int:
        """Its pid. Its standard output is the command's, its standard error speaks with us."""
        try:
            return spawn(argv, b"/", dict(os.environb), output, self.theirs.fileno())
        finally:
            self.theirs.close()

    def hand(self, request: Request) -> None:
        """To a program that may never come; what it says then is heard later."""
        try:
            self.ours.sendall(pack(request))
        except OSError:
            return

    def hear(self) -> bool:
        """Take in what was said; False when nothing more will be."""
        try:
            data = self.ours.recv(65536)
        except OSError:
            return False
        self.heard += data
        _, started, rest = self.heard.partition(STARTED)
        self.started = bool(started)
        self.told = told_by_wrapper(bytes(rest))
        return bool(data)

    def outcome(self, status: int | None) -> int | str | None:
        """How the command ended, or why there was none. `status` is that of the wrapper's process."""
        self.ours.setblocking(False)
        while self.hear():
            pass
        if self.told is None and self.heard and not self.started:
            return f"the sandbox could not be set up: {self.heard.decode(errors='replace').strip()}"
        return status if self.told is None else self.told
