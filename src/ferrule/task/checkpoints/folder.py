"""The project folder of a session as an undo sees it: paths as records spell them, looked at without following links."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ferrule.store.blobs import FileBlobs
from ferrule.types.errors import UsageError
from ferrule.types.names import spell, unspell
from ferrule.types.tools import FileState
from ferrule.workspace.restoring.looking import CHUNK, look


@dataclass(frozen=True)
class Folder:
    """`preimages` hold the contents of files by their sha256."""

    root: Path
    preimages: FileBlobs

    def path(self, shown: str) -> Path:
        return self.root / os.fsdecode(unspell(shown))

    def look(self, shown: str) -> FileState:
        return look(self.path(shown), shown)

    def keep(self, shown: str) -> FileState:
        """As `look`; a file's content is kept, so that what is done to it can be undone."""
        return look(self.path(shown), shown, self.preimages.writer)

    def astray(self, shown: str) -> str:
        """Why the path does not lead where it led when it was recorded; empty where it does."""
        path = self.path(shown)
        if ".." in path.parts:
            return "no tool names a file in this way"
        above = next(folder for folder in path.parents if folder.exists() or folder.is_symlink())
        if not above.is_dir():
            return f"{spell(str(above))} is no folder any more"
        return "" if above.resolve() == above else f"{spell(str(above))} leads elsewhere by a link"

    def kept(self, state: FileState) -> bool:
        """Whether the content of a file is at hand."""
        return state.sha256 is not None and self.preimages.path(state.sha256).exists()

    def content(self, state: FileState) -> Iterator[bytes]:
        """Raises StoreError where it is not at hand, or damaged."""
        offset = 0
        while piece := self.preimages.read(state.sha256 or "", offset, CHUNK):
            yield piece
            offset += len(piece)


def folder_of(spelled: str, preimages: FileBlobs) -> Folder:
    """Raises UsageError where the project folder is not what it was."""
    root = Path(os.fsdecode(unspell(spelled)))
    if not root.is_dir():
        raise UsageError(f"The folder of the session, {spelled}, is not there; nothing was undone.")
    if root.resolve() != root:
        raise UsageError(f"The folder of the session, {spelled}, leads elsewhere by a link; nothing was undone.")
    return Folder(root, preimages)
