"""What Ferrule and its supervisor say to each other.

Over the link: messages of eight bytes, a `RUN` with two descriptors attached (the command's control socket and the pipe for its
output). Over a control socket: a request to the keeper, at the end its report; half closed, it asks to end the command.
The same request goes on from the keeper to the program at the end of a wrapper, which answers with complaints of the wrapper, if
any, then `STARTED`, then the wait status of the command, or the reason why it cannot be started.
"""

import _socket
import marshal

LINK = 3
MESSAGE = 8
RUN, KILL, LOST, UNSTARTED = b"r", b"k", b"l", b"u"

STARTED = b"\0"

Request = tuple[list[bytes], bytes, dict[bytes, bytes], float | None, float, bool, list[bytes]]
"""Arguments, folder, environment, time-out and grace in seconds, whether stderr goes to the output, the wrapper's arguments."""

Report = tuple[str, int | None, int, int, str]
"""Why it ended (exit, timeout, asked, alone, failed), wait status, how many outlived it, how many could not be ended, a text."""


def message(kind: bytes, number: int, count: int = 0) -> bytes:
    """What goes over the link: a kind, the number of a command, and how many processes were ended."""
    return kind + number.to_bytes(4, "big") + min(count, 0xFFFFFF).to_bytes(3, "big")


def parse(data: bytes) -> tuple[bytes, int, int]:
    return data[:1], int.from_bytes(data[1:5], "big"), int.from_bytes(data[5:8], "big")


def pack(request: Request) -> bytes:
    data = marshal.dumps(request)
    return len(data).to_bytes(4, "big") + data


def receive(control: _socket.socket) -> Request | None:
    """None when Ferrule hung up."""
    data = bytearray()
    while len(data) < 4 or len(data) < 4 + int.from_bytes(data[:4], "big"):
        part = control.recv(1 << 20)
        if not part:
            return None
        data += part
    request: Request = marshal.loads(data[4:])
    return request


def report(control: _socket.socket, told: Report) -> None:
    """To Ferrule, which may be gone."""
    try:
        control.sendall(marshal.dumps(told))
    except OSError:
        return


def reported(data: bytes) -> Report | None:
    """What a report says; None when it is not whole."""
    try:
        told: Report = marshal.loads(data)
    except (EOFError, ValueError, TypeError):
        return None
    return told


def told_by_wrapper(data: bytes) -> int | str | None:
    """What stands after `STARTED`; None while it is not whole."""
    try:
        told: int | str = marshal.loads(data)
    except (EOFError, ValueError, TypeError):
        return None
    return told
