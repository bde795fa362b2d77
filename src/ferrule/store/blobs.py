"""Large outputs by the sha256 of their bytes: in files of the state folder, or in one unnamed file for `--no-session`."""

import os
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

from ferrule.types.errors import StoreError

from .private import make_folder, open_file, sync_folder

SPOOLED = 64 * 1024
"""Bytes that a writer keeps in memory before it makes a file."""

CHUNK = 1024 * 1024
UNFINISHED = ".writing-"
DIGEST = re.compile(r"[0-9a-f]{64}")


class _Writer:
    """Hashes and spools; `keep` takes the finished descriptor and the digest, and makes the blob visible."""

    def __init__(self, make_file: Callable[[], tuple[int, Path | None]], keep: Callable[[int, Path | None, str], None]) -> None:
        self._make_file = make_file
        self._keep = keep
        self._digest = sha256()
        self._waiting = bytearray()
        self._file: tuple[int, Path | None] | None = None

    def write(self, data: bytes) -> None:
        self._digest.update(data)
        self._waiting += data
        if len(self._waiting) >= SPOOLED:
            self._spill()

    def so_far(self, offset: int, limit: int, then: bytes = b"") -> tuple[bytes, int]:
        rest = bytes(self._waiting) + then
        try:
            stored = os.fstat(self._file[0]).st_size if self._file else 0
            data = _slice(self._file[0], 0, stored, offset, limit) if self._file else b""
        except OSError as error:
            raise StoreError(f"A large output cannot be read: {error.strerror}.") from error
        begin = max(0, offset - stored)
        return data + rest[begin : begin + limit - len(data)], stored + len(rest)

    def finish(self) -> str:
        digest = self._digest.hexdigest()
        try:
            descriptor, path = self._spill()
            self._keep(descriptor, path, digest)
        except OSError as error:
            raise StoreError(f"The output {digest[:12]}… cannot be stored: {error.strerror}.") from error
        finally:
            self.discard()
        return digest

    def discard(self) -> None:
        """After `finish`, or called again, does nothing more."""
        self._waiting.clear()
        if self._file:
            descriptor, path = self._file
            self._file = None
            os.close(descriptor)
            if path:
                path.unlink(missing_ok=True)

    def _spill(self) -> tuple[int, Path | None]:
        try:
            self._file = self._file or self._make_file()
            view = memoryview(bytes(self._waiting))
            while view:
                view = view[os.write(self._file[0], view) :]
        except OSError as error:
            raise StoreError(f"A large output cannot be stored: {error.strerror}.") from error
        self._waiting.clear()
        return self._file


class FileBlobs:
    """`folder/ab/cdef…`. A blob appears there complete and durable or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._checked: dict[str, tuple[int, int, int]] = {}

    def writer(self) -> _Writer:
        return _Writer(self._make_file, self._keep)

    def read(self, digest: str, offset: int = 0, limit: int | None = None) -> bytes:
        """Raises StoreError for an unknown digest, and for a blob whose bytes are no longer those of its digest."""
        try:
            descriptor = os.open(self.path(digest), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise _unknown(digest) from None
        except OSError as error:
            raise StoreError(f"The stored output {digest} cannot be read: {error.strerror}.") from error
        try:
            stat = os.fstat(descriptor)
            identity = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
            if self._checked.get(digest) != identity:
                _check(descriptor, 0, stat.st_size, digest)
                self._checked[digest] = identity
            return _slice(descriptor, 0, stat.st_size, offset, limit)
        finally:
            os.close(descriptor)

    def size(self, digest: str) -> int:
        try:
            return self.path(digest).stat().st_size
        except OSError:
            raise _unknown(digest) from None

    def path(self, digest: str) -> Path:
        if not DIGEST.fullmatch(digest):
            raise _unknown(digest)
        return self._folder / digest[:2] / digest[2:]

    def all(self) -> Iterator[str]:
        """The digests that are stored."""
        return (path.parent.name + path.name for path in self._folder.glob("[0-9a-f][0-9a-f]/*"))

    def remove(self, digest: str) -> None:
        self.path(digest).unlink(missing_ok=True)

    def remove_unfinished(self, before: float) -> None:
        """Remove what writers that were killed before that Unix time have left."""
        for path in self._folder.glob(f"{UNFINISHED}*"):
            if path.stat().st_mtime < before:
                path.unlink(missing_ok=True)

    def _make_file(self) -> tuple[int, Path]:
        make_folder(self._folder)
        path = self._folder / f"{UNFINISHED}{os.urandom(8).hex()}"
        return open_file(path, os.O_RDWR | os.O_CREAT | os.O_EXCL), path

    def _keep(self, descriptor: int, path: Path | None, digest: str) -> None:
        assert path is not None
        os.fsync(descriptor)
        place = self.path(digest)
        if not place.parent.exists():
            make_folder(place.parent)
            sync_folder(self._folder)
        path.rename(place)
        sync_folder(place.parent)


class TemporaryBlobs:
    """Blobs that are gone when the process is, however it ends: all lie in one file without a name, which nobody else reaches."""

    def __init__(self) -> None:
        import tempfile

        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 closed by close()
        self._places: dict[str, tuple[int, int]] = {}

    def writer(self) -> _Writer:
        return _Writer(self._make_file, self._keep)

    def read(self, digest: str, offset: int = 0, limit: int | None = None) -> bytes:
        if digest not in self._places:
            raise _unknown(digest)
        start, size = self._places[digest]
        return _slice(self._file.fileno(), start, size, offset, limit)

    def size(self, digest: str) -> int:
        if digest not in self._places:
            raise _unknown(digest)
        return self._places[digest][1]

    def close(self) -> None:
        self._file.close()

    def _make_file(self) -> tuple[int, None]:
        import tempfile

        with tempfile.TemporaryFile(buffering=0) as file:
            return os.dup(file.fileno()), None

    def _keep(self, descriptor: int, path: Path | None, digest: str) -> None:
        if digest in self._places:
            return
        start = self._file.seek(0, os.SEEK_END)
        size = 0
        while chunk := os.pread(descriptor, CHUNK, size):
            while chunk:
                written = os.pwrite(self._file.fileno(), chunk, start + size)
                size += written
                chunk = chunk[written:]
        self._places[digest] = (start, size)


def _unknown(digest: str) -> StoreError:
    return StoreError(f"No output is stored under {digest!r}.")


def _check(descriptor: int, start: int, size: int, digest: str) -> None:
    found = sha256()
    for chunk in _chunks(descriptor, start, size):
        found.update(chunk)
    if found.hexdigest() != digest:
        raise StoreError(f"The stored output {digest} is damaged: its bytes have another sha256.")


def _slice(descriptor: int, start: int, size: int, offset: int, limit: int | None) -> bytes:
    offset = min(max(offset, 0), size)
    length = size - offset if limit is None else min(max(limit, 0), size - offset)
    return b"".join(_chunks(descriptor, start + offset, length))


def _chunks(descriptor: int, at: int, length: int) -> Iterator[bytes]:
    while length > 0 and (chunk := os.pread(descriptor, min(CHUNK, length), at)):
        yield chunk
        at += len(chunk)
        length -= len(chunk)
