"""The temporary folder of a task's commands, which goes with the task, or at the latest when the next one begins."""

import fcntl
import os
import tempfile
import time
from pathlib import Path

from .removing import clear

PREFIX = "ferrule-box-"
YOUNG = 60.0
"""Seconds in which a folder may belong to somebody who has not locked it yet."""


class Scratch:
    """`path` is free of links. Whoever dies without `close` lets go of the lock, by which the folder is known to be nobody's."""

    def __init__(self) -> None:
        reclaim(Path(tempfile.gettempdir()))
        self.path = os.path.realpath(tempfile.mkdtemp(prefix=PREFIX))
        self._lock: int | None = locked(self.path)

    def close(self) -> None:
        """May be called again."""
        clear(Path(self.path))
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def locked(folder: str) -> int | None:
    """A descriptor that holds the lock of a folder; None where somebody else does, or it is no folder."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return None
    return fd


def reclaim(place: Path) -> None:
    """Remove this user's folders that were left by who was killed. Others may be at it, or take their own away, meanwhile."""
    with os.scandir(place) as entries:
        found = [entry.path for entry in entries if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False)]
    for path in found:
        if abandoned(path) and (lock := locked(path)) is not None:
            clear(Path(path))
            os.close(lock)


def abandoned(path: str) -> bool:
    try:
        about = os.lstat(path)
    except FileNotFoundError:
        return False
    return about.st_uid == os.getuid() and time.time() - about.st_mtime >= YOUNG
