"""Reading files whose names somebody else may have written: regular files only, so that no device or pipe holds us up."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

CHUNK = 1 << 20


def read_regular(path: Path, most: int) -> bytes:
    """Raises OSError, also for what is no regular file or is larger than `most` bytes."""
    data = bytearray()
    for chunk in _chunks(os.fspath(path)):
        data += chunk
        if len(data) > most:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return bytes(data)


def digest(path: bytes) -> str | None:
    """sha256 of a file as hex, None where there is none. Raises OSError."""
    found = hashlib.sha256()
    try:
        for chunk in _chunks(path):
            found.update(chunk)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.hexdigest()


def _chunks(path: str | bytes) -> Iterator[bytes]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        while chunk := file.read(CHUNK):
            yield chunk
