"""The output of a command while it streams: cleaned, its beginning and end kept, the whole of it in a blob."""

import codecs
import re
from collections import deque

from ferrule.store.protocol import Blobs, BlobWriter

KEPT = 8_192
"""Characters kept of the beginning, and as many of the end."""
UNFINISHED = 65_536
"""Characters of a line without an end that are held back for cleaning."""

_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movements
    r"|[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, DCS, PM, APC, SOS: titles, links
    r"|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])"
)
_OPEN_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]P^_X][^\x07\x1b]*\x1b?|[ -/]*)\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")


class Decoder:
    """Bytes to text without escape sequences; bad bytes become U+FFFD and are counted."""

    def __init__(self) -> None:
        self._utf8 = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._held = ""
        self.bad = 0

    def feed(self, data: bytes, final: bool = False) -> str:
        text = self._held + self._readable(self._utf8.decode(data, final))
        self._held = ""
        if "\x1b" in text:
            if not final and (opened := _OPEN_ESCAPE.search(text)) and len(text) - opened.start() < UNFINISHED:
                text, self._held = text[: opened.start()], text[opened.start() :]
            text = _ESCAPE.sub("", text)
            if final:
                text = _OPEN_ESCAPE.sub("", text)
        return text

    def _readable(self, text: str) -> str:
        try:
            text.encode()
            return text
        except UnicodeEncodeError:
            replaced = re.sub("[\udc80-\udcff]", "\N{REPLACEMENT CHARACTER}", text)
            self.bad += sum(1 for old, new in zip(text, replaced, strict=True) if old != new)
            return replaced


class Output:
    """Collects a command's output in bounded memory. `feed` takes what Decoder gives; `finish` before `text`."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._line = ""
        self._head = ""
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._size = 0
        self._writer: BlobWriter | None = None
        self.digest: str | None = None

    def feed(self, text: str) -> None:
        text = self._line + text
        end = text.rfind("\n") + 1
        if end:
            self._keep(_settled(text[:end]))
        self._line = text[end:]
        if len(self._line) > UNFINISHED:
            last = self._line.rfind("\r", 0, -1) + 1
            if last:
                self._line = self._line[last:]
            if len(self._line) > UNFINISHED:
                self._keep(_settled(self._line))
                self._line = ""

    def finish(self) -> None:
        self._keep(_settled(self._line))
        self._line = ""
        if self._writer:
            self.digest = self._writer.finish()
            self._writer = None

    def discard(self) -> None:
        """Drop a blob that was begun, for a call that does not end."""
        if self._writer:
            self._writer.discard()
            self._writer = None

    def text(self) -> str:
        """Everything, or beginning and end with a line between them that says what is left out and where the whole is."""
        if self.digest is None:
            return self._head + "".join(self._tail)
        whole_tail = "".join(self._tail)[-KEPT:]
        tail = whole_tail[whole_tail.find("\n") + 1 :] if "\n" in whole_tail[:-1] else whole_tail
        head = self._head[: self._head.rfind("\n") + 1] or self._head
        left = self._size - len(head) - len(tail)
        note = f"[… {left:,} of {self._size:,} characters left out; the whole output is blob {self.digest} …]\n"
        return head + ("" if head.endswith("\n") else "\n") + note + tail

    def _keep(self, text: str) -> None:
        if not text:
            return
        self._size += len(text)
        if self._writer:
            self._writer.write(text.encode())
        if len(self._head) < KEPT:
            room = KEPT - len(self._head)
            self._head, text = self._head + text[:room], text[room:]
        if text:
            self._tail.append(text)
            self._tail_size += len(text)
        if self._writer is None and self._tail_size > KEPT:
            self._writer = self._blobs.writer()
            self._writer.write((self._head + "".join(self._tail)).encode())
        self._trim()

    def _trim(self) -> None:
        if self._tail and len(self._tail[-1]) > 2 * KEPT and self._writer:
            self._tail = deque([self._tail[-1][-KEPT:]])
            self._tail_size = KEPT
        while self._tail and self._tail_size - len(self._tail[0]) >= KEPT:
            self._tail_size -= len(self._tail.popleft())


def _settled(text: str) -> str:
    """Whole lines as a terminal would leave them: the last state of what was overwritten, no control characters."""
    if "\r" in text:
        text = re.sub(r"\r+(?=\n|\Z)", "", text)
        text = re.sub(r"[^\n]*\r", "", text)
    return _CONTROL.sub("", _erased(text)) if _CONTROL.search(text) else text


def _erased(text: str) -> str:
    """Backspaces take away the character before them."""
    while "\b" in text:
        shorter = re.sub(r"[^\n\x08]\x08", "", text)
        if shorter == text:
            break
        text = shorter
    return text
