"""Opening regular files and nothing else."""

import os
import stat
from pathlib import Path


class Unreadable(Exception):
    """Not a file that can be shown; the text says what it is."""


def open_regular(path: Path) -> int:
    """A descriptor for reading; never waits for a FIFO and never touches a device. Raises Unreadable, OSError."""
    _refuse_special(path.stat().st_mode)
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _refuse_special(os.fstat(fd).st_mode)
    except Unreadable:
        os.close(fd)
        raise
    return fd


def fill(fd: int, view: memoryview, start: int) -> int:
    """Read until the view is full or the file ends; the number of bytes read."""
    filled = 0
    while filled < len(view):
        size = os.preadv(fd, [view[filled:]], start + filled)
        if not size:
            break
        filled += size
    return filled


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
