"""Makes a worktree of a repository, tells what became of it, and takes one back in which nothing was done.

No hook and no filter of the repository runs, as with everything that `Git` does.
"""

import asyncio
import errno
import fcntl
import os
import re
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from ferrule.types.errors import FerruleError, UsageError
from ferrule.types.names import spell

from .repository import Git

BRANCHES = "ferrule/"
INCLUDE = ".worktreeinclude"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*\Z")
PATIENCE = 60.0
"""Seconds to wait for others who make a worktree of the same repository."""
LISTED = 64_000_000
MOST_FILES, MOST_BYTES = 20_000, 1_000_000_000


class Worktree(Struct, frozen=True):
    """`folder` is its top, made of the commit `base` of the repository at `source`, on a new branch.

    `copied` counts the files taken along, `left` says in sentences what is not in it.
    """

    folder: Path
    source: Path
    branch: str
    base: str
    copied: int = 0
    left: tuple[str, ...] = ()


class Done(Struct, frozen=True):
    """What became of a worktree: new commits, and files that differ from its last one."""

    commits: int
    changed: int


async def common_folder(git: Git) -> Path:
    """Where the repository itself lies, the same for all of its worktrees."""
    output = await git.output(["rev-parse", "--path-format=absolute", "--git-common-dir"])
    return Path(os.fsdecode(output.removesuffix(b"\n"))).resolve()


async def make_worktree(git: Git, name: str, folder: Path) -> Worktree:
    """A new worktree at `folder`, on the branch `ferrule/NAME` from what is checked out. Raises UsageError, FerruleError."""
    if not NAME.match(name) or name.endswith(".lock") or len(name) > 100:
        raise UsageError(f"{name!r} cannot be the name of a worktree; it is letters, digits, `-`, `_` and single dots.")
    source = await git.top()
    branch = f"{BRANCHES}{name}"
    async with _alone(await common_folder(git)):
        base = await git.head()
        if base is None:
            raise UsageError(f"{source} has no commits yet, and a worktree is made of one. Commit something first.")
        if os.path.lexists(folder):
            raise UsageError(f"There is a worktree {name} already. Go on in it with -C {folder}, or choose another name.")
        if (await git.run(["rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"]))[0].exit_code == 0:
            raise UsageError(f"There is a branch {branch} already. Choose another name, or remove it: git branch -d {branch}")
        folder.parent.mkdir(parents=True, exist_ok=True)
        await git.output(["worktree", "add", "--quiet", "-b", branch, str(folder), base])
    copied, left = await _take_along(git, source, folder)
    if changed := await _changed(git, source):
        left = (f"{changed} uncommitted change{'s' if changed > 1 else ''} of {source} are not in it.", *left)
    return Worktree(folder, source, branch, base, copied, left)


async def done_in(git: Git, made: Worktree) -> Done:
    """`git` is one that was opened in the worktree. Raises FerruleError where it is gone."""
    commits = await git.output(["rev-list", "--count", f"{made.base}..HEAD"])
    return Done(int(commits), await _changed(git, made.folder))


async def remove_worktree(git: Git, made: Worktree) -> bool:
    """Take it back with its branch; False, and all stays, where something was done in it. `git` is one of the source."""
    async with _alone(await common_folder(git)):
        if (await git.run(["worktree", "remove", str(made.folder)]))[0].exit_code != 0:
            return False
        return (await git.run(["branch", "-d", made.branch]))[0].exit_code == 0


async def _changed(git: Git, folder: Path) -> int:
    listed = await git.output(["-C", str(folder), "status", "--porcelain", "-z", "--no-renames"], limit=LISTED)
    return listed.count(b"\0")


@asynccontextmanager
async def _alone(folder: Path) -> AsyncIterator[None]:
    """While nobody else makes or removes a worktree of this repository: a lock on its folder, which leaves no file behind.

    Raises FerruleError where somebody holds it for long. Where the file system has no locks, git's own must do.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    until = time.monotonic() + PATIENCE
    try:
        while not _locked(descriptor):
            if time.monotonic() > until:
                raise FerruleError(f"Another worktree of {folder} has been in the making for {PATIENCE:.0f} s. Try again later.")
            await asyncio.sleep(0.02)
        yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)
    return True


async def _take_along(git: Git, source: Path, folder: Path) -> tuple[int, tuple[str, ...]]:
    """Copy the files that `.worktreeinclude` lists and git ignores; how many, and what was not copied."""
    wanted = source / INCLUDE
    if not wanted.is_file():
        return 0, ()
    here = ["-C", str(source), "ls-files", "--others", "--ignored", "-z"]
    listed = await git.output([*here, f"--exclude-from={wanted}"], limit=LISTED)
    ignored = set((await git.output([*here, "--exclude-standard"], limit=LISTED)).split(b"\0"))
    names = [name for name in listed.split(b"\0") if name and name in ignored]
    return await asyncio.to_thread(_copy_all, names, source, folder)


def _copy_all(names: list[bytes], source: Path, folder: Path) -> tuple[int, tuple[str, ...]]:
    left: list[str] = []
    copied, room = 0, MOST_BYTES
    for number, name in enumerate(names):
        path = os.fsdecode(name)
        try:
            room -= (source / path).lstat().st_size
            if number >= MOST_FILES or room < 0:
                left.append(f"{len(names) - number} of the {len(names)} files of {INCLUDE} are too much and were not copied.")
                break
            if why := _copy(source / path, folder / path, folder):
                left.append(f"{spell(path)} was not copied: {why}.")
            else:
                copied += 1
        except OSError as error:
            left.append(f"{spell(path)} was not copied: {error.strerror}.")
    return copied, (*left[:10], *([f"{len(left) - 10} more were not copied."] if len(left) > 10 else []))


def _copy(path: Path, to: Path, folder: Path) -> str:
    """A file or link, as it is; returns why not. Nothing that the commit brought is touched, nor anything out of the worktree."""
    if not to.parent.resolve().is_relative_to(folder.resolve()):
        return "its folder leads out of the worktree"
    if os.path.lexists(to):
        return "there is one of that name"
    if not path.is_symlink() and not path.is_file():
        return "it is no regular file"
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, to, follow_symlinks=False)
    return ""
