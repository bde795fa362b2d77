"""What in a workspace decides how git and Ferrule work outside the sandbox, later."""

import os
from pathlib import Path
from typing import NamedTuple

DECIDES = ("hooks", "config", "config.worktree")


class Guarded(NamedTuple):
    """`writable`: stays where it is, is written inside; `fixed`: is there and only read; `absent`: must not come into being."""

    writable: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()

    def and_also(self, other: "Guarded") -> "Guarded":
        return Guarded(self.writable + other.writable, self.fixed + other.fixed, self.absent + other.absent)


def guarded(folder: str) -> Guarded:
    """Of one folder of the workspace. Links are left alone: where they lead is not what they name."""
    own = _each(Path(folder) / ".ferrule")
    git = Path(folder) / ".git"
    if git.is_symlink():
        return own
    if git.is_dir():
        return own.and_also(_repository(git))
    common = main_repository(git) if git.is_file() else None
    return own if common is None else own.and_also(_repository(common)).and_also(_worktree(git))


def _each(*paths: Path) -> Guarded:
    there = [path for path in paths if os.path.lexists(path)]
    fixed = tuple(str(path) for path in there if not path.is_symlink())
    return Guarded(fixed=fixed, absent=tuple(str(path) for path in paths if path not in there))


def _repository(git: Path) -> Guarded:
    there = _each(*(git / name for name in DECIDES))
    return Guarded((str(git),), there.fixed).and_also(_each(git / "commondir"))


def _worktree(pointer: Path) -> Guarded:
    own = gitdir(pointer)
    return Guarded(fixed=tuple(str(path) for path in (pointer, own / "commondir", own / "gitdir")))


def gitdir(pointer: Path) -> Path:
    """Where the `.git` file of a worktree leads."""
    return (pointer.parent / pointer.read_text(errors="surrogateescape").removeprefix("gitdir:").strip()).resolve()


def main_repository(pointer: Path) -> Path | None:
    """The repository that a worktree belongs to; None unless that repository itself names the worktree."""
    try:
        own = gitdir(pointer)
        named = Path((own / "gitdir").read_text(errors="surrogateescape").strip())
        common = (own / (own / "commondir").read_text(errors="surrogateescape").strip()).resolve()
        known = named.resolve() == pointer.resolve() and own.parent == common / "worktrees"
    except (OSError, ValueError, RuntimeError):
        return None
    return common if known else None
