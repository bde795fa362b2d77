"""Repositories for the tests, made by git itself. Shares no code with `ferrule.workspace.git`."""

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ferrule.process.protocol import allowed_environment
from ferrule.process.supervisor import Supervisor
from ferrule.workspace.diff.model import File
from ferrule.workspace.git.changes import changed_files
from ferrule.workspace.git.repository import Git

T = TypeVar("T")
PERSON = {"NAME": "A", "EMAIL": "a@example.org", "DATE": "2026-01-02T03:04:05Z"}
QUIET = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_ALLOW_PROTOCOL": "file"}
IDENTITY = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in PERSON.items()}


@dataclass(frozen=True)
class Special:
    """A file that is not ordinary: its mode as git stores it, and its content, or the commit of a submodule."""

    mode: str
    content: bytes


Content = bytes | Special
Tree = Mapping[bytes, Content]


def executable(content: bytes) -> Special:
    return Special("100755", content)


def link(target: bytes) -> Special:
    return Special("120000", target)


def submodule(commit: str) -> Special:
    return Special("160000", commit.encode())


@dataclass(frozen=True)
class Repository:
    root: Path

    def git(self, *arguments: str | bytes, feed: bytes | None = None) -> str:
        environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **QUIET, **IDENTITY}
        done = subprocess.run(["git", *arguments], cwd=self.root, env=environ, input=feed, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout.decode(errors="surrogateescape").removesuffix("\n")

    def write(self, path: str | bytes, content: bytes) -> Path:
        there = self.root / os.fsdecode(path)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(content)
        return there

    def commit(self, *options: str) -> str:
        """Everything in the working tree as a commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=x", *options)
        return self.git("rev-parse", "HEAD")

    def imported(self, *trees: Tree) -> list[str]:
        """A commit without parents for each tree; the working tree stays as it is."""
        stream = b"".join(_commit(number, tree) for number, tree in enumerate(trees))
        self.git("fast-import", "--quiet", "--force", feed=stream)
        return self.git("rev-parse", *(f"refs/heads/imported-{number}" for number in range(len(trees)))).split()

    def config(self, text: str) -> None:
        """Add to the repository's own configuration."""
        with (self.root / ".git/config").open("a") as file:
            file.write(text)


def repository(root: Path, *options: str) -> Repository:
    root.mkdir(parents=True, exist_ok=True)
    made = Repository(root)
    made.git("init", "--quiet", "--initial-branch=main", *options)
    return made


def _commit(number: int, tree: Tree) -> bytes:
    head = b"commit refs/heads/imported-%d\ncommitter A <a@example.org> 0 +0000\ndata 0\n" % number
    return head + b"".join(_entry(path, content) for path, content in tree.items()) + b"\n"


def _entry(path: bytes, content: Content) -> bytes:
    quoted = b'"' + b"".join(b"\\%03o" % byte for byte in path) + b'"'
    match content:
        case Special("160000", commit):
            return b"M 160000 %b %b\n" % (commit, quoted)
        case Special(mode, data):
            return b"M %b inline %b\ndata %d\n%b\n" % (mode.encode(), quoted, len(data), data)
        case data:
            return b"M 100644 inline %b\ndata %d\n%b\n" % (quoted, len(data), data)


def environment() -> tuple[tuple[str, str], ...]:
    return allowed_environment(os.environ, ("GIT_INDEX_FILE",))


def asked(folder: Path, ask: Callable[[Git], Awaitable[T]]) -> T:
    """What `ask` finds out with a `Git` of its own."""

    async def use() -> T:
        supervisor = Supervisor()
        git = Git(supervisor, folder, environment())
        try:
            return await ask(git)
        finally:
            git.close()
            await supervisor.close()

    return asyncio.run(use())


def differences(repo: Repository, old: Tree, new: Tree) -> tuple[File, ...]:
    before, after = repo.imported(old, new)

    async def ask(git: Git) -> tuple[File, ...]:
        return await changed_files(git, await git.tree(before), await git.tree(after))

    return asked(repo.root, ask)
