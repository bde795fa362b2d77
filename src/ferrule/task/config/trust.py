"""Which folders may add what acts by itself: settings, hooks, servers, skills and commands. Only the user's own file says so.

A folder counts when it is listed itself, not because one above it is. A worktree that Ferrule made counts as the folder it was
made of; that is read from the state folder, since a `.git` file in a project can claim anything.
"""

from collections.abc import Mapping
from pathlib import Path

from ferrule.store.private import state_folder

WORKTREES = "worktrees"
SOURCE = "source"
"""A file beside the worktrees of one repository: the top folder of what they were made of."""


def counts(folder: Path, listed: tuple[Path, ...], environ: Mapping[str, str]) -> bool:
    """Whether `listed` holds a folder, or that which it is a worktree of."""
    here = folder.resolve()
    return here in listed or ((origin := _origin(here, environ)) is not None and origin in listed)


def worktrees_folder(environ: Mapping[str, str]) -> Path:
    return state_folder(environ) / WORKTREES


def _origin(folder: Path, environ: Mapping[str, str]) -> Path | None:
    """What a folder in a worktree of ours was made of."""
    base = worktrees_folder(environ).resolve()
    if not folder.is_relative_to(base):
        return None
    match folder.relative_to(base).parts:
        case (repository, _, *rest):
            try:
                top = (base / repository / SOURCE).read_text("utf-8", "surrogateescape")
            except OSError:
                return None
            return Path(top, *rest).resolve()
    return None
