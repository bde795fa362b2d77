"""Pages of lines from files of any size, read from disk with a sparse index and never as a whole.

The index counts the line feeds before every block of a file, so that a later page starts where it stands. Lines end at `\\n`
alone; a `\\r` before it is not shown; a `\\n` at the end of the file begins no further line.
"""

import codecs
import os
import stat
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

from msgspec import Struct

from .encoding import UTF_8, Encoding, is_binary, marked, readable

BLOCK = 131_072
"""Bytes between two entries of a new index; doubled whenever the index would outgrow BLOCKS."""
BLOCKS = 65_536
CHUNK = 524288
LINE_LIMIT = 2_000
"""Characters shown of one line."""
PAGE_LIMIT = 256_000
"""Characters of one page; a page holds at least one line."""
COUNTED_AHEAD = 33_554_432
"""The number of all lines is told when no more than these bytes lie behind the page."""


class Unreadable(Exception):
    """Not a text file; the text says what it is."""


class Page(Struct, frozen=True):
    """Lines `first` to `first + len(lines) - 1`. `total` is None where counting would be slow; `cut` holds shortened lines."""

    first: int
    lines: tuple[str, ...]
    more: bool
    total: int | None
    cut: tuple[int, ...]
    encoding: Encoding

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1


class LineReader:
    """Reads pages and keeps the indexes of the files read last. One for each session; safe to use from several threads.

    `block` is the distance of index entries in bytes, a multiple of 4.
    """

    def __init__(self, kept: int = 16, block: int = BLOCK) -> None:
        self._kept = kept
        self._block = block
        self._indexes: OrderedDict[tuple[str, int, int, int, int], LineIndex] = OrderedDict()
        self._lock = Lock()

    def page(self, path: Path, offset: int = 1, limit: int = 2_000) -> Page:
        """Up to `limit` lines from line `offset` (1-based).

        An offset past the end gives a page without lines whose `total` is known. Raises Unreadable, OSError.
        """
        fd = _open_regular(path)
        try:
            index = self._index(path, fd)
            with index.lock:
                return index.page(fd, offset, limit)
        finally:
            os.close(fd)

    def _index(self, path: Path, fd: int) -> "LineIndex":
        info = os.fstat(fd)
        key = (str(path), info.st_dev, info.st_ino, info.st_mtime_ns, info.st_size)
        with self._lock:
            index = self._indexes.pop(key, None) or LineIndex(_sniff(fd), self._block)
            if info.st_size:  # what a kernel makes up as it is read (/proc) has no size and changes without a trace
                self._indexes[key] = index
            while len(self._indexes) > self._kept:
                self._indexes.popitem(last=False)
            return index


