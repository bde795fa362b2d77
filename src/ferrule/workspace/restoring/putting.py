"""Makes a path what a state says: each step is safe to repeat, and nothing that changed meanwhile is overwritten."""

import errno
import os
from pathlib import Path

from ferrule.types.errors import ToolError
from ferrule.types.names import unspell
from ferrule.types.tools import FileState
from ferrule.workspace.writing import ABSENT, Content, Seen, put, sync_folder, version

from .looking import look


def alike(one: FileState, other: FileState) -> bool:
    """Whether the same stands there, mode bits aside. A file that could not be read is like no other."""
    if one.kind != other.kind or (one.kind == "file" and one.sha256 is None):
        return False
    return (one.sha256, one.target) == (other.sha256, other.target)


def exactly(one: FileState, other: FileState) -> bool:
    """As `alike`, with a file's mode bits."""
    return alike(one, other) and (one.kind != "file" or one.mode == other.mode)


def restore(path: Path, found: FileState, wanted: FileState, content: Content) -> None:
    """Turn what was `found` into what is `wanted`; `content` gives that of a file. A folder goes only when it is empty.

    Raises ToolError where something else stands there by then, OSError.
    """
    before = _version(path)
    now = look(path, found.path)
    if exactly(now, wanted):
        return
    if not exactly(now, found):
        raise ToolError("it was changed by somebody else in the meantime")
    match wanted.kind:
        case "nothing":
            _remove(path, now)
        case "folder":
            path.mkdir()
            path.chmod(0o755 if wanted.mode is None else wanted.mode)
        case "link":
            _link(path, wanted)
        case "file":
            if now.kind == "link":
                path.unlink()
            put(path, content, ABSENT if now.kind != "file" else Seen(None, None, before), wanted.mode)
        case _:
            raise ToolError("what stood there was no file")
    sync_folder(path.parent)


def _version(path: Path) -> tuple[int, int, int, int] | None:
    try:
        return version(path.lstat())
    except FileNotFoundError:
        return None


def _remove(path: Path, now: FileState) -> None:
    if now.kind != "folder":
        path.unlink()
        return
    try:
        path.rmdir()
    except OSError as problem:
        if problem.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise


def _link(path: Path, wanted: FileState) -> None:
    """Made beside and moved, so that there is never nothing."""
    temporary = path.parent / f".ferrule-{os.urandom(8).hex()}.tmp"
    temporary.symlink_to(os.fsdecode(unspell(wanted.target or "")))
    try:
        temporary.replace(path)
    except BaseException:
        temporary.unlink()
        raise
