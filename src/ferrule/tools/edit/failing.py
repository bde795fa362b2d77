"""What the editing tools say when a file cannot be read or written."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ferrule.tools.base import Place
from ferrule.types.errors import ToolError


@contextmanager
def explained(verb: str, path: Path, place: Place) -> Iterator[None]:
    """Names the file in every expected failure: `Cannot edit src/a.py: it is a directory.`"""
    try:
        yield
    except OSError as problem:
        raise ToolError(f"Cannot {verb} {place.shown(path)}: {problem.strerror or problem}.") from problem
    except ToolError as problem:
        raise ToolError(f"Cannot {verb} {place.shown(path)}: {problem}.") from problem
