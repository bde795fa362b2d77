"""Sending a stream of frames, and letting a fault strike in it."""

from collections.abc import Iterable

from ferrule.providers.scripted.faults import Cut, Http, Reset, Stall, StreamError
from ferrule.providers.scripted.script import Step

from .connection import Connection, head
from .spelling import Frame, spell

BLOCK = 32_768


class Body:
    """A chunked body. Bytes are collected into blocks unless `piece` or a delay asks for small ones.

    `limit` is the number of bytes after which the fault strikes; `full` says that they are sent.
    """

    def __init__(self, connection: Connection, piece: int | None, limit: int | None) -> None:
        self._connection = connection
        self._piece = piece
        self._limit = limit
        self._waiting = bytearray()
        self._sent = 0

    @property
    def full(self) -> bool:
        return self._limit is not None and self._sent + len(self._waiting) >= self._limit

    def write(self, data: bytes) -> bytes:
        """Take what fits under the limit; return the rest."""
        room = len(data) if self._limit is None else self._limit - self._sent - len(self._waiting)
        self._waiting += data[:room]
        if len(self._waiting) >= BLOCK:
            self.flush()
        return data[room:]

    def flush(self) -> None:
        data, self._waiting = bytes(self._waiting), bytearray()
        self._sent += len(data)
        if not data:
            return
        size = self._piece or len(data)
        for start in range(0, len(data), size):
            part = data[start : start + size]
            self._connection.send(b"%x\r\n%b\r\n" % (len(part), part))

    def unlimited(self) -> None:
        self._limit = None

    def end(self) -> None:
        self.flush()
        self._connection.send(b"0\r\n\r\n")


def send_answer(
    connection: Connection,
    headers: dict[str, str],
    frames: Iterable[Frame],
    breaking: tuple[Frame, ...],
    step: Step,
    border: int | None,
) -> bool:
    """Play the frames and the step's fault; whether the connection is still good for another request."""
    fault = step.fault
    assert not isinstance(fault, Http)
    if fault and fault.at == "headers" and fault.bytes is None and not isinstance(fault, StreamError):
        if isinstance(fault, Reset):
            connection.reset()
        if not isinstance(fault, Stall) or not connection.wait(fault.seconds):
            return False
        fault = None
    connection.send(head(200, {**headers, "Transfer-Encoding": "chunked"}))
    body = Body(connection, step.wire.bytes, fault.bytes if fault else None)
    early = fault is not None and fault.at in ("start", "headers")
    for frame in frames:
        rest = b""
        over = fault and fault.bytes is None and (early or frame.last or (border is not None and frame.spoken > border))
        if not over:
            rest = body.write(spell(frame, step.wire))
        if fault and (over or body.full):
            body.flush()
            if not isinstance(fault, Stall):
                return _strike(connection, body, fault, breaking, step)
            if not connection.wait(fault.seconds):
                return False
            body.unlimited()
            body.write(spell(frame, step.wire) if over else rest)
            fault = None
        if step.delay:
            body.flush()
            if not connection.wait(step.delay):
                return False
    body.end()
    return True


def _strike(
    connection: Connection, body: Body, fault: Cut | Reset | StreamError, breaking: tuple[Frame, ...], step: Step
) -> bool:
    match fault:
        case Reset():
            connection.wait(0.05)
            connection.reset()
            return False
        case Cut(how="drop"):
            return False
        case StreamError():
            body.unlimited()
            for frame in breaking:
                body.write(spell(frame, step.wire))
            body.end()
            return True
        case Cut():
            body.end()
            return True
