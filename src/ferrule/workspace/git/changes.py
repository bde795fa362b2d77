"""What is under review: two trees and what differs between them."""

import os
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ferrule.types.errors import FerruleError, UsageError
from ferrule.types.names import spell, unspell
from ferrule.workspace.diff.model import Diff, File
from ferrule.workspace.diff.parse import BadDiff, Parsed, parse

from .repository import Git
from .snapshot import index_tree, worktree_tree

FILE_BYTES = 8_000_000
"""A file with a longer patch is listed without its lines."""
TOTAL_BYTES = 32_000_000
"""Patches behind so many bytes are listed without their lines."""
_ARGUMENT_BYTES = 100_000

_OPTIONS = (
    "diff-tree -r -z --raw --patch --full-index -M -l1000 -U3 --inter-hunk-context=0 --diff-algorithm=myers --indent-heuristic "
    "--no-ext-diff --no-textconv --no-color --no-relative --ignore-submodules=dirty --submodule=short "
    "--src-prefix=a/ --dst-prefix=b/"
)


class Comparison(Struct, frozen=True):
    """A diff and what it is of. `base` and `head` are commits, None where a side is not one.

    `base_tree` and `tree` hold the contents of the two sides. `content_id` names what is under review: the commit `head`, or the
    tree of the index or of the working tree.
    """

    kind: Literal["worktree", "staged", "commit", "range"]
    base: str | None
    head: str | None
    base_tree: str
    tree: str
    diff: Diff

    @property
    def content_id(self) -> str:
        return self.head or self.tree


async def worktree(git: Git, base: str | None = None, paths: Sequence[Path] = ()) -> Comparison:
    """The working tree with its untracked files against `base`, else against the commit that is checked out.

    The files are read once, when this is called: contents are asked for by blob id and stay what they were. Of a submodule only
    the commit counts that is checked out in it.
    """
    old, notes = await _base(git, base)
    tree, left_out = await worktree_tree(git)
    return await _compared(git, "worktree", old, None, tree, (*notes, *left_out), paths)


async def staged(git: Git, base: str | None = None, paths: Sequence[Path] = ()) -> Comparison:
    """The index against `base`, else against the commit that is checked out."""
    old, notes = await _base(git, base)
    return await _compared(git, "staged", old, None, await index_tree(git), notes, paths)


async def commit(git: Git, ref: str = "HEAD", paths: Sequence[Path] = ()) -> Comparison:
    """A commit against its first parent, or against nothing if it has none. UsageError where a shallow clone ends with it."""
    head = await git.resolve(ref)
    parents = await git.parents(head)
    if not parents:
        notes: tuple[str, ...] = (f"{head[:12]} is a first commit: every file counts as added.",)
        return await _compared(git, "commit", None, head, await git.tree(head), notes, paths)
    if not await git.has(parents[0]):
        hint = "`git fetch --deepen=1` gets it" if await git.shallow() else "the repository is damaged: `git fsck` tells more"
        raise UsageError(f"The parent of {ref} ({head[:12]}) is not here, so that there is nothing to compare it with; {hint}.")
    merge = f"{head[:12]} is a merge of {len(parents)} commits, compared with the first of them: {parents[0][:12]}."
    return await _compared(git, "commit", parents[0], head, await git.tree(head), (merge,) if len(parents) > 1 else (), paths)


async def between(git: Git, base: str, head: str = "HEAD", paths: Sequence[Path] = ()) -> Comparison:
    """What `head` has that `base` has not: `head` against the best common ancestor of both, as `git diff base...head`."""
    new = await git.resolve(head)
    return await _compared(git, "range", await git.merge_base(base, head), new, await git.tree(new), (), paths)


async def _base(git: Git, base: str | None) -> tuple[str | None, tuple[str, ...]]:
    if base is not None:
        return await git.resolve(base), ()
    head = await git.head()
    return head, () if head else ("There is no commit yet: every file counts as added.",)


