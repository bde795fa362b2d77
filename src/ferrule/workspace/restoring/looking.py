"""What stands at a path, down to its mode bits; a content goes to whoever keeps it, in pieces, whatever its size or kind."""

import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from ferrule.types.errors import StoreError
from ferrule.types.names import spell
from ferrule.types.tools import FileState

LARGEST = 268_435_456
"""Bytes of the largest file whose content is kept."""

CHUNK = 1 << 20


class Keeper(Protocol):
    """Takes one file's content."""

    def write(self, data: bytes) -> None: ...

    def finish(self) -> str: ...

    def discard(self) -> None: ...


def look(path: Path, shown: str, keep: Callable[[], Keeper] | None = None) -> FileState:
    """The state of the path itself (a link is not followed), called `shown`. With `keep` a file's content is kept, or `lost` says
    why it was not; without, nothing is."""
    try:
        info = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return FileState(shown, "nothing")
    except (OSError, ValueError) as problem:
        return FileState(shown, "other", lost=_why(problem))
    mode = stat.S_IMODE(info.st_mode)
    if stat.S_ISDIR(info.st_mode):
        return FileState(shown, "folder", mode=mode)
    try:
        if stat.S_ISLNK(info.st_mode):
            return FileState(shown, "link", target=spell(os.readlink(path)))  # noqa: PTH115 exactly as it is written
        if stat.S_ISREG(info.st_mode):
            return _file(path, shown, keep)
    except OSError as problem:
        return FileState(shown, "file", mode=mode, lost=f"it could not be read ({_why(problem)})")
    return FileState(shown, "other", mode=mode, lost="it is no regular file")


def folders_missing(path: Path) -> list[Path]:
    """The folders above a path that are not there, the topmost first."""
    missing = []
    for folder in path.parents:
        if folder.exists() or folder.is_symlink():
            break
        missing.append(folder)
    return missing[::-1]


def _file(path: Path, shown: str, keep: Callable[[], Keeper] | None) -> FileState:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        info = os.fstat(descriptor)
        keeping = _Keeping(keep, info.st_size)
        digest = hashlib.sha256()
        try:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
                keeping.write(chunk)
            keeping.finish()
        finally:
            keeping.discard()
    return FileState(shown, "file", digest.hexdigest(), stat.S_IMODE(info.st_mode), lost=keeping.lost)


class _Keeping:
    """Keeps a content if somebody wants it and it is not too large; a store that refuses costs the copy, not the work."""

    def __init__(self, keep: Callable[[], Keeper] | None, size: int) -> None:
        self.lost = f"it is larger than {LARGEST >> 20} MiB" if keep is not None and size > LARGEST else ""
        self._keeper = keep() if keep is not None and not self.lost else None

    def write(self, data: bytes) -> None:
        self._try(lambda keeper: keeper.write(data))

    def finish(self) -> None:
        self._try(lambda keeper: keeper.finish())

    def discard(self) -> None:
        if self._keeper is not None:
            self._keeper.discard()
            self._keeper = None

    def _try(self, act: Callable[[Keeper], object]) -> None:
        if self._keeper is None:
            return
        try:
            act(self._keeper)
        except StoreError as problem:
            self.lost = f"its content could not be kept ({str(problem).rstrip('.')})"
            self.discard()


def _why(problem: OSError | ValueError) -> str:
    return (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
