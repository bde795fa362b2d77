"""What lies in a folder, without what the project's ignore rules leave out."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .ignoring.look import Look

if TYPE_CHECKING:
    from ignore import DirEntry, Walk, WalkBuilder


class Entry(NamedTuple):
    """`target` is where a symbolic link points, as it is written there. `locked`: an ignore file of ours keeps tools away."""

    path: Path
    folder: bool
    target: str | None = None
    locked: bool = False


def walk(root: Path, depth: int | None = None, most: int = 100_000, show: bool = False) -> list[Entry]:
    """Up to `most` entries below `root`, `root` itself left out; links are not followed, `.git` is not entered.

    `.gitignore` (also outside a repository), `.ignore`, `.rgignore` and git's own exclude files hold, and with the last word
    `.ferruleignore` and `.rooignore`; `show` keeps what these mean, locked, but nothing below it.
    """
    base = _nameable(root)
    above = len(root.parts) - len(base.parts)
    walked = _entries(_builder(base).max_depth(None if depth is None else depth + above).build())
    below = (found.path() for found in walked if found.depth() > above)
    return list(islice(_open(((path for path in below if not above or root in path.parents)), show), most))


def skeleton(root: Path) -> Iterator[Entry]:
    """As `walk`, without most of what is long to tell: the files that hold something."""
    yield from _links(root)
    found = (each.path() for each in _entries(_builder(_nameable(root)).max_filesize(0).build()))
    for entry in _open(path for path in found if root in path.parents):
        yield entry
        if entry.folder:
            yield from _links(entry.path)


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


def _open(paths: Iterable[Path], show: bool = False) -> Iterator[Entry]:
    """Those that no ignore file of ours means, by their own name or as links to what is ignored."""
    look = Look()
    for path in paths:
        entry = _entry(path)
        place = str(path)
        hidden = look.at(place, entry.folder)
        if entry.target is not None and hidden is None:
            with contextlib.suppress(OSError):
                hidden = look.through(place)
        if hidden is None:
            yield entry
        elif show and look.at(str(path.parent), True) is None:
            yield entry._replace(locked=True)


def _entry(path: Path) -> Entry:
    try:
        if path.is_symlink():
            return Entry(path, False, str(path.readlink()))
        return Entry(path, path.is_dir())
    except OSError:
        return Entry(path, False)
