"""What the tests of `process` look at: the process table, open files and deadlines. Shares no code with `ferrule.process`."""

import asyncio
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ferrule.process.protocol import Command, Ended
from ferrule.process.supervisor import Supervisor

T = TypeVar("T")
ENVIRONMENT = (("PATH", os.environ["PATH"]),)
FERRULE_SIDE = Path(__file__).with_name("ferrule_side.py")


def marker() -> str:
    """A duration for `sleep` that no other process on this machine has."""
    return f"61.{secrets.randbelow(10**12):012}"


def shell(script: str, cwd: str | Path = "/", timeout: float | None = 30, grace: float = 0.1) -> Command:
    return Command(("sh", "-c", script), str(cwd), ENVIRONMENT, timeout, grace)


def python(code: str, *arguments: str, timeout: float | None = 30, grace: float = 0.1) -> Command:
    return Command((sys.executable, "-I", "-S", "-c", code, *arguments), "/", ENVIRONMENT, timeout, grace)


def carriers(mark: str) -> dict[int, list[str]]:
    """Every living process with the marker in its command line."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            arguments = command_line(int(entry.name))
            if any(mark in argument for argument in arguments):
                found[int(entry.name)] = arguments
    return found


def sleepers(mark: str) -> list[int]:
    return [pid for pid, arguments in carriers(mark).items() if arguments[0].endswith("sleep")]


def command_line(pid: int) -> list[str]:
    """Empty for a process that is gone or a zombie."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return []


def gone(pid: int) -> bool:
    """Neither running nor waiting to be reaped."""
    return not Path(f"/proc/{pid}").exists()


def ended(pid: int) -> bool:
    """Runs no more and holds nothing open; may wait to be reaped by whoever inherited it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def children_of(pid: int) -> list[int]:
    """Children of every thread of a process, zombies included."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                found.append(int(entry.name))
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 5) -> bool:
    """Whether the condition came true before the deadline."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return condition()


async def until(condition: Callable[[], bool], seconds: float = 5) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        await asyncio.sleep(0.01)
    return condition()


@contextmanager
def ferrule_side(
    ending: str, script: str, terminal: str = "-", before: tuple[str, ...] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    side = subprocess.Popen(
        [*before, sys.executable, str(FERRULE_SIDE), ending, terminal, script],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        with side:
            yield side
    finally:
        side.kill()


def supervised(use: Callable[[Supervisor], Coroutine[Any, Any, T]]) -> T:
    """Run `use` with a supervisor that is closed afterwards, whatever happens."""

    async def main() -> T:
        supervisor = Supervisor()
        try:
            return await use(supervisor)
        finally:
            await supervisor.close()

    return asyncio.run(main())


def outcome(command: Command) -> tuple[Ended, bytes]:
    """How one command ended and all that it printed."""
    chunks: list[bytes] = []

    async def use(supervisor: Supervisor) -> Ended:
        return await supervisor.run(command, chunks.append)

    return supervised(use), b"".join(chunks)


def summary(ended: Ended) -> tuple[int | None, int | None, bool, int, str | None]:
    """All of `Ended` but the seconds."""
    return ended.exit_code, ended.signal, ended.timed_out, ended.left, ended.error


async def bounded(work: Awaitable[T], seconds: float = 10) -> T:
    async with asyncio.timeout(seconds):
        return await work
