"""What lies in a folder, without what the project's ignore rules leave out."""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ignore import DirEntry, Walk, WalkBuilder


class Entry(NamedTuple):
    """`target` is where a symbolic link points, as it is written there."""

    path: Path
    folder: bool
    target: str | None = None


def walk(root: Path, depth: int | None = None, most: int = 100_000) -> list[Entry]:
    """Up to `most` entries below `root`, `root` itself left out; links are not followed, `.git` is not entered.

    `.gitignore` (also outside a repository), `.ignore`, `.rgignore` and git's own exclude files hold.
    """
    base = _nameable(root)
    above = len(root.parts) - len(base.parts)
    walked = _entries(_builder(base).max_depth(None if depth is None else depth + above).build())
    below = (found.path() for found in walked if found.depth() > above)
    return [_entry(path) for path in islice((path for path in below if not above or root in path.parents), most)]


def skeleton(root: Path) -> Iterator[Entry]:
    """As `walk`, without most of what is long to tell: the files that hold something."""
    yield from _links(root)
    for found in _entries(_builder(_nameable(root)).max_filesize(0).build()):
        path = found.path()
        if root in path.parents:
            entry = _entry(path)
            yield entry
            if entry.folder:
                yield from _links(path)


def _builder(root: Path) -> "WalkBuilder":
    """What every walk leaves out."""
    from ignore import WalkBuilder
    from ignore.overrides import OverrideBuilder

    unwanted = OverrideBuilder(root).add("!.git").build()
    builder = WalkBuilder(root).hidden(False).require_git(False).follow_links(False).overrides(unwanted)
    return builder.add_custom_ignore_filename(".rgignore")


def _nameable(folder: Path) -> Path:
    """The nearest folder whose name the walker can be given: it takes UTF-8 only, though it finds anything."""
    while any("\udc80" <= character <= "\udcff" for character in str(folder)):
        folder = folder.parent
    return folder


def _links(folder: Path) -> Iterator[Entry]:
    """The links in a folder, which have a size and so are no part of what the walker says to be empty."""
    try:
        with os.scandir(folder) as children:
            some = any(child.is_symlink() for child in children)
    except OSError:
        return
    if some:
        yield from (entry for entry in walk(folder, 1) if entry.target is not None)


def _entries(found: "Walk") -> Iterator["DirEntry"]:
    """The entries that can be read; a folder without permission is passed over."""
    import ignore

    while True:
        try:
            yield next(found)
        except StopIteration:
            return
        except (ignore.Error, ignore.IOError, OSError):
            continue


def _entry(path: Path) -> Entry:
    try:
        if path.is_symlink():
            return Entry(path, False, str(path.readlink()))
        return Entry(path, path.is_dir())
    except OSError:
        return Entry(path, False)
