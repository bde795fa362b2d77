"""Bringing an index up to date where something changed."""

import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ferrule.types.names import spell, unspell
from ferrule.workspace.ignoring.look import Look
from ferrule.workspace.walk import walk

from .index import Index, parent

EVERYTHING = 1 << 60


def update(index: Index, root: Path, paths: Iterable[str]) -> list[str]:
    """Of each path, whether it is there and is to be known. The folders that became known by it.

    A folder that is known already was replaced, or it would not be named: all in it may be another.
    """
    kinds = {path: kind_of(real(root, path)) for path in paths}
    replaced = [path for path, kind in kinds.items() if kind != "file" or f"{path}/" in index.known]
    index.remove(each for path in replaced for each in (path, f"{path}/"))
    asked: defaultdict[str, set[str]] = defaultdict(set)
    for path, kind in kinds.items():
        if kind is not None and (not (folder := parent(path)) or folder in index.known):
            asked[folder].add(f"{path}/" if kind == "folder" else path)
    fresh = {each for folder, names in asked.items() if not names <= index.known for each in _listed(root, folder) & names}
    return _take(index, root, fresh - index.known)


def look(index: Index, root: Path, folders: Iterable[str]) -> list[str]:
    """What lies directly in these folders is compared with what is known. The folders that became known by it."""
    known = index.children({folder for folder in folders if not folder or folder in index.known})
    there = {folder: _listed(root, folder) for folder in known}
    index.remove({path for folder, paths in known.items() for path in paths - there[folder]})
    return _take(index, root, {path for folder, paths in known.items() for path in there[folder] - paths})


def _take(index: Index, root: Path, paths: set[str]) -> list[str]:
    """These, and what lies below those that are folders."""
    fresh = set(paths)
    for path in paths:
        if path.endswith("/"):
            fresh |= below(root, path)
    index.add(sorted(fresh))
    return [path for path in fresh if path.endswith("/")]


def _listed(root: Path, folder: str) -> set[str]:
    return {relative(root, entry.path, entry.folder) for entry in walk(real(root, folder), 1, EVERYTHING)}


def below(root: Path, folder: str) -> set[str]:
    """Everything that is to be known below a folder."""
    return {relative(root, entry.path, entry.folder) for entry in walk(real(root, folder), None, EVERYTHING)}


def hidden(root: Path) -> Callable[[str], bool]:
    """Whether an ignore file of ours means a path by now, or what it leads to."""
    look = Look()

    def means(path: str) -> bool:
        try:
            return look.through(str(real(root, path))) is not None
        except OSError:
            return False

    return means


def hide(index: Index, root: Path, paths: Sequence[str]) -> None:
    """Forget those of them that ignore files of ours mean, which ripgrep does not know."""
    index.remove(set(paths).difference(allowed(root, paths)))


def allowed(root: Path, paths: Iterable[str]) -> list[str]:
    """Those that no ignore file of ours means."""
    look = Look()
    start = f"{root}/"
    return [path for path in paths if not look.at(start + os.fsdecode(unspell(path.rstrip("/"))), path.endswith("/"))]


def relative(root: Path, path: Path, folder: bool) -> str:
    return spell(os.path.relpath(path, root)) + ("/" if folder else "")


def real(root: Path, path: str) -> Path:
    return root / os.fsdecode(unspell(path))


def kind_of(path: Path) -> str | None:
    try:
        mode = path.lstat().st_mode
    except OSError:
        return None
    return "folder" if stat.S_ISDIR(mode) else "file"
