"""Bringing the index of a project up to date: only files whose time or size changed are read, only new content is cut."""

import hashlib
import os
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from ferrule.types.names import unspell
from ferrule.workspace.encoding import decode
from ferrule.workspace.reading.regular import Unreadable, open_regular

from .pieces import pieces
from .store import State, Store

LARGEST = 1_048_576
"""Bytes of a file that is indexed."""
BATCH = 100
"""Files of one transaction."""


class Progress(Struct, frozen=True):
    """`files` are in the index, `left` are not yet, `large` are too large for it."""

    files: int
    left: int
    large: int


def update(store: Store, root: Path, paths: Sequence[str], until: float, stopped: Callable[[], bool] = lambda: False) -> Progress:
    """`paths` are all that there are; `until` is a time of `time.monotonic`."""
    known = store.states()
    there = {path: state for path in paths if (state := _stat(root, path)) is not None}
    large = {path for path, state in there.items() if state.size > LARGEST}
    gone = [path for path in known if path not in there or path in large]
    changed = [
        path
        for path, state in there.items()
        if path not in large and (path not in known or (known[path].modified, known[path].size) != (state.modified, state.size))
    ]
    _within(store, lambda: store.remove(gone))
    done = 0
    while done < len(changed) and time.monotonic() < until and not stopped():
        batch = changed[done : done + BATCH]
        _within(store, lambda batch=batch: _read(store, root, batch, known))  # type: ignore[misc]  # mypy sees no type in a default
        done += len(batch)
    left = len(changed) - done
    return Progress(len(there) - len(large) - left, left, len(large))


def _within(store: Store, work: Callable[[], None]) -> None:
    store.begin()
    try:
        work()
    except BaseException:
        store.rollback()
        raise
    store.commit()


def _read(store: Store, root: Path, paths: Sequence[str], known: dict[str, State]) -> None:
    for path in paths:
        found = content(root, path)
        if found is None:
            store.remove([path])
            continue
        data, state = found
        if path in known and known[path].hash == state.hash:
            store.seen(path, state)
            continue
        decoded = decode(data)
        text = decoded[0].replace("\r\n", "\n") if decoded else ""
        store.put(path, state, ((piece, _digest(piece.text.encode(errors="replace"))) for piece in pieces(text)))


def content(root: Path, path: str) -> tuple[bytes, State] | None:
    """What a regular file holds, and its state when it was read; None where it cannot be read."""
    try:
        with os.fdopen(open_regular(real(root, path)), "rb") as file:
            found = os.fstat(file.fileno())
            data = file.read(LARGEST)
    except (OSError, Unreadable):
        return None
    return data, State(found.st_mtime_ns, found.st_size, _digest(data))


def _stat(root: Path, path: str) -> State | None:
    """Of a regular file: what a link leads to has a path of its own, or lies elsewhere."""
    try:
        found = real(root, path).lstat()
    except OSError:
        return None
    return State(found.st_mtime_ns, found.st_size, b"") if stat.S_ISREG(found.st_mode) else None


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def real(root: Path, path: str) -> Path:
    return root / os.fsdecode(unspell(path))
