"""What ignore files hide, right now: every look reads them anew, so that a changed one counts for the very next call."""

# Paths are text here: a walk asks about every entry, and os.path is several times faster than pathlib.
# ruff: noqa: PTH112, PTH115, PTH118, PTH120, PTH206

import errno
import os.path

from .rules import Ignored, Rules, rules_of

MOST_LINKS = 1_000
WITHIN = 50_000


class Look:
    """Reads each folder's ignore files once; for one call or one walk. An ignore file counts for all that is below its folder."""

    def __init__(self) -> None:
        self._known: dict[str, Ignored | tuple[Rules, ...]] = {}

    def at(self, path: str, directory: bool | None = None) -> Ignored | None:
        """Whether an absolute path without `.`, `..` and links on its way is ignored, itself or by a folder above it."""
        folder = os.path.dirname(path)
        if folder == path:
            return None
        below = self._below(folder)
        if isinstance(below, Ignored):
            return below
        if not below:
            return None
        is_folder = os.path.isdir(path) if directory is None else directory
        verdict = next((said for rules in reversed(below) if (said := rules.verdict(path, is_folder))), None)
        return verdict[0] if verdict else None

    def through(self, path: str) -> Ignored | None:
        """The same for any absolute path: no link on its way is ignored, nor stands in what is, nor leads there.

        Raises OSError for links in a circle.
        """
        return next((why for place in ways(path) if (why := self.at(place))), None)

    def within(self, folder: str, most: int = WITHIN) -> Ignored | None:
        """Something ignored that lies below a folder, found without following links.

        Where rules hold and `most` entries do not settle it, that counts as found.
        """
        pending, seen, rules = [folder], 0, False
        while pending:
            place = pending.pop()
            below = self._below(place)
            if isinstance(below, Ignored):
                return below
            rules = rules or bool(below)
            for entry in _entries(place):
                directory = entry.is_dir(follow_symlinks=False)
                if below and (why := self.at(entry.path, entry.is_dir())) is not None:
                    return why
                if directory and entry.name != ".git":
                    pending.append(entry.path)
                seen += 1
            if seen > most:
                return (
                    Ignored(folder, trouble=f"holds more than {most} entries, too many to look for what is ignored")
                    if rules
                    else None
                )
        return None

    def _below(self, folder: str) -> Ignored | tuple[Rules, ...]:
        """What holds for the entries of a folder."""
        pending = []
        while (known := self._known.get(folder)) is None:
            pending.append(folder)
            parent = os.path.dirname(folder)
            if parent == folder:
                break
            folder = parent
        while pending:
            folder = pending.pop()
            known = self._known[folder] = self._judged(folder)
        assert known is not None
        return known

    def _judged(self, folder: str) -> Ignored | tuple[Rules, ...]:
        """The parent is known already."""
        if (ignored := self.at(folder, True)) is not None:
            return ignored
        parent = os.path.dirname(folder)
        above = self._known[parent] if parent != folder else ()
        own = rules_of(folder)
        if isinstance(own, Ignored) or isinstance(above, Ignored):
            return own if isinstance(own, Ignored) else above
        return above if own is None else (*above, own)


def _entries(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def ways(path: str) -> list[str]:
    """Where each link on the way to an absolute path stands, then where the way ends; what does not exist is no link.

    It goes further than an operating system would, as whoever resolves a path by itself does. Raises OSError for links in a
    circle.
    """
    links: list[str] = []
    done, rest = os.sep, path.split(os.sep)[::-1]
    while rest:
        name = rest.pop()
        if name in ("", ".", ".."):
            done = os.path.dirname(done) if name == ".." else done
            continue
        place = os.path.join(done, name)
        try:
            target = os.readlink(place)
        except (OSError, ValueError):
            done = place
            continue
        links.append(place)
        if len(links) > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        if target.startswith(os.sep):
            done = os.sep
        rest += target.split(os.sep)[::-1]
    return [*links, done]
