"""A whole text file for editing: its text, how its bytes spell it, and its state on disk."""

from pathlib import Path
from typing import NamedTuple

from ferrule.types.errors import ToolError
from ferrule.types.tools import FileChange

from .encoding import Encoding, decode
from .writing import WHOLE, Seen, replace, see


class Document(NamedTuple):
    """`text` has the file's own line endings and no byte order mark."""

    path: Path
    text: str
    encoding: Encoding
    seen: Seen

    def encoded(self, text: str) -> bytes:
        """Another text in the encoding of the file; raises ToolError where it lacks a character."""
        try:
            return self.encoding.encode(text)
        except UnicodeEncodeError as problem:
            lacking = text[problem.start : problem.start + 1]
            raise ToolError(
                f"the file is {self.encoding.label}, which has no character {lacking!r}; nothing was written. Use another "
                "character, or convert the file with a command first"
            ) from problem

    def write(self, text: str, shown: str) -> FileChange:
        """Replace the text on disk; raises ToolError as `encoded` does."""
        return FileChange(shown, self.seen.digest, replace(self.path, self.encoded(text), self.seen))


def load(path: Path) -> Document:
    """Raises ToolError for what is not an editable text file, FileNotFoundError, OSError."""
    seen = see(path)
    if seen.version is None:
        raise FileNotFoundError(path)
    if seen.content is None:
        raise ToolError(f"it is larger than {WHOLE // 1_048_576} MiB; change it with a command")
    decoded = decode(seen.content)
    if decoded is None:
        raise ToolError("it is a binary file")
    return Document(path, *decoded, seen)
