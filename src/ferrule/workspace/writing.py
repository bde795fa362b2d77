"""Putting bytes into a file so that it is either the old one or the new one, and stays the file that it was otherwise."""

import contextlib
import errno
import hashlib
import io
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from ferrule.types.errors import ToolError

WHOLE = 67_108_864
"""Bytes of the largest file whose content is held as a whole."""


class Seen(NamedTuple):
    """The state of a file when it was read. All is None where there was no file; content also where the file is large."""

    content: bytes | None
    digest: str | None
    version: tuple[int, int, int, int] | None


ABSENT = Seen(None, None, None)


def see(path: Path) -> Seen:
    """The state of a regular file, ABSENT when there is none; of one above WHOLE bytes without its content.

    Raises ToolError for anything else, OSError.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return ABSENT
    if stat.S_ISDIR(mode):
        raise ToolError("it is a directory")
    if not stat.S_ISREG(mode):
        raise ToolError("it is not a regular file")
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        seen_at = version(os.fstat(fd))
        if os.fstat(fd).st_size > WHOLE:
            return Seen(None, hashlib.file_digest(file, "sha256").hexdigest(), seen_at)
        content = file.read()
        return Seen(content, hashlib.sha256(content).hexdigest(), seen_at)


Content = Callable[[], Iterable[bytes]]
"""Gives the pieces of a content, from the first one on each time that it is asked."""


def replace(path: Path, content: bytes, seen: Seen) -> str:
    """Make `content` the content of `path` (links resolved) as `put` does; its sha256.

    Raises ToolError also when the file is write-protected.
    """
    refuse_protected(path)
    put(path, lambda: (content,), seen)
    return hashlib.sha256(content).hexdigest()


def put(path: Path, content: Content, seen: Seen, mode: int | None = None) -> None:
    """Make `content` the content of `path`, durably.

    Atomic through a temporary file in the same folder; mode bits (unless `mode` gives them), owner and extended attributes are
    taken over. Written in place is what this would break (`bound`): then a disk that refuses gets the old content back, where
    that was `seen`. Folders that are missing are made.
    Raises ToolError when the file is not as it was `seen` any more, OSError when the disk refuses.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if bound(path):
        refuse_changed(path, seen)
        write_in_place(path, content, seen, mode)
        return
    temporary = stage(path, content, path, mode)
    try:
        refuse_changed(path, seen)
        _move(temporary, path, content, seen, mode)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def stage(path: Path, content: Content, like: Path, mode: int | None) -> Path:
    """A new, complete and durable file in the folder of `path`, ready to take its place.

    Owner, mode bits and extended attributes are those of `like` where that exists; `mode` overrides its bits. Raises OSError.
    """
    temporary, fd = _temporary(path)
    try:
        with os.fdopen(fd, "wb") as file:
            file.writelines(content())
            if (before := _stat(like)) is not None:
                _take_over(like, fd, before)
            if mode is not None:
                os.fchmod(fd, mode)
            file.flush()
            os.fsync(fd)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def bound(path: Path) -> bool:
    """Whether another file in its place would not be the same to everybody: it has several hard links, another owner, or stands
    in a folder that takes no new file."""
    before = _stat(path)
    if before is None:
        return False
    foreign = os.geteuid() not in (0, before.st_uid)
    return before.st_nlink > 1 or foreign or not os.access(path.parent, os.W_OK)


def refuse_protected(path: Path) -> None:
    """Raises ToolError for a file without any write bit: somebody took them away on purpose."""
    before = _stat(path)
    if before is not None and not before.st_mode & 0o222:
        raise ToolError(f"it is write-protected (mode {stat.S_IMODE(before.st_mode):o}); nothing was written")


def _move(temporary: Path, path: Path, content: Content, seen: Seen, mode: int | None) -> None:
    try:
        temporary.replace(path)
    except OSError as problem:
        if problem.errno != errno.EBUSY:  # a single file mounted into a container
            raise
        write_in_place(path, content, seen, mode)
        temporary.unlink()


def spare(path: Path) -> Path:
    """A name in the folder of `path` that nobody uses."""
    return path.parent / f".ferrule-{os.urandom(8).hex()}.tmp"


def _temporary(path: Path) -> tuple[Path, int]:
    """A new file in the folder of `path`, with the mode that any new file gets."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    while True:
        candidate = spare(path)
        with contextlib.suppress(FileExistsError):
            return candidate, os.open(candidate, flags, 0o666)


def _take_over(path: Path, fd: int, before: os.stat_result) -> None:
    """Owner, mode and extended attributes of the old file, as far as we may set them."""
    mine = os.fstat(fd)
    if (mine.st_uid, mine.st_gid) != (before.st_uid, before.st_gid):
        with contextlib.suppress(OSError):
            os.fchown(fd, before.st_uid, before.st_gid)
    os.fchmod(fd, stat.S_IMODE(before.st_mode))
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for name in os.listxattr(path):
                os.setxattr(fd, name, os.getxattr(path, name))


def write_in_place(path: Path, content: Content, seen: Seen, mode: int | None) -> None:
    """What is longer is written before what is shorter is cut off, so that the old content still finds its room."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    with os.fdopen(fd, "wb", buffering=0) as file:
        try:
            _overwrite(file, content())
        except OSError:
            if seen.content is not None:
                _overwrite(file, (seen.content,))
            raise
        if mode is not None:
            os.fchmod(fd, mode)


def _overwrite(file: io.FileIO, pieces: Iterable[bytes]) -> None:
    file.seek(0)
    for piece in pieces:
        rest = memoryview(piece)
        while rest:
            rest = rest[file.write(rest) :]
    file.truncate()
    os.fsync(file.fileno())


def refuse_changed(path: Path, seen: Seen) -> None:
    """Raises ToolError when what stands at the path is not what was seen there."""
    now = _stat(path)
    if (None if now is None else version(now)) != seen.version:
        raise ToolError("it was changed by somebody else in the meantime; read it again; nothing was written")


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def version(info: os.stat_result) -> tuple[int, int, int, int]:
    return info.st_dev, info.st_ino, info.st_mtime_ns, info.st_size


def sync_folder(folder: Path) -> None:
    """A rename survives a power cut only when the folder is written too; some file systems cannot, which loses nothing else."""
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
