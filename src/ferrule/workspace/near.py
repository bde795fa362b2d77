"""Which existing file somebody may have meant by a path that does not exist."""

from pathlib import Path

from .ignoring.guard import Guard

LISTED = 5_000
SUGGESTED = 3


def near_names(path: Path, root: Path) -> tuple[Path, ...]:
    """Up to three existing paths: names like it in the nearest existing folder, then the same name elsewhere in `root`."""
    from difflib import get_close_matches

    folder = path.parent
    missing = path.name
    while not folder.is_dir() and folder != folder.parent:
        folder, missing = folder.parent, folder.name
    try:
        guard = Guard(root)
        names = sorted(child.name for child in folder.iterdir() if guard.ignored(str(child)) is None)[:LISTED]
    except OSError:
        names = []
    folded = {name.casefold(): name for name in names}
    close = get_close_matches(missing.casefold(), folded, SUGGESTED, 0.6)
    found = [folder / folded[name] for name in close]
    if missing != path.name or not found:
        found = [*_same_name(path.name, root), *found]
    return tuple(dict.fromkeys(found))[:SUGGESTED]


def _same_name(name: str, root: Path) -> list[Path]:
    """Files called `name` below `root`, as far as a bounded walk reaches."""
    from .walk import walk

    return [entry.path for entry in walk(root, most=LISTED) if not entry.folder and entry.path.name == name]
