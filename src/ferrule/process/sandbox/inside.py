"""The program at the end of a wrapper: limits itself by Landlock, then starts the command or becomes it.

It imports nothing but built-in modules and what the supervisor has compiled, for its start is paid by every command.
"""

import _socket
import gc
import marshal
import os
import sys

from ferrule.process.guard.spawn import Unstartable, enter, spawn
from ferrule.process.guard.table import prctl
from ferrule.process.guard.wire import STARTED, Request, receive

from .landlock import renounce, restrict

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

WATCH, BECOME = "watch", "become"
"""As the first process of a namespace; in the place of this process."""

DUMPABLE = 4


def main() -> None:
    """Arguments: how, the version of Landlock (0: without), whether TCP is free, and the paths that may be written."""
    gc.disable()
    how, version, tcp, *writable = sys.argv[1:]
    channel = _socket.socket(fileno=os.dup(2))
    request = receive(channel)
    if request is None:
        return
    try:
        if how == WATCH:
            shield()
        else:
            renounce()
        if int(version):
            restrict(int(version), writable, tcp == "tcp")
        watch(channel, request) if how == WATCH else become(request)
    except (Unstartable, OSError) as error:
        channel.sendall(STARTED + marshal.dumps(str(error)))


def shield() -> None:
    """Nobody inside may look into this process, signal it or trace it."""
    if os.getpid() != 1:
        raise OSError("bubblewrap made no process namespace")
    prctl(DUMPABLE, 0)


def watch(channel: _socket.socket, request: Request) -> None:
    """Start the command, tell its wait status, and stay until the last of its descendants is gone: they become our children.

    The namespace, and all in it, ends with us.
    """
    argv, cwd, env, _, _, merged, _ = request
    output = os.dup(1)
    main = spawn(argv, cwd, env, output, output if merged else None)
    channel.sendall(STARTED)
    for fd in (output, 1, 2):
        os.close(fd)
    while True:
        try:
            pid, status = os.waitpid(-1, 0)
        except ChildProcessError:
            return
        if pid == main:
            channel.sendall(marshal.dumps(status))


def become(request: Request) -> None:
    """The keeper's child is the command itself then. Signals and session are those of any command already."""
    argv, cwd, env, _, _, merged, _ = request
    program = enter(argv, cwd, env)
    for each in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(each, signal.SIG_DFL)
    null = os.open("/dev/null", os.O_WRONLY)
    os.dup2(1 if merged else null, 2)
    try:
        os.execve(program, argv, env)
    except (OSError, ValueError) as error:
        raise Unstartable(f"cannot start {os.fsdecode(argv[0])!r}: {getattr(error, 'strerror', None) or error}") from None
