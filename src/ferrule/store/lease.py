"""Who may write a session: the process that holds the lock of its lock file. The kernel lets go of it when that process dies.

Where a file system has no locks, the file says which process it is, and that process is looked for: by its number and the moment
of its start, on the same machine. Whatever happens to lock files, the epoch in the journal has the last word.
"""

import errno
import fcntl
import os
from pathlib import Path

from ferrule.types.errors import LeaseHeld, StoreError

from .private import open_file

WITHOUT_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})
TRIES = 20
SIZE = 512


class FileLease:
    """A taken lock. `locked` is False where the file system has no locks."""

    def __init__(self, descriptor: int, path: Path, locked: bool) -> None:
        self._descriptor = descriptor
        self._path = path
        self.locked = locked

    @property
    def named(self) -> bool:
        """Whether the lock file is still the one that others will open: whoever takes over puts another in its place."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), self._path.stat())
        except OSError:
            return False

    def release(self) -> None:
        """May be called twice."""
        if self._descriptor < 0:
            return
        if not self.locked:
            # A file that names nobody is free; where there are locks, closing it does that.
            os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)
        self._descriptor = -1


class Former:
    """Who held a lease that was taken over. `close` it."""

    def __init__(self, path: Path) -> None:
        """Raises FileNotFoundError where there is no lock file."""
        self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self.who = _holder(self._descriptor)

    def gone(self) -> bool:
        """Whether it has let go: closed the session, or died."""
        try:
            return _lock(self._descriptor) or not _lives(_written(self._descriptor))
        except BlockingIOError:
            return False

    def close(self) -> None:
        os.close(self._descriptor)


def take_lease(path: Path) -> FileLease:
    """Lock the file at `path`, made where it is missing. Raises LeaseHeld while another holder lives, naming its process."""
    try:
        for _ in range(TRIES):
            descriptor = open_file(path, os.O_RDWR | os.O_CREAT)
            try:
                lease = FileLease(descriptor, path, _taken(descriptor, path))
                # Its remover may have been quicker.
                if lease.named:
                    _write(descriptor, lease.locked)
                    return lease
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)
    except OSError as error:
        raise StoreError(f"The lock file {path} cannot be used: {error.strerror}.") from error
    raise StoreError(f"The lock file {path} is replaced again and again.")


def seize_lease(path: Path) -> FileLease:
    """Take a lease whoever holds it: the lock file is replaced, and its former holder keeps the lock of a file without a name.

    The former holder writes on until the epoch of the journal is raised. Raises LeaseHeld where another one was quicker, and
    StoreError.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"The lock file {path} cannot be replaced: {error.strerror}.") from error
    return take_lease(path)


def _taken(descriptor: int, path: Path) -> bool:
    """Whether there is a lock for it. Raises LeaseHeld."""
    try:
        locked = _lock(descriptor)
        if locked or not _lives(_written(descriptor)):
            return locked
    except BlockingIOError:
        pass
    raise LeaseHeld(f"Session {path.stem} is open for writing in {_holder(descriptor)}. Close it there first.")


def _lock(descriptor: int) -> bool:
    """False where the file system has no locks. Raises BlockingIOError while somebody has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        if error.errno in WITHOUT_LOCKS:
            return False
        raise
    return True


def _write(descriptor: int, locked: bool) -> None:
    """Name ourselves: our number, and where that alone must do, what tells us from a later process with the same number."""
    pid = os.getpid()
    who = f"{pid}\n" if locked else f"{pid}\n{_machine()}\n{_born(pid)}\n"
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, who.encode(), 0)


def _written(descriptor: int) -> list[str]:
    return os.pread(descriptor, SIZE, 0).decode(errors="replace").split("\n")


def _holder(descriptor: int) -> str:
    """For a sentence: which process it is, as the file says."""
    pid = _written(descriptor)[0].strip()
    if not pid.isdigit():
        return "another process"
    return f"process {pid}{', which is stopped (kill -CONT wakes it)' if _state(int(pid)) == 'T' else ''}"


def _lives(written: list[str]) -> bool:
    """Whether the process that a lock file names is still the one that wrote it. One on another machine is taken for dead."""
    if len(written) < 3 or not written[0].isdigit() or written[1] != _machine():
        return False
    pid = int(written[0])
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return written[2] == _born(pid) and _state(pid) != "Z"


def _machine() -> str:
    """This start of this machine, and the numbering of processes in it; empty without a /proc."""
    try:
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _born(pid: int) -> str:
    """When a process started, in ticks since the machine did; empty where that cannot be known."""
    return _stat(pid, 22)


def _state(pid: int) -> str:
    """The letter of the process table: T is stopped, Z ended and not yet reaped."""
    return _stat(pid, 3)


def _stat(pid: int, field: int) -> str:
    """A field of /proc/PID/stat as `man proc` counts them, from 3 on: the name before it may hold anything."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[field - 3]
    except (OSError, IndexError):
        return ""
