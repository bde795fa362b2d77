"""The supervisor: forks a keeper for each command, and ends what a killed keeper leaves."""

import _socket
import gc
import os
import select
import sys
import time

from .keeper import KILL_LIMIT, POLL, TERM_GRACE, keep
from .table import LINUX, become_subreaper, children, drain, prctl, send_signal, wait_for, wakeups
from .wire import KILL, LINK, LOST, MESSAGE, RUN, UNSTARTED, message, parse, report

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

IGNORED = ("INT", "TERM", "HUP", "QUIT", "USR1", "USR2", "PIPE", "ALRM", "TSTP", "TTIN", "TTOU")


def parent_ends() -> list[int]:
    """A descriptor that becomes readable when Ferrule is gone, even if a copy of its socket lives on in a fork of it."""
    try:
        return [os.pidfd_open(os.getppid())]
    except (AttributeError, OSError):
        return []


class Guard:
    """The supervisor: forks keepers, and ends what a killed keeper leaves."""

    def __init__(self, link: _socket.socket) -> None:
        self.link = link
        self.keepers: dict[int, int] = {}
        self.alive, self.holding = os.pipe()
        self.wake = wakeups()
        self.watched = [self.link.fileno(), self.wake, *parent_ends()]

    def serve(self) -> None:
        """Until Ferrule hangs up or is gone."""
        poller = select.poll()
        for fd in self.watched:
            poller.register(fd, select.POLLIN)
        while True:
            happened = [fd for fd, _ in poller.poll()]
            if self.wake in happened:
                self.tend()
            if self.link.fileno() in happened:
                if not self.obey():
                    return
            elif set(self.watched[2:]) & set(happened):
                return

    def obey(self) -> bool:
        """Do what one message says; False when there will be no more."""
        try:
            data, attached, _, _ = self.link.recvmsg(MESSAGE, _socket.CMSG_SPACE(8))
        except OSError:
            return False
        if len(data) != MESSAGE:
            return False
        kind, number, _ = parse(data)
        if kind == RUN:
            raw = b"".join(part for _, _, part in attached)
            fds = [int.from_bytes(raw[at : at + 4], sys.byteorder) for at in range(0, len(raw), 4)]
            self.fork(number, fds)
        elif kind == KILL:
            for pid in [pid for pid, running in self.keepers.items() if running == number]:
                os.kill(pid, signal.SIGKILL)
        return True

    def fork(self, number: int, fds: list[int]) -> None:
        """Descriptors are missing when this process may open no more of them."""
        for fd in fds:
            os.set_inheritable(fd, False)
        pid = -1
        if len(fds) == 2:
            try:
                pid = os.fork()
            except OSError:
                pid = -1
        if pid == 0:
            self.become_keeper(fds[0], fds[1])
        for fd in fds:
            os.close(fd)
        if pid > 0:
            self.keepers[pid] = number
        else:
            self.tell(UNSTARTED, number)

    def tell(self, kind: bytes, number: int, count: int = 0) -> None:
        """Ferrule, which may be gone."""
        try:
            self.link.send(message(kind, number, count))
        except OSError:
            return

    def become_keeper(self, control: int, output: int) -> None:
        """Never returns: what is above belongs to the supervisor."""
        code = 1
        try:
            for fd in (*self.watched, self.holding):
                os.close(fd)
            channel = _socket.socket(fileno=control)
            report(channel, keep(channel, output, self.alive))
            code = 0
        finally:
            os._exit(code)

    def tend(self) -> None:
        """Reap; after the death of a keeper end what it left, and tell Ferrule."""
        drain(self.wake)
        lost: list[int] = []
        ended: set[int] = set()
        self.reap(lost)
        deadline = time.monotonic() + KILL_LIMIT
        while lost and (strays := self.strays()) and time.monotonic() < deadline:
            for pid in strays:
                send_signal(pid, signal.SIGKILL)
            ended.update(strays)
            wait_for(self.wake, POLL)
            self.reap(lost)
        for number in lost:
            self.tell(LOST, number, len(ended))

    def strays(self) -> list[int]:
        return [pid for pid in children(os.getpid()) if pid not in self.keepers] if LINUX else []

    def reap(self, lost: list[int]) -> bool:
        """Whether any child is left. A keeper that something has stopped goes on."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if os.WIFSTOPPED(status):
                send_signal(pid, signal.SIGCONT)
            elif (number := self.keepers.pop(pid, None)) is not None and status != 0:
                lost.append(number)

    def end(self) -> None:
        """Let the keepers end their commands, then end whatever is left."""
        os.close(self.holding)
        patience = time.monotonic() + TERM_GRACE + KILL_LIMIT + 0.5
        deadline = patience + KILL_LIMIT
        while self.reap([]) and (now := time.monotonic()) < deadline:
            for pid in self.strays() + (list(self.keepers) if now > patience else []):
                send_signal(pid, signal.SIGKILL)
            wait_for(self.wake, 0.05)


def main() -> None:
    gc.disable()
    for name in IGNORED:
        signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_IGN)
    os.closerange(LINK + 1, min(os.sysconf("SC_OPEN_MAX"), 1 << 20))
    os.set_inheritable(LINK, False)
    os.chdir("/")
    become_subreaper()
    if LINUX:
        prctl(15, b"ferrule-guard")
    guard = Guard(_socket.socket(fileno=LINK))
    guard.serve()
    guard.end()
    os._exit(0)
