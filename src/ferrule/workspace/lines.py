"""Pages of lines from files of any size, read from disk with a sparse index and never as a whole.

The index counts the line feeds before every block of a file, so that a later page starts where it stands. Lines end at `\\n`
alone; a `\\r` before it is not shown; a `\\n` at the end of the file begins no further line. A file is read up to the size that
it had when it was opened: what is appended meanwhile belongs to the next page.
"""

import codecs
import os
import sys
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from msgspec import Struct

from .encoding import UTF_8, Encoding, guess, is_binary, marked, readable
from .reading.regular import Unreadable, fill, open_regular

BLOCK = 131_072
"""Bytes between two entries of a new index; doubled whenever the index would outgrow BLOCKS."""
BLOCKS = 65_536
CHUNK = 524288
ENDLESS = sys.maxsize
"""The size taken for what a kernel makes up as it is read (/proc), which says that it has none."""
LINE_LIMIT = 2_000
"""Characters shown of one line."""
PAGE_LIMIT = 256_000
"""Characters of one page; a page holds at least one line."""
COUNTED_AHEAD = 33_554_432
"""The number of all lines is told when no more than these bytes lie behind the page."""
PIECE = 20_000
"""Characters of one piece of a line that was cut."""
SPAN = 2_097_152
"""Bytes of a window before and behind the start of its line; a multiple of 4."""


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


class Window(Struct, frozen=True):
    """Lines `first` to `last` around one line, whole unless they are longer than the window.

    `ends`: its last line is that of the file. `total` as in a page; a window without lines tells that the line is past the end.
    """

    first: int
    lines: tuple[str, ...]
    ends: bool
    total: int | None
    encoding: Encoding

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1


class Piece(Struct, frozen=True):
    """Part of one line from a character on; `more` when the line goes on behind it."""

    text: str
    more: bool
    encoding: Encoding


class LineReader:
    """Reads pages and keeps the indexes of the files read last. One for each session; safe to use from several threads.

    `block` is the distance of index entries in bytes, a multiple of 4.
    """

    def __init__(self, kept: int = 16, block: int = BLOCK) -> None:
        self._kept = kept
        self._block = block
        self._indexes: OrderedDict[tuple[str, int, int, int, int], LineIndex] = OrderedDict()
        self._lock = Lock()

    def page(self, path: Path, offset: int = 1, limit: int = 2_000, room: int = PAGE_LIMIT) -> Page:
        """Up to `limit` lines and `room` characters, but at least one line, from line `offset` (1-based).

        An offset past the end gives a page without lines whose `total` is known. Raises Unreadable, OSError.
        """
        with self._opened(path) as (fd, index):
            return index.page(fd, offset, limit, room)

    def piece(self, path: Path, line: int, column: int, room: int = PIECE) -> Piece | None:
        """Up to `room` characters of a line from character `column` (1-based); None past the end of the file or line.

        Raises Unreadable, OSError.
        """
        with self._opened(path) as (fd, index):
            return index.piece(fd, line, column, room)

    def window(self, path: Path, line: int, span: int = SPAN) -> Window:
        """The lines around a line. Raises Unreadable, OSError."""
        with self._opened(path) as (fd, index):
            return index.window(fd, line, span)

    @contextmanager
    def _opened(self, path: Path) -> "Iterator[tuple[int, LineIndex]]":
        fd = open_regular(path)
        try:
            index = self._index(path, fd)
            with index.lock:
                yield fd, index
        finally:
            os.close(fd)

    def _index(self, path: Path, fd: int) -> "LineIndex":
        info = os.fstat(fd)
        key = (str(path), info.st_dev, info.st_ino, info.st_mtime_ns, info.st_size)
        with self._lock:
            index = self._indexes.pop(key, None) or LineIndex(_sniff(fd), self._block, info.st_size or ENDLESS)
            if info.st_size:  # what a kernel makes up as it is read (/proc) has no size and changes without a trace
                self._indexes[key] = index
            while len(self._indexes) > self._kept:
                self._indexes.popitem(last=False)
            return index


