"""Documents as lines of text, made by a child process and kept while the file stays as it is."""

import os
from collections import OrderedDict
from pathlib import Path
from threading import Lock

from msgspec import Struct

from .child import Hands, Unshowable, ask
from .kinds import NAMES, SNIFFED, Kind, kind_of
from .regular import open_regular

LARGEST = 104_857_600
"""Bytes of a document that is read."""
TEXT = 8_000_000
"""Characters kept of one document."""


class Document(Struct, frozen=True):
    """`facts` is a line about it: its kind, how much it holds, what was left out."""

    facts: str
    lines: tuple[str, ...]


class Documents:
    """The documents read last. One for each session."""

    def __init__(self, kept: int = 4) -> None:
        self._kept = kept
        self._documents: OrderedDict[tuple[str, int, int, int, int], Document] = OrderedDict()
        self._lock = Lock()

    async def read(self, path: Path, kind: Kind, hands: Hands) -> Document:
        """Raises Unshowable, OSError."""
        info = path.stat()
        key = (str(path), info.st_dev, info.st_ino, info.st_mtime_ns, info.st_size)
        with self._lock:
            document = self._documents.pop(key, None)
        if document is None:
            if info.st_size > LARGEST:
                raise Unshowable(f"it has {info.st_size:,} bytes, more than {LARGEST:,}")
            facts, data = await ask(kind, path, hands)
            document = _document(f"{NAMES[kind]}, {facts}", data.decode("utf-8", "backslashreplace"))
        with self._lock:
            self._documents[key] = document
            while len(self._documents) > self._kept:
                self._documents.popitem(last=False)
        return document


def sniffed(path: Path) -> Kind | None:
    """The kind of a file by what it begins with. Raises Unreadable, OSError."""
    fd = open_regular(path)
    try:
        return kind_of(path, os.pread(fd, SNIFFED, 0))
    finally:
        os.close(fd)


def _document(facts: str, text: str) -> Document:
    if len(text) > TEXT:
        facts += f"; what lies behind {TEXT:,} characters is left out"
        text = text[:TEXT]
    return Document(facts, tuple(text.replace("\0", "\\x00").removesuffix("\n").split("\n")) if text else ())
