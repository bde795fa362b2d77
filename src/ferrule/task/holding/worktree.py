"""A task in a worktree of its own: made below the state folder before the task is opened, told about when it has ended."""

import hashlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from msgspec import Struct

from ferrule.process.protocol import allowed_environment
from ferrule.process.supervisor import Supervisor
from ferrule.store.private import make_folder
from ferrule.task.config.trust import SOURCE, worktrees_folder
from ferrule.types.errors import FerruleError, UsageError
from ferrule.workspace.git.repository import Git
from ferrule.workspace.git.worktree import Worktree, common_folder, done_in, make_worktree, remove_worktree


class Bound(Struct, frozen=True):
    """`folder` is where the task works: the same folder in the worktree as the one that was asked for in the repository."""

    worktree: Worktree
    folder: Path


async def bind(folder: Path, name: str, environ: Mapping[str, str]) -> Bound:
    """Make a worktree of the repository of `folder`. Without a name it gets one. Raises UsageError, FerruleError."""
    processes = Supervisor()
    git = Git(processes, folder, allowed_environment(environ))
    try:
        top = (await git.top()).resolve()
        below = folder.resolve().relative_to(top)
        if below.parts and not await _holds(git, below):
            raise UsageError(f"{below} is not in the last commit, and so would not be in a worktree. Commit it first.")
        base = worktrees_folder(environ) / _key(top, await common_folder(git))
        make_folder(worktrees_folder(environ))
        make_folder(base)
        (base / SOURCE).write_text(str(top), "utf-8", "surrogateescape")
        name = name or _named()
        made = await make_worktree(git, name, base.resolve() / name)
        return Bound(made, made.folder / below)
    finally:
        git.close()
        await processes.close()


async def unbind(bound: Bound, environ: Mapping[str, str]) -> None:
    """Take back a worktree in which no task was begun; where anything stands in the way it stays."""
    processes = Supervisor()
    git = Git(processes, bound.worktree.source, allowed_environment(environ))
    try:
        await remove_worktree(git, bound.worktree)
    except FerruleError:
        return
    finally:
        git.close()
        await processes.close()


async def outcome(bound: Bound, environ: Mapping[str, str]) -> tuple[str, ...]:
    """What is in it and what to do with it, a sentence a line."""
    made = bound.worktree
    processes = Supervisor()
    git = Git(processes, made.folder, allowed_environment(environ))
    try:
        done = await done_in(git, made)
    except FerruleError as error:
        return (f"the worktree {made.folder} cannot be looked at: {error}",)
    finally:
        git.close()
        await processes.close()
    here, there = quote(str(made.source)), quote(str(made.folder))
    remove = f"git -C {here} worktree remove {there} && git -C {here} branch -d {made.branch}"
    if not done.commits and not done.changed:
        return (f"nothing was changed in the worktree {made.folder}; to remove it: {remove}",)
    held = [f"{done.changed} uncommitted change{'s' if done.changed > 1 else ''}"] if done.changed else []
    held += [f"{done.commits} commit{'s' if done.commits > 1 else ''}"] if done.commits else []
    return (
        f"the worktree {made.folder} holds {' and '.join(held)} on the branch {made.branch}",
        f"to look: git -C {there} diff {made.base[:12]}",
        *([f"to keep what is not committed: git -C {there} add -A && git -C {there} commit"] if done.changed else []),
        f"to take it over: git -C {here} merge {made.branch}",
        f"to go on: ferrule -c -C {quote(str(bound.folder))} -p TEXT",
        f"to remove it afterwards: {remove}",
    )


def _key(top: Path, common: Path) -> str:
    """One folder a repository and place in it that worktrees are made of, told apart by where they lie."""
    digest = hashlib.sha256(os.fsencode(common) + b"\0" + os.fsencode(top)).hexdigest()
    return f"{top.name or 'root'}-{digest[:8]}"


def _named() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(2).hex()}"


async def _holds(git: Git, below: Path) -> bool:
    head = await git.head()
    return head is not None and (await git.run(["cat-file", "-e", f"{head}:{below}"]))[0].exit_code == 0
