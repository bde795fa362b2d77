"""What the model has seen of files: an edit must not build on a content that is no longer there."""

import hashlib
from pathlib import Path

from msgspec import Struct

from ferrule.types.errors import ToolError
from ferrule.workspace.writing import Seen, version

HASHED = 1_048_576
"""Bytes of the largest file that is known by its content; one above is known by inode, time and size."""


class _Known(Struct, frozen=True):
    version: tuple[int, int, int, int]
    digest: str | None


class SeenFiles:
    """The state in which each file was last shown to the model or written by it. One for all tools of a session.

    Paths are absolute, with links resolved. A file that was never shown may be edited: there is nothing to be outdated.
    """

    def __init__(self) -> None:
        self._known: dict[Path, _Known] = {}

    def showing(self, path: Path) -> None:
        """Call before a file is read for the model, so that what changes while it is read counts as changed. Never fails."""
        self._known.pop(path, None)
        try:
            if path.is_file():
                info = path.stat()
                digest = hashlib.sha256(path.read_bytes()).hexdigest() if info.st_size <= HASHED else None
                self._known[path] = _Known(version(info), digest)
        except OSError:
            return

    def wrote(self, path: Path, digest: str | None) -> None:
        """The model's own edit left a content of this sha256 at the path; None where it left no file."""
        try:
            if digest is not None:
                self._known[path] = _Known(version(path.stat()), digest)
                return
        except OSError:
            pass
        self._known.pop(path, None)

    def check(self, path: Path, now: Seen, shown: str) -> None:
        """Raises ToolError when a file is not what the model last saw or wrote. `now` is what is about to be replaced."""
        known = self._known.get(path)
        if known is None or _equal(known, now):
            return
        if now.version is None:
            del self._known[path]
            raise ToolError(
                f"{shown} was deleted by something else since you last read or wrote it. Nothing was written. "
                "Make sure that it is still wanted; the same call again creates it."
            )
        raise ToolError(
            f"{shown} was changed by something else since you last read or wrote it. Nothing was changed. "
            "Read it again, then repeat the edit against what it holds."
        )

    def outdated(self) -> tuple[Path, ...]:
        """The files that are not as they were last shown or written, deleted ones among them."""
        return tuple(path for path, known in self._known.items() if not _same(path, known))


def _equal(known: _Known, now: Seen) -> bool:
    """By content where both are known: what was written within one tick of the clock may keep its time and size."""
    if known.digest is None or now.digest is None:
        return known.version == now.version
    return known.digest == now.digest


def _same(path: Path, known: _Known) -> bool:
    try:
        info = path.stat()
        if version(info) == known.version:
            return True
        if known.digest is None or info.st_size > HASHED:
            return False
        return hashlib.sha256(path.read_bytes()).hexdigest() == known.digest
    except OSError:
        return False