class LineIndex:
    """How many line feeds stand before every block of one state of one file; grows as far as pages were asked for."""

    def __init__(self, encoding: Encoding, block: int, size: int) -> None:
        self.lock = Lock()
        self._encoding = encoding
        self._size = size
        self._step = block
        self._before = array("Q", [0])  # _before[i]: line feeds in the body's first i blocks
        self._end: int | None = None
        self._total = 0

    def page(self, fd: int, offset: int, limit: int, room: int) -> Page:
        start = self._start_of(fd, offset)
        if start is None:
            return Page(offset, (), False, self._total, (), self._encoding)
        raw, cut, more = _take(self._chunks(fd, start), limit, room)
        if not raw:
            self._count(fd, None)
            return Page(offset, (), False, self._total, (), self._encoding)
        text, guessed = readable(b"\n".join(raw))
        # One character more than is shown tells that a line was longer.
        lines, more = _fit([line[: LINE_LIMIT + 1] for line in text.split("\n")], more, room)
        shortened = tuple(offset + i for i in range(len(lines)) if i in cut or len(lines[i]) > LINE_LIMIT)
        encoding = guessed if self._encoding is UTF_8 else self._encoding
        total = self._all_lines(fd, start) if more else offset + len(lines) - 1
        return Page(offset, tuple(line[:LINE_LIMIT] for line in lines), more, total, shortened, encoding)

    def piece(self, fd: int, line: int, column: int, room: int) -> Piece | None:
        start = self._start_of(fd, line)
        if start is None:
            return None
        skip, text, size = column - 1, [], 0
        encoding = self._encoding
        for decoded, guessed in _decoded_line(self._chunks(fd, start)):
            encoding = guessed if self._encoding is UTF_8 else self._encoding
            part = decoded[skip : skip + room + 1 - size]
            skip = max(0, skip - len(decoded))
            text.append(part)
            size += len(part)
            if size > room:
                break
        whole = "".join(text)
        return Piece(whole[:room], len(whole) > room, encoding) if whole else None

    def window(self, fd: int, line: int, span: int) -> Window:
        start = self._start_of(fd, line)
        body = len(self._encoding.bom)
        if start is None or start >= self._size or not os.pread(fd, 1, start):
            self._count(fd, None)
            return Window(line, (), True, self._total, self._encoding)
        begin, stop = max(body, start - span), min(self._size, start + span)
        data = memoryview(bytearray(stop - begin))
        data = data[: fill(fd, data, begin)]
        before, behind = self._narrow(data[: start - begin]), self._narrow(data[start - begin :])
        if begin > body:
            before = before[before.index(b"\n") + 1 :]
        ends = stop == self._size or len(data) < stop - begin
        if not ends:
            behind = behind[: behind.rfind(b"\n") + 1 or _whole_characters(behind)]
        text, guessed = readable(before + behind)
        *terminated, last = text.split("\n")
        shown = (*(each.removesuffix("\r") for each in terminated), *([last] if last else []))
        encoding = guessed if self._encoding is UTF_8 else self._encoding
        return Window(line - before.count(b"\n"), shown, ends, self._all_lines(fd, start), encoding)

    def _narrow(self, data: memoryview) -> bytes:
        """The same text with line feeds that are single bytes."""
        return str(data, self._encoding.codec, "backslashreplace").encode() if self._encoding.wide else bytes(data)

    def _chunks(self, fd: int, start: int) -> Iterator[bytes]:
        """The file from a byte on, in chunks whose line feeds are single bytes."""
        wide = self._encoding.wide
        decoder = codecs.getincrementaldecoder(self._encoding.codec)("backslashreplace") if wide else None
        while data := os.pread(fd, min(BLOCK, max(0, self._size - start)), start):
            start += len(data)
            yield decoder.decode(data).encode() if decoder else data
        if decoder and (rest := decoder.decode(b"", final=True)):
            yield rest.encode()

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
            wanted = len(buffer) // self._step * self._step
            size = fill(fd, view[: min(wanted, max(0, self._size - start))], start)
            for at in range(0, size, self._step):
                self._before.append(self._before[-1] + self._feeds(buffer, at, min(at + self._step, size)))
            if size < wanted:
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
        try:
            if not self._encoding.wide:
                for _ in range(number):
                    at = block.index(b"\n", at) + 1
                return at
            text = self._decoded(block)
            for _ in range(number):
                at = text.index("\n", at) + 1
        except ValueError:
            raise Unreadable("it changed while it was read; read it again") from None
        return len(text[:at].encode(self._encoding.codec, "surrogatepass"))

    def _decoded(self, block: bytes) -> str:
        """A block of a wide encoding, with lone surrogates as they are, so that positions stay true."""
        unit = 4 if "32" in self._encoding.codec else 2
        whole = block[: len(block) // unit * unit]
        try:
            return whole.decode(self._encoding.codec, "surrogatepass")
        except UnicodeDecodeError as problem:
            raise Unreadable(f"it starts with the mark of {self._encoding.label} but is malformed") from problem


def _sniff(fd: int) -> Encoding:
    head = os.pread(fd, 65_536, 0)
    if is_binary(head):
        raise Unreadable("it is a binary file (it holds NUL bytes)")
    return marked(head) or UTF_8


def _decoded_line(chunks: Iterator[bytes]) -> Iterator[tuple[str, Encoding]]:
    """One line as it is shown, in pieces, each with the encoding that the first of them seemed to have."""
    decoder, encoding, held = None, UTF_8, ""
    for chunk in chunks:
        line, feed, _ = chunk.partition(b"\n")
        if decoder is None:
            encoding = guess(line if feed else line[: _whole_characters(line)])
            decoder = codecs.getincrementaldecoder(encoding.codec)("backslashreplace")
        text = held + decoder.decode(line, final=bool(feed)).replace("\0", "\\x00")
        if feed:
            yield text.removesuffix("\r"), encoding
            return
        held = text[len(text.rstrip("\r")) :]  # the next chunk may begin with the line feed that belongs to it
        yield text[: len(text) - len(held)], encoding
    if decoder and (rest := held + decoder.decode(b"", final=True)):
        yield rest, encoding


def _whole_characters(data: bytes) -> int:
    """The length of UTF-8 without a character that its end breaks off."""
    return codecs.utf_8_decode(data, "replace", False)[1]


def _take(chunks: Iterator[bytes], limit: int, room: int) -> tuple[list[bytes], set[int], bool]:
    """Up to `limit` lines, the numbers (from 0) of those of which only the beginning was kept, and whether more follows."""
    keep = LINE_LIMIT * 4 + 4
    lines: list[bytes] = []
    cut: set[int] = set()
    size, current, begun = 0, b"", False
    for chunk in chunks:
        at = 0
        while at < len(chunk):
            if len(lines) == limit or size > room * 4:
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
        lines.append(_characters(current) if len(lines) in cut else current)
    return lines, cut, False


def _whole(line: bytes, cut: bool) -> bytes:
    """A line without its `\\r`; a cut one without the character that the cut broke."""
    return _characters(line) if cut else line.removesuffix(b"\r")


def _characters(line: bytes) -> bytes:
    for back in range(1, 4):
        if line[-back] & 0xC0 == 0xC0:
            return line[:-back]
        if line[-back] < 0x80:
            break
    return line


def _fit(lines: list[str], more: bool, room: int) -> tuple[list[str], bool]:
    """The lines that a page has room for."""
    size = 0
    for number, line in enumerate(lines):
        size += len(line)
        if size > room and number:
            return lines[:number], True
    return lines, more
