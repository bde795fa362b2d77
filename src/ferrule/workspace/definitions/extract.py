"""The definitions of a file, or of the files in a folder; a task of `reading.child`, since grammars bring scanners in C."""

import os
from pathlib import Path

import msgspec

from ferrule.types.names import spell
from ferrule.workspace.checkers.base import Missing
from ferrule.workspace.checkers.code.grammars import load
from ferrule.workspace.encoding import decode
from ferrule.workspace.outline.syntax import language_of
from ferrule.workspace.reading.child import Unshowable
from ferrule.workspace.reading.regular import Unreadable, open_regular
from ferrule.workspace.walk import walk

from . import python, trees
from .base import Defined, Definition

LARGEST = 2_000_000
"""Bytes of a file that is parsed."""


def extract(path: Path, number: int = 1) -> tuple[str, bytes]:
    """`number`: the most files of a folder."""
    if not path.is_dir():
        return "", msgspec.json.encode((defined(path),))
    files = sorted(entry.path for entry in walk(path, 1) if not entry.folder and entry.target is None)
    looked_at = [found for file in files[:number] if (found := defined(file)).trouble != NO_GRAMMAR]
    return str(len(files)), msgspec.json.encode(looked_at)


NO_GRAMMAR = "there is no grammar of its language here"


def defined(path: Path) -> Defined:
    try:
        return Defined(spell(path.name), _definitions(path))
    except (Unshowable, Unreadable, Missing) as problem:
        return Defined(spell(path.name), trouble=str(problem))
    except (SyntaxError, ValueError) as problem:
        where = f" (line {problem.lineno})" if isinstance(problem, SyntaxError) and problem.lineno else ""
        return Defined(spell(path.name), trouble=f"it does not parse{where}")
    except (TimeoutError, RecursionError, MemoryError):
        return Defined(spell(path.name), trouble="it takes too much to parse")
    except OSError as problem:
        return Defined(spell(path.name), trouble=problem.strerror or "it cannot be read")


def _definitions(path: Path) -> tuple[Definition, ...]:
    name = language_of(path, "")
    if name is None and path.suffix:
        raise Unshowable(NO_GRAMMAR)
    with os.fdopen(open_regular(path), "rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise Unshowable(f"it is larger than {LARGEST} bytes")
    text, _ = decode(content) or ("", None)
    name = language_of(path, text)
    if name is None:
        raise Unshowable(NO_GRAMMAR)
    return python.definitions(text) if name == "Python" else trees.definitions(text, name, load(name))
