"""One command's keeper: starts it, watches it, ends what is left of it, reports."""

import _socket
import os
import select
import time

from .spawn import Unstartable, spawn
from .table import LINUX, become_subreaper, children, descendants, drain, send_signal, wait_for, wakeups
from .wire import Report, receive
from .wrapper import Wrapper

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

TERM_GRACE = 0.5
KILL_LIMIT = 4.0
POLL = 0.005


class Keeper:
    """Watches one command. `main` is its process, or that of its wrapper; `status` the wait status of `main` once it ended."""

    def __init__(self, control: int, alive: int, wake: int, main: int, wrapper: Wrapper | None) -> None:
        self.main, self.wake, self.wrapper = main, wake, wrapper
        self.status: int | None = None
        self.poller = select.poll()
        for fd in (control, alive, wake):
            self.poller.register(fd, select.POLLIN)
        if wrapper is not None:
            self.poller.register(wrapper.fileno, select.POLLIN)
        self.alive = alive

    def over(self) -> bool:
        """Whether the command itself has ended."""
        return self.status is not None or (self.wrapper is not None and self.wrapper.told is not None)

    def busy(self) -> bool:
        """Reap what has ended; whether anything of the command is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return not LINUX and self.group_lives()
            if pid == 0:
                return True
            if pid == self.main:
                self.status = status

    def group_lives(self) -> bool:
        try:
            os.killpg(self.main, 0)
        except OSError:
            return False
        return True

    def pause(self, deadline: float | None) -> str:
        """Until something happens; a name for what must end the command, else empty."""
        left = None if deadline is None else (deadline - time.monotonic()) * 1000
        if left is not None and left <= 0:
            return "timeout"
        happened = [fd for fd, _ in self.poller.poll(left)]
        if self.wake in happened:
            drain(self.wake)
            happened.remove(self.wake)
        if self.wrapper is not None and self.wrapper.fileno in happened:
            happened.remove(self.wrapper.fileno)
            if not self.wrapper.hear():
                self.poller.unregister(self.wrapper.fileno)
        if not happened:
            return ""
        return "alone" if self.alive in happened else "asked"

    def watch(self, timeout: float | None, grace: float) -> str:
        """Until nothing is left of the command or the rest must be ended: `exit` when it ended by itself, or why it must."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self.busy() and not self.over():
            if why := self.pause(deadline):
                return why
        deadline = time.monotonic() + grace
        while self.busy() and not self.pause(deadline):
            pass
        return "exit"

    def below(self) -> list[int]:
        return descendants(os.getpid()) if LINUX else [-self.main]

    def frame(self) -> set[int]:
        """The processes of a wrapper around the command: they end when nothing is left in them."""
        inside = self.wrapper is not None and self.wrapper.started
        return {self.main, *children(self.main)} if inside and self.status is None else set()

    def end(self) -> int:
        """Ask everything to end, then end it. How many there were, those included that came while they were killed."""
        frame = self.frame()
        ended = set(self.below())
        self.ask_to_end(frame)
        deadline = time.monotonic() + KILL_LIMIT
        while self.busy() and time.monotonic() < deadline:
            ended |= self.kill()
            wait_for(self.wake, POLL)
        return len(ended - frame)

    def ask_to_end(self, spared: set[int]) -> None:
        """All but `spared`. Also what was started while we asked: it is found when the end of what started it wakes us."""
        asked = set(spared)
        deadline = time.monotonic() + TERM_GRACE
        while self.busy() and (left := deadline - time.monotonic()) > 0:
            for pid in self.below():
                if pid not in asked:
                    send_signal(pid, signal.SIGTERM)
                    send_signal(pid, signal.SIGCONT)
                    asked.add(pid)
            wait_for(self.wake, left)

    def kill(self) -> set[int]:
        """Only own children: their pids cannot pass to others before we reap them, a killed parent starts nothing any more,
        and its orphans become our children in turn.
        """
        found = children(os.getpid()) if LINUX else [-self.main]
        for pid in found:
            send_signal(pid, signal.SIGKILL)
        return set(found)


def given_up(*above: int) -> bool:
    """Whether those above are gone, or want the command no more, before it was started."""
    poller = select.poll()
    for fd in above:
        poller.register(fd, select.POLLIN)
    return bool(poller.poll(0))


def keep(control: _socket.socket, output: int, alive: int) -> Report:
    """Run one command to its end."""
    become_subreaper()
    wake = wakeups()
    request = receive(control)
    if request is None:
        return "asked", None, 0, 0, ""
    argv, cwd, env, timeout, grace, merged, wrapping = request
    if given_up(control.fileno(), alive):
        return "asked", None, 0, 0, ""
    wrapper = Wrapper() if wrapping else None
    try:
        main = wrapper.start(wrapping, output) if wrapper else spawn(argv, cwd, env, output, output if merged else None)
    except Unstartable as error:
        return "failed", None, 0, 0, str(error)
    os.close(output)
    if wrapper:
        wrapper.hand(request)
    keeper = Keeper(control.fileno(), alive, wake, main, wrapper)
    why = keeper.watch(timeout, grace)
    ended = keeper.end() if keeper.busy() else 0
    unended = len(keeper.below()) if keeper.busy() else 0
    status = wrapper.outcome(keeper.status) if wrapper else keeper.status
    if isinstance(status, str):
        return "failed", None, 0, unended, status
    return why, status, ended if why == "exit" else 0, unended, ""
