"""Sending a stream of frames, and letting a fault strike in it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ferrule.providers.scripted.faults import Cut, Http, Placed, Reset, Stall, StreamError
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


@dataclass(frozen=True)
class Play:
    """One answer on its way. `border` is the character at which the fault strikes; `ending` is called before the last bytes."""

    connection: Connection
    headers: dict[str, str]
    frames: Iterable[Frame]
    broken: Iterable[Frame]
    step: Step
    border: int | None
    ending: Callable[[], None]

    def send(self) -> bool:
        """Send all frames, with the step's fault; whether the connection is still good for another request.

        A fault strikes between two frames, or in the middle of one whose content cannot be sent in pieces.
        """
        fault = self.step.fault
        assert not isinstance(fault, Http)
        if fault and fault.at == "headers" and fault.bytes is None and not isinstance(fault, StreamError):
            if not isinstance(fault, Stall):
                return self._gone(fault)
            if not self.connection.wait(fault.seconds):
                return False
            fault = None
        self.connection.send(head(200, {**self.headers, "Transfer-Encoding": "chunked"}))
        body = Body(self.connection, self.step.wire.bytes, fault.bytes if fault else None)
        spoken = 0
        for frame in self.frames:
            rest = spell(frame, self.step.wire)
            struck = fault is not None and fault.bytes is None and self._strikes(fault, frame)
            if struck and not frame.last and spoken < (self.border or 0) and not isinstance(fault, StreamError):
                body.write(rest[: len(rest) // 2])
                rest = rest[len(rest) // 2 :]
            elif not struck:
                rest = self._write(body, frame, rest)
            if fault and (struck or body.full):
                if not isinstance(fault, Stall):
                    return self._break(body, fault)
                body.flush()
                if not self.connection.wait(fault.seconds):
                    return False
                body.unlimited()
                self._write(body, frame, rest)
                fault = None
            spoken = max(spoken, frame.spoken)
            if self.step.delay and not frame.last:
                body.flush()
                if not self.connection.wait(self.step.delay):
                    return False
        self.ending()
        body.end()
        return True

    def _strikes(self, fault: Placed, frame: Frame) -> bool:
        return fault.at in ("start", "headers") or frame.last or (self.border is not None and frame.spoken > self.border)

    def _write(self, body: Body, frame: Frame, data: bytes) -> bytes:
        if frame.last:
            self.ending()
        return body.write(data)

    def _break(self, body: Body, fault: Cut | Reset | StreamError) -> bool:
        self.ending()
        body.flush()
        if isinstance(fault, StreamError):
            body.unlimited()
            for frame in self.broken:
                body.write(spell(frame, self.step.wire))
        elif isinstance(fault, Reset) or fault.how == "drop":
            return self._gone(fault)
        body.end()
        return True

    def _gone(self, fault: Cut | Reset) -> bool:
        """Leave without an end. What was sent before a reset is given the time to be read, or the kernel would drop it."""
        self.ending()
        if isinstance(fault, Reset):
            self.connection.wait(0.05 if fault.at != "headers" or fault.bytes is not None else 0)
            self.connection.reset()
        return False
