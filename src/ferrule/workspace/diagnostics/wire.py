"""Messages of JSON-RPC as language servers write them: a header with their length, then JSON."""

from typing import Any

import msgspec

LARGEST = 64_000_000
"""Bytes of one message."""


class Garbled(Exception):
    """What a server wrote is no message; the text says why."""


def framed(message: dict[str, Any]) -> bytes:
    body = msgspec.json.encode(message)
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


class Frames:
    """Takes bytes as they come and gives whole messages."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._length: int | None = None

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Raises Garbled; nothing may be fed afterwards."""
        self._kept += data
        messages: list[dict[str, Any]] = []
        while (body := self._body()) is not None:
            try:
                messages.append(msgspec.json.decode(body, type=dict[str, Any]))
            except (msgspec.DecodeError, UnicodeDecodeError) as problem:
                raise Garbled(f"wrote a message that is not JSON: {problem}") from problem
        return messages

    def _body(self) -> bytes | None:
        if self._length is None:
            end = self._kept.find(b"\r\n\r\n")
            if end < 0:
                if len(self._kept) > 4096:
                    raise Garbled(f"wrote {bytes(self._kept[:40])!r} where a header belongs")
                return None
            self._length = _length(bytes(self._kept[:end]))
            del self._kept[: end + 4]
        if len(self._kept) < self._length:
            return None
        body = bytes(self._kept[: self._length])
        del self._kept[: self._length]
        self._length = None
        return body


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            length = int(value)
            if length > LARGEST:
                raise Garbled(f"wrote a message of {length} bytes")
            return length
    raise Garbled(f"wrote {head[:40]!r} where a header belongs")
