"""The files that a call may write, by the hash of their content: recorded before it runs, and looked at again after a crash."""

import hashlib
import os
from pathlib import Path

from ferrule.tools.base import Place
from ferrule.types.names import unspell
from ferrule.types.tools import Action, FileChange


def files_before(actions: tuple[Action, ...], place: Place) -> tuple[FileChange, ...]:
    """Of the paths that the actions write, each as it is; commands name none."""
    paths = dict.fromkeys(path for action in actions if action.kind == "write" for path in action.paths)
    found = (Path(os.fsdecode(unspell(path))) for path in paths)
    return tuple(FileChange(place.shown(path), content_hash(path), None) for path in found)


def files_since(files: tuple[FileChange, ...], place: Place) -> tuple[FileChange, ...]:
    """The same files as they are now."""
    return tuple(FileChange(file.path, file.before, content_hash(place.resolve(file.path))) for file in files)


def content_hash(path: Path) -> str | None:
    """sha256 as hex; None where there is no regular file that can be read."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