class LineIndex:
    """How many line feeds stand before every block of one state of one file; grows as far as pages were asked for."""

    def __init__(self, encoding: Encoding, block: int) -> None:
        self.lock = Lock()
        self._encoding = encoding
        self._step = block
        self._before = array("Q", [0])  # _before[i]: line feeds in the body's first i blocks
        self._end: int | None = None
        self._total = 0

    def page(self, fd: int, offset: int, limit: int) -> Page:
        start = self._start_of(fd, offset)
        if start is None:
            return Page(offset, (), False, self._total, (), self._encoding)
        raw, cut, more = _take(_chunks(fd, start, self._encoding), limit)
        if not raw:
            self._count(fd, None)
            return Page(offset, (), False, self._total, (), self._encoding)
        text, guessed = readable(b"\n".join(raw))
        # One character more than is shown tells that a line was longer.
        lines, more = _fit([line[: LINE_LIMIT + 1] for line in text.split("\n")], more)
        shortened = tuple(offset + i for i in range(len(lines)) if i in cut or len(lines[i]) > LINE_LIMIT)
        encoding = guessed if self._encoding is UTF_8 else self._encoding
        total = self._all_lines(fd, start) if more else offset + len(lines) - 1
        return Page(offset, tuple(line[:LINE_LIMIT] for line in lines), more, total, shortened, encoding)

    def _all_lines(self, fd: int, start: int) -> int | None:
        if self._end is None and os.fstat(fd).st_size - start <= COUNTED_AHEAD:
            self._count(fd, None)
        return None if self._end is None else self._total

    def _start_of(self, fd: int, line: int) -> int | None:
        """The byte at which a line starts, None when the file is known to be shorter."""
        body = len(self._encoding.bom)
        feeds = line - 1
        if feeds == 0:
            return body
        self._count(fd, feeds)
        if self._before[-1] < feeds:
            return None
        block = bisect_left(self._before, feeds) - 1
        start = body + block * self._step
        return start + self._after_feed(os.pread(fd, self._step, start), feeds - self._before[block])

    def _count(self, fd: int, feeds: int | None) -> None:
        """Extend the index until `feeds` line feeds are known or the file ends."""
        buffer = bytearray(max(CHUNK, self._step))
        view = memoryview(buffer)
        while self._end is None and (feeds is None or self._before[-1] < feeds):
            start = len(self._encoding.bom) + (len(self._before) - 1) * self._step
            size = _fill(fd, view[: len(buffer) // self._step * self._step], start)
            for at in range(0, size, self._step):
                self._before.append(self._before[-1] + self._feeds(buffer, at, min(at + self._step, size)))
            if size < len(buffer) // self._step * self._step:
                self._end = start + size
                self._total = self._before[-1] + self._unfinished(fd)
            elif len(self._before) > BLOCKS:
                self._before, self._step = self._before[::2], self._step * 2
                buffer = bytearray(max(CHUNK, self._step))
                view = memoryview(buffer)

    def _unfinished(self, fd: int) -> int:
        """1 when the last line lacks its line feed."""
        body, end = len(self._encoding.bom), self._end or 0
        if end <= body:
            return 0
        feed = "\n".encode(self._encoding.codec)
        return int(os.pread(fd, len(feed), max(body, end - len(feed))) != feed)

    def _feeds(self, buffer: bytearray, start: int, end: int) -> int:
        if not self._encoding.wide:
            return buffer.count(b"\n", start, end)
        return self._decoded(bytes(buffer[start:end])).count("\n")

    def _after_feed(self, block: bytes, number: int) -> int:
        """The position behind the `number`-th line feed of a block."""
        at = 0
        if not self._encoding.wide:
            for _ in range(number):
                at = block.index(b"\n", at) + 1
            return at
        text = self._decoded(block)
        for _ in range(number):
            at = text.index("\n", at) + 1
        return len(text[:at].encode(self._encoding.codec, "surrogatepass"))

    def _decoded(self, block: bytes) -> str:
        """A block of a wide encoding, with lone surrogates as they are, so that positions stay true."""
        unit = 4 if "32" in self._encoding.codec else 2
        whole = block[: len(block) // unit * unit]
        try:
            return whole.decode(self._encoding.codec, "surrogatepass")
        except UnicodeDecodeError as problem:
            raise Unreadable(f"it starts with the mark of {self._encoding.label} but is malformed") from problem


def _open_regular(path: Path) -> int:
    """Open a regular file; never waits for a FIFO and never touches a device."""
    _refuse_special(path.stat().st_mode)
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _refuse_special(os.fstat(fd).st_mode)
    except Unreadable:
        os.close(fd)
        raise
    return fd


def _refuse_special(mode: int) -> None:
    kinds = (
        (stat.S_ISDIR, "it is a directory; use list_files"),
        (stat.S_ISFIFO, "it is a named pipe, not a file"),
        (stat.S_ISSOCK, "it is a socket, not a file"),
        (stat.S_ISCHR, "it is a character device, not a file"),
        (stat.S_ISBLK, "it is a block device, not a file"),
    )
    for holds, what in kinds:
        if holds(mode):
            raise Unreadable(what)


def _sniff(fd: int) -> Encoding:
    head = os.pread(fd, 65_536, 0)
    if is_binary(head):
        raise Unreadable("it is a binary file (it holds NUL bytes)")
    return marked(head) or UTF_8


def _fill(fd: int, view: memoryview, start: int) -> int:
    """Read until the view is full or the file ends; the number of bytes read."""
    filled = 0
    while filled < len(view):
        size = os.preadv(fd, [view[filled:]], start + filled)
        if not size:
            break
        filled += size
    return filled


def _chunks(fd: int, start: int, encoding: Encoding) -> Iterator[bytes]:
    """The file from a byte on, in chunks whose line feeds are single bytes."""
    decoder = codecs.getincrementaldecoder(encoding.codec)("backslashreplace") if encoding.wide else None
    while data := os.pread(fd, BLOCK, start):
        start += len(data)
        yield decoder.decode(data).encode() if decoder else data
    if decoder and (rest := decoder.decode(b"", final=True)):
        yield rest.encode()


def _take(chunks: Iterator[bytes], limit: int) -> tuple[list[bytes], set[int], bool]:
    """Up to `limit` lines, the numbers (from 0) of those of which only the beginning was kept, and whether more follows."""
    keep = LINE_LIMIT * 4 + 4
    lines: list[bytes] = []
    cut: set[int] = set()
    size, current, begun = 0, b"", False
    for chunk in chunks:
        at = 0
        while at < len(chunk):
            if len(lines) == limit or size > PAGE_LIMIT * 4:
                return lines, cut, True
            end = chunk.find(b"\n", at)
            stop = len(chunk) if end < 0 else end
            current += chunk[at : min(stop, at + keep - len(current) + 1)]
            begun = True
            if len(current) > keep:
                cut.add(len(lines))
                current = current[:keep]
            at = stop + 1
            if end >= 0:
                lines.append(_whole(current, len(lines) in cut))
                size += len(current)
                current, begun = b"", False
    if begun:
        lines.append(_whole(current, len(lines) in cut))
    return lines, cut, False


def _whole(line: bytes, cut: bool) -> bytes:
    """A line without its `\\r`; a cut one without the character that the cut broke."""
    if not cut:
        return line.removesuffix(b"\r")
    for back in range(1, 4):
        if line[-back] & 0xC0 == 0xC0:
            return line[:-back]
        if line[-back] < 0x80:
            break
    return line


def _fit(lines: list[str], more: bool) -> tuple[list[str], bool]:
    """The lines that a page has room for."""
    size = 0
    for number, line in enumerate(lines):
        size += len(line)
        if size > PAGE_LIMIT and number:
            return lines[:number], True
    return lines, more
