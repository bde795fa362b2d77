"""The output of a command while it streams: as a terminal would leave it, beginning and end kept, the whole of it in a blob."""

from collections import deque
from collections.abc import Callable
from functools import partial

from ferrule.store.protocol import Blobs, BlobWriter
from ferrule.types.errors import StoreError

from .screen import Screen

KEPT = 8_192
"""Characters kept of the beginning, and as many of the end."""


class Output:
    """Collects a command's output in bounded memory. `feed` takes what Decoder gives; `finish` ends it.

    `digest` is the blob's, once there is one.
    """

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._screen = Screen()
        self._head = ""
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._size = 0
        self._writer: BlobWriter | None = None
        self._lost = ""
        self.digest: str | None = None

    @property
    def cut(self) -> bool:
        """Whether `text` leaves something out."""
        kept, size = len(self._head) + self._tail_size, self._size
        return size > kept or size + len(self._screen.rest()) > 3 * KEPT

    @property
    def ending(self) -> str:
        """The last line with anything in it, and its end if it has one."""
        text = self._screen.rest()
        text = text if text.strip("\n") else "".join(self._tail)[-KEPT:] or self._head
        line = text.rstrip("\n").rpartition("\n")[2]
        return line + ("\n" if text.endswith("\n") else "")

    def feed(self, text: str) -> None:
        self._keep(self._screen.feed(text))

    def finish(self) -> None:
        self._keep(self._screen.finish())
        if self._writer and not self._size:
            self.discard()
        if self._writer:
            self._storing(self._finish)

    def keep(self) -> None:
        """From here on the whole goes to a blob, however short it is; `slice` gives parts of it as the blob will hold them."""
        if self._writer is None and not self._lost:
            self._storing(self._begin)

    def discard(self) -> None:
        """Drop a blob that was begun, for a call that does not end."""
        if self._writer:
            self._writer.discard()
            self._writer = None

    def text(self, where: str = "") -> str:
        """Everything, or beginning and end with a line between them that says what is left out and `where` it can be read."""
        rest = self._screen.rest()
        if not self.cut:
            return self._head + "".join(self._tail) + rest
        whole_tail = ("".join(self._tail) + rest)[-KEPT:]
        tail = whole_tail[whole_tail.find("\n") + 1 :] if "\n" in whole_tail[:-1] else whole_tail
        head = self._head[: self._head.rfind("\n") + 1] or self._head
        size = self._size + len(rest)
        why = f"they could not be stored: {self._lost}" if self._lost else where
        note = f"[… {size - len(head) - len(tail):,} of {size:,} characters left out{f'; {why}' if why else ''} …]\n"
        return head + ("" if head.endswith("\n") else "\n") + note + tail

    def slice(self, offset: int, limit: int) -> tuple[bytes, int]:
        """At most so many bytes of the whole from `offset`, as it is so far, and its size. Raises StoreError."""
        rest = self._screen.rest().encode()
        if self.digest is not None:
            return self._blobs.read(self.digest, offset, limit), self._blobs.size(self.digest)
        if self._writer is not None:
            return self._writer.so_far(offset, limit, rest)
        if self._lost:
            raise StoreError(self._lost)
        return b"", 0

    def settled(self, size: int) -> int:
        """How many of `size` bytes can no longer change."""
        return max(0, size - len(self._screen.rest().encode()))

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
