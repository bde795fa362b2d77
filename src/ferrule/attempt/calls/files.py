"""The files that a call may write, as they are: recorded before it runs, after it, and looked at again after a crash."""

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from ferrule.store.protocol import Blobs
from ferrule.tools.base import Place
from ferrule.types.names import unspell
from ferrule.types.tools import Action, FileChange, FileState
from ferrule.workspace.restoring.looking import folders_missing, look


class Before(NamedTuple):
    """`files` are those that a call may write, `states` the same with all that an undo needs, and the folders it may make."""

    files: tuple[FileChange, ...]
    states: tuple[FileState, ...]


def look_before(actions: tuple[Action, ...], place: Place, preimages: Blobs | None) -> Before:
    """At the paths that the actions write, whose content is kept; commands name none."""
    named = dict.fromkeys(path for action in actions if action.kind == "write" for path in action.paths)
    written = [Path(os.fsdecode(unspell(path))) for path in named]
    keep = None if preimages is None else preimages.writer
    files = tuple(look(path, place.shown(path), keep) for path in written)
    missing = dict.fromkeys(folder for path in written for folder in folders_missing(path) if folder not in written)
    folders = tuple(look(folder, place.shown(folder)) for folder in missing)
    return Before(tuple(FileChange(state.path, state.sha256, None) for state in files), (*folders, *files))


def look_after(before: tuple[FileState, ...], place: Place) -> tuple[FileState, ...]:
    """At the same paths, as they are now."""
    return tuple(look(place.root / os.fsdecode(unspell(state.path)), state.path) for state in before)


def files_since(files: tuple[FileChange, ...], place: Place) -> tuple[FileChange, ...]:
    """The same files as they are now."""
    return tuple(FileChange(file.path, file.before, content_hash(place.locate(file.path))) for file in files)


def content_hash(path: Path) -> str | None:
    """sha256 as hex; None where there is no regular file that can be read."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
