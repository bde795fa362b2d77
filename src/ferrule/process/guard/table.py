"""The process table, and what a process may be to those below it."""

# pathlib and contextlib cost more than everything else that the supervisor imports.
# ruff: noqa: PTH110, PTH208, SIM105

import os
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

LINUX = sys.platform == "linux"


def prctl(option: int, value: int | bytes) -> None:
    """Raises OSError; needs `_ctypes`, whose public face costs as much as the rest of the start."""
    import _ctypes

    program = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # None is this program, as ctypes.CDLL(None) has it
    address = _ctypes.dlsym(program, "prctl")
    if _ctypes.call_function(address, (option, value, 0, 0, 0)) != 0:
        raise OSError("prctl")


def become_subreaper() -> None:
    if LINUX:
        prctl(36, 1)


def wakeups() -> int:
    """A descriptor that becomes readable whenever a child changes its state."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    return reading


def wait_for(wake: int, seconds: float) -> None:
    """Until a child changes its state, at most so long."""
    poller = select.poll()
    poller.register(wake, select.POLLIN)
    if poller.poll(seconds * 1000):
        drain(wake)


def drain(wake: int) -> None:
    try:
        while len(os.read(wake, 512)) == 512:
            pass
    except BlockingIOError:
        pass


def read_text(path: str) -> str:
    """Empty where the process is gone."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        parts = []
        while part := os.read(fd, 65536):
            parts.append(part)
        return b"".join(parts).decode("ascii", "replace")
    except OSError:
        return ""
    finally:
        os.close(fd)


def stat_fields(pid: int | str) -> list[str]:
    """State, parent and so on; what stands before is the name, which may hold anything."""
    return read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()


def children(pid: int) -> list[int]:
    """The children of all threads of a process, zombies included. A moving picture: callers look again until none is left."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    if not os.path.exists("/proc/thread-self/children"):
        return children_by_scan(pid)
    return [int(child) for thread in threads for child in read_text(f"/proc/{pid}/task/{thread}/children").split()]


def children_by_scan(pid: int) -> list[int]:
    """For kernels that do not list children."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [each for each in pids if stat_fields(each)[1:2] == [str(pid)]]


def descendants(pid: int) -> list[int]:
    """Everything below a process that still runs, nearest first."""
    found = children(pid)
    known = set(found)
    for each in found:
        below = [child for child in children(each) if child not in known]
        found += below
        known.update(below)
    return [each for each in found if stat_fields(each)[:1] not in ([], ["Z"], ["X"])]


def send_signal(pid: int, number: int) -> None:
    """To a process that may be gone, or be another user's."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass
