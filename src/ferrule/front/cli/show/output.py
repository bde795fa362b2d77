"""Writing to standard output and error so that a reader who goes away does no harm."""

import os
import sys
from typing import TextIO

import msgspec
from msgspec import Struct

from ferrule.types.result import RunResult, TaskEvent


class Pipe:
    """One of the standard streams. After the reader has gone, `open` is False and writing does nothing.

    `problem` says why else nothing can be written (a full disk).
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.stream = stream
        self.open = stream is not None
        self.problem = ""

    def text(self, text: str) -> None:
        """Text in the stream's encoding; what it cannot spell is escaped."""
        encoding = (self.stream.encoding if self.stream is not None else None) or "utf-8"
        self.bytes(text.encode(encoding, "backslashreplace"))

    def bytes(self, data: bytes) -> None:
        if not self.open or self.stream is None:
            return
        try:
            self.stream.flush()
            self.stream.buffer.write(data)
            self.stream.buffer.flush()
        except OSError as error:
            self.open = False
            self.problem = "" if isinstance(error, BrokenPipeError) else str(error.strerror)
            _silence(self.stream)


def standard_output() -> Pipe:
    return Pipe(sys.stdout)


def standard_error() -> Pipe:
    return Pipe(sys.stderr)


def deliver(answer: str | bytes, code: int = 0) -> int:
    """Write a command's whole answer to standard output; the exit code is `code`, or 1 where it could not be written."""
    out = standard_output()
    out.bytes(answer) if isinstance(answer, bytes) else out.text(answer)
    if not out.problem:
        return code
    standard_error().text(f"ferrule: standard output cannot be written: {out.problem}\n")
    return code or 1


def _silence(stream: TextIO) -> None:
    """Put /dev/null in the place of a pipe without a reader, so that nothing fails when the interpreter flushes at its end."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
    except (OSError, ValueError):
        return


class SessionEvent(Struct, frozen=True, tag="session"):
    """The first line of `stream-json`."""

    schema_version: int
    ferrule: str
    session_id: str | None
    task_id: str
    model: str
    cwd: str
    tools: tuple[str, ...]


def event_line(event: TaskEvent | SessionEvent) -> bytes:
    return msgspec.json.encode(event) + b"\n"


def result_json(result: RunResult) -> bytes:
    return msgspec.json.encode(result) + b"\n"


def result_line(result: RunResult) -> bytes:
    """The last line of `stream-json`: the result with its type in front."""
    return b'{"type":"result",' + msgspec.json.encode(result)[1:] + b"\n"
