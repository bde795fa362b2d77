"""Who may write a session: the process that holds the lock of its lock file. The kernel lets go of it when that process dies."""

import errno
import fcntl
import os
from pathlib import Path

from ferrule.types.errors import LeaseHeld, StoreError

from .private import open_file

WITHOUT_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})
TRIES = 20


class FileLease:
    """A taken lock. `locked` is False where the file system has no locks: then only the epoch in the journal keeps others out."""

    def __init__(self, descriptor: int, locked: bool) -> None:
        self._descriptor = descriptor
        self.locked = locked

    def release(self) -> None:
        """May be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def take_lease(path: Path) -> FileLease:
    """Lock the file at `path`, made where it is missing. Raises LeaseHeld while another holder lives, naming its process."""
    try:
        for _ in range(TRIES):
            descriptor = open_file(path, os.O_RDWR | os.O_CREAT)
            try:
                locked = _lock(descriptor, path)
                if _still_named(descriptor, path):
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
                    return FileLease(descriptor, locked)
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)
    except OSError as error:
        raise StoreError(f"The lock file {path} cannot be used: {error.strerror}.") from error
    raise StoreError(f"The lock file {path} is replaced again and again.")


def _lock(descriptor: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
        holder = f"process {pid}" if pid else "another process"
        raise LeaseHeld(f"Session {path.stem} is open for writing in {holder}. Close it there first.") from None
    except OSError as error:
        if error.errno in WITHOUT_LOCKS:
            return False
        raise
    return True


def _still_named(descriptor: int, path: Path) -> bool:
    """Whether the locked file is still the one that others will open: its remover may have been quicker."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
