"""A folder to work in, things outside that nothing inside may reach, and commands run under a sandbox between them."""

import asyncio
import os
import pwd
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ferrule.process.protocol import Command, Ended, Processes
from ferrule.process.sandbox.opening import open_sandbox
from ferrule.process.sandbox.wish import Wish
from ferrule.process.supervisor import Supervisor

T = TypeVar("T")
PYTHON = os.path.realpath(sys.executable)
HOME = pwd.getpwuid(os.getuid()).pw_dir
ENVIRONMENT = (("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", HOME))
SECRET = "the-secret-" + secrets.token_hex(8)
NO_BUBBLEWRAP: tuple[str, ...] = ()


class World:
    """`workspace` and `outside` lie side by side; `outside/secret` holds SECRET."""

    def __init__(self, top: Path) -> None:
        self.top = top.resolve()
        self.workspace, self.outside = self.top / "workspace", self.top / "outside"
        for folder in (self.workspace, self.outside):
            folder.mkdir()
        self.secret = self.outside / "secret"
        self.secret.write_text(SECRET)

    def wish(self, mode: str, **more: Any) -> Wish:
        return Wish(mode=mode, folders=(str(self.workspace),), home=HOME, **more)  # type: ignore[arg-type]


@contextmanager
def folder_in(place: str) -> Iterator[Path]:
    """A folder that anybody's sandbox sees as it is there. Fails where this user cannot write: nothing is skipped."""
    made = Path(tempfile.mkdtemp(prefix="ferrule-sandbox-test-", dir=place))
    try:
        yield made
    finally:
        shutil.rmtree(made)


def run_folder() -> str:
    return "/run" if os.access("/run", os.W_OK) else os.environ["XDG_RUNTIME_DIR"]


def shell(world: World, script: str, timeout: float | None = 20, grace: float = 0.1, **more: Any) -> Command:
    return Command(("sh", "-c", script), str(world.workspace), ENVIRONMENT, timeout, grace, **more)


def python(world: World, code: str, *arguments: str, timeout: float = 20) -> Command:
    return Command((PYTHON, "-I", "-S", "-c", code, *arguments), str(world.workspace), ENVIRONMENT, timeout)


def with_sandbox(wish: Wish, use: Callable[[Processes], Awaitable[T]], bubblewraps: tuple[str, ...] | None = None) -> T:
    async def main() -> T:
        supervisor = Supervisor()
        try:
            sandboxed = await open_sandbox(wish, supervisor, bubblewraps)
            try:
                return await use(sandboxed)
            finally:
                await sandboxed.close()
        finally:
            await supervisor.close()

    return asyncio.run(main())


def run(wish: Wish, command: Command, bubblewraps: tuple[str, ...] | None = None) -> tuple[Ended, str]:
    chunks: list[bytes] = []

    async def use(processes: Processes) -> Ended:
        return await processes.run(command, chunks.append)

    return with_sandbox(wish, use, bubblewraps), b"".join(chunks).decode(errors="replace")


def said(wish: Wish, command: Command, bubblewraps: tuple[str, ...] | None = None) -> str:
    """What a command printed that was started and ended by itself; anything else is no answer."""
    ended, output = run(wish, command, bubblewraps)
    assert (ended.error, ended.timed_out) == (None, False), (ended, output)
    return output


@contextmanager
def listening(address: str | tuple[str, int], family: int) -> Iterator[socket.socket]:
    with socket.socket(family) as server:
        server.bind(address)
        server.listen()
        yield server
