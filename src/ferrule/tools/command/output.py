"""The output of a command while it streams: cleaned, its beginning and end kept, the whole of it in a blob."""

import codecs
import re
from collections import deque
from collections.abc import Callable
from functools import partial

from ferrule.store.protocol import Blobs, BlobWriter
from ferrule.types.errors import StoreError

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
_STRAY = re.compile("[\udc80-\udcff]")
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
            replaced, bad = _STRAY.subn("\N{REPLACEMENT CHARACTER}", text)
            self.bad += bad
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
        self._lost = ""
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
            self._storing(self._finish)

    def discard(self) -> None:
        """Drop a blob that was begun, for a call that does not end."""
        if self._writer:
            self._writer.discard()
            self._writer = None

    def text(self) -> str:
        """Everything, or beginning and end with a line between them that says what is left out and where the whole is."""
        if self.digest is None and not self._lost:
            return self._head + "".join(self._tail)
        whole_tail = "".join(self._tail)[-KEPT:]
        tail = whole_tail[whole_tail.find("\n") + 1 :] if "\n" in whole_tail[:-1] else whole_tail
        head = self._head[: self._head.rfind("\n") + 1] or self._head
        left = self._size - len(head) - len(tail)
        whole = f"the whole output is blob {self.digest}" if self.digest else f"they could not be stored: {self._lost}"
        note = f"[… {left:,} of {self._size:,} characters left out; {whole} …]\n"
        return head + ("" if head.endswith("\n") else "\n") + note + tail

    def _keep(self, text: str) -> None:
        if not text:
            return
        self._size += len(text)
        if self._writer:
            self._storing(partial(self._writer.write, text.encode()))
        if len(self._head) < KEPT:
            room = KEPT - len(self._head)
            self._head, text = self._head + text[:room], text[room:]
        if text:
            self._tail.append(text)
            self._tail_size += len(text)
        if self._writer is None and not self._lost and self._tail_size > KEPT:
            self._storing(self._begin)
        self._trim()

    def _begin(self) -> None:
        self._writer = self._blobs.writer()
        self._writer.write((self._head + "".join(self._tail)).encode())

    def _finish(self) -> None:
        if self._writer:
            self.digest = self._writer.finish()
            self._writer = None

    def _storing(self, step: Callable[[], None]) -> None:
        """A full disk costs the middle of the output, not the command that is running."""
        try:
            step()
        except StoreError as problem:
            self._lost = str(problem)
            self.discard()

    def _trim(self) -> None:
        if self._tail and len(self._tail[-1]) > 2 * KEPT:
            self._tail = deque([self._tail[-1][-KEPT:]])
            self._tail_size = KEPT
        while self._tail and self._tail_size - len(self._tail[0]) >= KEPT:
            self._tail_size -= len(self._tail.popleft())


def _settled(text: str) -> str:
    """Whole lines as a terminal would leave them: the last state of what was overwritten, no control characters."""
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    if "\b" in text:
        text = _erased(text)
    return _CONTROL.sub("", text)


def _erased(text: str) -> str:
    """Backspaces take away the character before them."""
    kept: list[str] = []
    for character in text:
        if character != "\b":
            kept.append(character)
        elif kept and kept[-1] != "\n":
            kept.pop()
    return "".join(kept)
