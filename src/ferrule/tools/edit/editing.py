"""What the editing tools of a session share: what the model has seen of files, and who looks at them after an edit."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec import Struct, field

from ferrule.tools.base import Place, ToolContext
from ferrule.tools.read.read_file import missing
from ferrule.tools.seen import SeenFiles
from ferrule.types.errors import ToolError
from ferrule.workspace.diagnostics.edited import Edited
from ferrule.workspace.document import Document, load

from .failing import explained

Look = Callable[[tuple[Edited, ...], ToolContext], Awaitable[str]]
"""Says what is wrong in the files that was not before, empty where nothing is. It never fails and takes a second at most."""


async def nobody(edited: tuple[Edited, ...], context: ToolContext) -> str:
    return ""


class Editing(Struct, frozen=True):
    seen: SeenFiles = field(default_factory=SeenFiles)
    look: Look = nobody

    def opened(self, path: Path, place: Place) -> Document:
        """A text file that may be edited; raises ToolError, also when it is not what the model has last seen."""
        if not path.exists():
            raise ToolError(missing(path, place))
        with explained("edit", path, place):
            document = load(path)
        self.seen.check(path, document.seen, place.shown(path))
        return document
