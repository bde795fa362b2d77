"""Server-sent events out of bytes, whatever the framing: any chunking, LF, CR or CRLF, comments, several data lines, a byte
order mark, a missing blank line at the end.

After the HTML standard, section 9.2 (server-sent events), but for one rule: an event that the end of the stream leaves without
its blank line is handed out, because many servers forget it.
"""

from typing import NamedTuple


class ServerEvent(NamedTuple):
    """One event. `name` is empty unless an `event:` line gave one; `data` is the data lines joined by line feeds."""

    name: str
    data: bytes


class SseDecoder:
    """Linear in the bytes fed: a line that comes in pieces is joined once."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._after_cr = False
        self._first = True
        self._name = ""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events that `chunk` completes."""
        if self._after_cr and chunk[:1] == b"\n":
            chunk = chunk[1:]
            self._after_cr = False
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        events: list[ServerEvent] = []
        for line in chunk.splitlines(keepends=True):
            if line[-1] not in b"\r\n":
                self._pieces.append(line)
                continue
            line = line.rstrip(b"\r\n")
            if self._pieces:
                line = b"".join((*self._pieces, line))
                self._pieces.clear()
            self._line(line, events)
        return events

    def end(self) -> list[ServerEvent]:
        """The event that was open when the stream ended, if it has data."""
        events: list[ServerEvent] = []
        self._line(b"".join(self._pieces), events)
        self._pieces.clear()
        self._line(b"", events)
        return events

    def _line(self, line: bytes, events: list[ServerEvent]) -> None:
        if self._first:
            self._first = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            if self._data:
                events.append(ServerEvent(self._name, b"\n".join(self._data)))
            self._name, self._data = "", []
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match field:
            case b"data":
                self._data.append(value)
            case b"event":
                self._name = value.decode(errors="replace")
            case _:
                pass
