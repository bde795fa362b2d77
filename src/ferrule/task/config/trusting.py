"""Asks and changes the list `trusted` of the user's own file."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ferrule.types.errors import ToolError, UsageError

from .layers import listed_folders, user_file
from .trust import counts

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


def is_trusted(folder: Path, environ: Mapping[str, str]) -> bool:
    """Raises UsageError where the user's file cannot be read."""
    return counts(folder, listed_folders(environ), environ)


def trust(folder: Path, environ: Mapping[str, str]) -> bool:
    """Add a folder to `trusted` in the user's file, whose comments and order stay; False where it is there already."""
    if folder.resolve() in listed_folders(environ):
        return False
    document = _document(environ)
    listed = document.get("trusted", [])
    if not listed:
        # Before every table: a key behind one would belong to it.
        document = _with_first("trusted", [str(folder.resolve())], document)
    else:
        listed.append(str(folder.resolve()))
    _write(document, environ)
    return True


def untrust(folder: Path, environ: Mapping[str, str]) -> bool:
    """Take a folder out of `trusted`, however it is written there; False where it is not in it."""
    if folder.resolve() not in listed_folders(environ):
        return False
    document = _document(environ)
    listed = document["trusted"]
    assert isinstance(listed, list)  # `listed_folders` has checked it
    for entry in [entry for entry in listed if Path(str(entry)).expanduser().resolve() == folder.resolve()]:
        listed.remove(entry)
    _write(document, environ)
    return True


def _document(environ: Mapping[str, str]) -> "TOMLDocument":
    from tomlkit import document, parse

    file = user_file(environ)
    return parse(file.read_bytes()) if file.exists() else document()


def _with_first(key: str, value: Any, document: "TOMLDocument") -> "TOMLDocument":
    from tomlkit import document as empty
    from tomlkit import dumps, parse

    document.pop(key, None)
    first = empty()
    first[key] = value
    rest = dumps(document)
    return parse(dumps(first) + (f"\n{rest}" if rest else ""))


def _write(document: "TOMLDocument", environ: Mapping[str, str]) -> None:
    from tomlkit import dumps

    from ferrule.workspace.writing import replace, see

    file = user_file(environ).resolve()
    try:
        replace(file, dumps(document).encode(), see(file))
    except (OSError, ToolError) as error:
        raise UsageError(f"{file} cannot be written: {error.strerror if isinstance(error, OSError) else error}") from error
