"""What the ignore files of a workspace keep tools away from, in words."""

import os
from pathlib import Path

from ferrule.types.names import spell

from .look import Look
from .rules import Ignored


class Guard:
    """As things are when it is made; for one call. Files are named relative to `root` where they lie below it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._look = Look()

    def ignored(self, path: str) -> str | None:
        """Why no tool may touch an absolute path or what it leads to, told so that it follows the path's name."""
        try:
            why = self._look.through(path)
        except OSError:
            return "leads into links without an end."
        return None if why is None else self._told(why, "is")

    def holds_ignored(self, folder: str) -> str | None:
        """The same of something that lies below a folder."""
        why = self._look.within(os.path.realpath(folder))
        return None if why is None else self._told(why, "holds what is")

    def _told(self, why: Ignored, verb: str) -> str:
        path = Path(why.file)
        file = spell(str(path.relative_to(self.root) if path.is_relative_to(self.root) else path))
        if why.trouble:
            return f"{verb} taken for ignored: {file} {why.trouble}."
        return f"{verb} ignored by {file}, line {why.line}: `{why.pattern}`."
