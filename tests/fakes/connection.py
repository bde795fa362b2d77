"""One HTTP/1.1 connection with control over every byte."""

import select
import socket
import struct
import threading
import time
from dataclasses import dataclass
from http import HTTPStatus


@dataclass(frozen=True)
class Incoming:
    """`headers` by lower-case name; `arrived` is when the last byte was read."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    arrived: float


class Connection:
    """A socket that can answer, end early, reset and wait for its peer."""

    def __init__(self, peer: socket.socket, closing: threading.Event) -> None:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._peer = peer
        self._closing = closing
        self._left = b""

    def receive(self) -> Incoming | None:
        """The next request, None when the peer is done."""
        data = self._left
        while b"\r\n\r\n" not in data:
            if not (more := self._peer.recv(65536)):
                return None
            data += more
        head, _, rest = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if headers.get("expect", "").lower() == "100-continue":
            self.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = int(headers.get("content-length", "0"))
        body = bytearray(rest)
        while len(body) < length:
            if not (more := self._peer.recv(min(1 << 20, length - len(body)))):
                return None
            body += more
        self._left = bytes(body[length:])
        return Incoming(method, path, headers, bytes(body[:length]), time.monotonic())

    def send(self, data: bytes) -> None:
        self._peer.sendall(data)

    def respond(self, status: int, headers: dict[str, str], body: bytes) -> None:
        """A whole answer of known length."""
        self.send(head(status, {**headers, "Content-Length": str(len(body))}) + body)

    def wait(self, seconds: float) -> bool:
        """Be silent for so long; False when the peer went away or the server closes meanwhile."""
        deadline = time.monotonic() + seconds
        while (rest := deadline - time.monotonic()) > 0:
            if self._closing.is_set():
                return False
            readable, _, _ = select.select([self._peer], [], [], min(rest, 0.2))
            if readable and not self._peer.recv(1, socket.MSG_PEEK):
                return False
        return True

    def reset(self) -> None:
        """End with RST instead of FIN."""
        self._peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._peer.close()

    def drop(self) -> None:
        """Wake whoever reads or writes here."""
        try:
            self._peer.shutdown(socket.SHUT_RDWR)
        except OSError:
            return

    def close(self) -> None:
        self._peer.close()


def head(status: int, headers: dict[str, str]) -> bytes:
    """The status line and the headers."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Unknown"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
