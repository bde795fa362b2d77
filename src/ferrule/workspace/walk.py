"""What lies in a folder, without what the project's ignore rules leave out."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ignore import DirEntry, Walk


class Entry(NamedTuple):
    """`target` is where a symbolic link points, as it is written there."""

    path: Path
    folder: bool
    target: str | None = None


def walk(root: Path, depth: int | None = None, most: int = 100_000) -> list[Entry]:
    """Up to `most` entries below `root`, `root` itself left out; links are not followed, `.git` is not entered.

    `.gitignore` (also outside a repository), `.ignore` and git's own exclude files hold.
    """
    from ignore import WalkBuilder
    from ignore.overrides import OverrideBuilder

    unwanted = OverrideBuilder(root).add("!.git").build()
    builder = WalkBuilder(root).hidden(False).require_git(False).follow_links(False).overrides(unwanted).max_depth(depth)
    return [_entry(found.path()) for found in islice(_entries(builder.build()), most + 1) if found.depth() > 0]


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
