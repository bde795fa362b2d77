"""Which files a file name pattern of a command means, as the shell would find them right now."""

# Paths are text here: os.path is several times faster than pathlib on the way of every command.
# ruff: noqa: PTH118

import os.path
from itertools import islice

MOST = 10_000
"""Files of one pattern; who needs more is not told which."""


def matches(pattern: str, folder: str, options: frozenset[str] = frozenset()) -> list[str] | None:
    """Paths below or above `folder`, or absolute, as `pattern` is; None where they are too many.

    `options` are those of the shell that widen what a pattern means: `dotglob`, `globstar`. A bracket that was quoted cannot be
    told from one that was not, so that both readings count.
    """
    from wcmatch import glob

    flags = glob.EXTGLOB | glob.NOUNIQUE
    flags |= glob.DOTGLOB if "dotglob" in options else 0
    flags |= glob.GLOBSTAR if "globstar" in options else 0
    readings = {pattern, pattern.replace("[", "[[]")}
    found: list[str] = []
    for reading in sorted(readings):
        try:
            found += islice(glob.iglob(reading, root_dir=folder, flags=flags), MOST + 1 - len(found))
        except Exception:  # its exceptions are not of its public names; what it cannot take may mean anything
            return None
    return [os.path.join(folder, each) for each in found] if len(found) <= MOST else None