async def _compared(
    git: Git,
    kind: Literal["worktree", "staged", "commit", "range"],
    base: str | None,
    head: str | None,
    tree: str,
    notes: tuple[str, ...],
    paths: Sequence[Path],
) -> Comparison:
    base_tree = await git.tree(base)
    files = await changed_files(git, base_tree, tree)
    if paths:
        files = await _below(git, files, paths)
    return Comparison(kind, base, head, base_tree, tree, Diff(files, notes))


async def _below(git: Git, files: tuple[File, ...], paths: Sequence[Path]) -> tuple[File, ...]:
    """The files that are, or were, one of `paths` or below it. UsageError for one that neither exists nor has changes."""
    top = (await git.top()).resolve()
    wanted: list[str] = []
    for path in paths:
        there = Path(os.path.normpath(git.folder.resolve() / path))
        if not there.is_relative_to(top):
            raise UsageError(f"{path} is outside of the repository at {top}.")
        name = spell(os.fsencode(there.relative_to(top)))
        if not os.path.lexists(there) and not any(_is_below(file, name) for file in files):
            raise UsageError(f"{path} neither exists nor has changes.")
        wanted.append(name)
    return tuple(file for file in files if any(_is_below(file, name) for name in wanted))


def _is_below(file: File, name: str) -> bool:
    names = (path for path in (file.old_path, file.new_path) if path is not None)
    return name == "." or any(path == name or path.startswith(f"{name}/") for path in names)


async def changed_files(
    git: Git, old_tree: str, new_tree: str, file_bytes: int = FILE_BYTES, total_bytes: int = TOTAL_BYTES
) -> tuple[File, ...]:
    """What differs between two trees. Files whose lines are left out for their size say so (`File.omitted`)."""
    asked = _Asked(git, (*_OPTIONS.split(), old_tree, new_tree), file_bytes)
    try:
        parsed = await asked.parsed(())
        done = list(parsed.files[: parsed.whole])
        rest = parsed.files[parsed.whole :]
        while rest and asked.read < total_bytes:
            more = await _some(asked, rest)
            done += more
            rest = rest[len(more) :]
    except BadDiff as error:
        raise FerruleError(f"The answer of git diff-tree can't be read: {error}.") from error
    over = f"the diff is longer than {total_bytes:,} bytes"
    return (*done, *(replace(file, omitted=over) for file in rest))


class _Asked:
    """One question to git, for all files or for some; `read` counts the bytes of the answers."""

    def __init__(self, git: Git, arguments: tuple[str, ...], limit: int) -> None:
        self.limit = limit
        self._git = git
        self._arguments = arguments
        self.read = 0
        self.cut = False

    async def parsed(self, paths: Sequence[str]) -> Parsed:
        arguments = [*self._arguments, "--", *paths]
        output = await self._git.output(arguments, limit=self.limit, whole=False)
        self.read += len(output)
        self.cut = len(output) == self.limit
        return parse(output, self.cut)


async def _some(asked: _Asked, rest: tuple[File, ...]) -> list[File]:
    """The first files of `rest`, at least one, after an answer that was cut before them."""
    paths: list[str] = []
    asked_for: list[File] = []
    for file in rest:
        names = [os.fsdecode(unspell(path)) for path in (file.old_path, file.new_path) if path is not None]
        if paths and sum(map(len, paths)) + sum(map(len, names)) > _ARGUMENT_BYTES:
            break
        paths += names
        asked_for.append(file)
    parsed = await asked.parsed(paths)
    whole = {_identity(file): file for file in parsed.files[: parsed.whole]}
    if not asked.cut:
        return [whole.get(_identity(file)) or replace(file, omitted="git tells it otherwise by itself") for file in asked_for]
    found = [whole[_identity(file)] for file in takewhile(lambda file: _identity(file) in whole, asked_for)]
    return found or [replace(rest[0], omitted=f"its patch is longer than {asked.limit:,} bytes")]


def _identity(file: File) -> tuple[str, str | None, str | None]:
    return file.status, file.old_path, file.new_path
