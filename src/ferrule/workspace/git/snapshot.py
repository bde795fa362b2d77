"""The index and the working tree as trees, made without touching the person's index: git works on copies of it."""

import asyncio
import os
import shutil
import stat
from pathlib import Path

from ferrule.types.errors import UsageError
from ferrule.types.names import spell

from .repository import Git

UNTRACKED_BYTES = 5_000_000
UNTRACKED_FILES = 10_000
UNTRACKED_TOTAL = 100_000_000
"""Bytes of one untracked file, number of them, bytes of all of them: what exceeds a limit is left out and named."""

_LISTING = 50_000_000
_NAMED = 5


async def index_tree(git: Git) -> str:
    """The id of the tree that a commit would have now. UsageError in the middle of a merge."""
    return await _write_tree(git, await _prepared(git))


async def worktree_tree(git: Git) -> tuple[str, tuple[str, ...]]:
    """The id of the tree of the working tree as it is now, untracked files with it, and notes on what is left out."""
    environment = await _prepared(git)
    status, listed = await asyncio.gather(
        git.output(
            ["diff-files", "-z", "--name-status", "--no-renames", "--ignore-submodules=dirty"],
            limit=_LISTING,
            environment=environment,
        ),
        git.output(["ls-files", "-z", "--others", "--exclude-standard"], limit=_LISTING, environment=environment),
    )
    gone, changed = _split(status)
    chosen, notes = _chosen(await git.top(), [name for name in listed.split(b"\0") if name])
    await _update(git, environment, "--force-remove", gone)
    await _update(git, environment, "--replace", changed + chosen)
    return await _write_tree(git, environment), notes


async def _prepared(git: Git) -> dict[str, str]:
    """Variables of a copy of the index, which git may write to.

    The copy is as old as the index: git takes a file that changed at that very time for one that may have changed again.
    """
    copy = git.new_folder() / "index"
    try:
        with (await git.git_path("index")).open("rb") as index:
            time = os.fstat(index.fileno()).st_mtime_ns
            with copy.open("wb") as file:
                shutil.copyfileobj(index, file)
        os.utime(copy, ns=(time, time))
    except FileNotFoundError:
        pass
    return {"GIT_INDEX_FILE": str(copy)}


async def _write_tree(git: Git, environment: dict[str, str]) -> str:
    unmerged = await git.output(["ls-files", "-z", "--unmerged"], limit=_LISTING, environment=environment)
    if unmerged:
        paths = dict.fromkeys(spell(entry.split(b"\t", 1)[1]) for entry in unmerged.split(b"\0") if entry)
        raise UsageError(f"A merge is not finished: {_named(list(paths))}. Resolve and `git add` them, or `git merge --abort`.")
    return (await git.output(["write-tree"], environment=environment)).decode().strip()


async def _update(git: Git, environment: dict[str, str], how: str, names: list[bytes]) -> None:
    if names:
        feed = b"".join(name + b"\0" for name in names)
        await git.output(["update-index", "--add", "--remove", how, "-z", "--stdin"], environment=environment, feed=feed)


def _split(status: bytes) -> tuple[list[bytes], list[bytes]]:
    """The tracked names that are gone and those that may have changed. An unmerged name is listed twice."""
    fields = status.split(b"\0")
    kinds: dict[bytes, bytes] = {}
    for kind, name in zip(fields[::2], fields[1::2], strict=False):
        if kind != b"U" or name not in kinds:
            kinds[name] = kind
    return [name for name, kind in kinds.items() if kind == b"D"], [name for name, kind in kinds.items() if kind != b"D"]


def _chosen(top: Path, names: list[bytes]) -> tuple[list[bytes], tuple[str, ...]]:
    """The untracked files that are looked at, and a note for each reason why others are not."""
    chosen: list[bytes] = []
    left: dict[str, list[str]] = {}
    room = UNTRACKED_TOTAL
    for name in names:
        path = os.fsencode(top) + b"/" + name
        reason = _reason(path, name)
        size = 0 if reason else os.lstat(path).st_size
        if not reason and (len(chosen) == UNTRACKED_FILES or size > room):
            reason = f"more than {UNTRACKED_FILES:,} files or {UNTRACKED_TOTAL:,} bytes"
        if reason:
            left.setdefault(reason, []).append(spell(name))
            continue
        chosen.append(name)
        room -= size
    return chosen, tuple(f"Untracked and left out ({reason}): {_named(found)}." for reason, found in left.items())


def _reason(path: bytes, name: bytes) -> str:
    """Why an untracked file is not looked at; empty for one that is."""
    if name.endswith(b"/"):
        return "a repository of its own"
    try:
        found = os.lstat(path)
    except OSError:
        return "gone meanwhile"
    if stat.S_ISREG(found.st_mode) and not os.access(path, os.R_OK):
        return "not readable"
    return f"over {UNTRACKED_BYTES:,} bytes" if found.st_size > UNTRACKED_BYTES else ""


def _named(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
