"""Several files written as one act: all of them, or none.

Everything that may fail for lack of room is done before the first file changes: the new contents stand complete beside the old
ones. What takes their place is moved; what stood there is kept under a spare name until all is done, and moved back otherwise.
"""

import contextlib
import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from ferrule.types.errors import ToolError

from .restoring.looking import folders_missing
from .writing import Seen, bound, refuse_changed, refuse_protected, spare, stage, sync_folder, version, write_in_place


class Put(Struct, frozen=True):
    """`content` at `path` (links resolved), where `seen` stands. Owner, mode and extended attributes are those of `like`, else
    those of the file there; `mode` overrides the bits."""

    path: Path
    content: bytes
    seen: Seen
    mode: int | None = None
    like: Path | None = None

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


class Remove(Struct, frozen=True):
    """The file or link at `path` goes, where it still is of this version; of a link the link alone."""

    path: Path
    version: tuple[int, int, int, int]


Step = Put | Remove


class Unwritten(Exception):
    """A step failed. `path` is that of the step, `changed` are those that could not be put back (none, nearly always)."""

    def __init__(self, path: Path, reason: str, changed: tuple[Path, ...]) -> None:
        super().__init__(reason)
        self.path = path
        self.changed = changed


def write_together(steps: Sequence[Step]) -> None:
    """Every path occurs once. Raises Unwritten; then everything is as it was but for what that names."""
    _Writing(steps).run()


class _Writing:
    def __init__(self, steps: Sequence[Step]) -> None:
        # What is written in place is undone by writing, which may lack room: it comes last.
        self.steps = sorted(steps, key=lambda step: isinstance(step, Put) and bound(step.path))
        self.staged: dict[Path, Path] = {}
        self.kept: list[Path] = []
        self.undoing: list[tuple[Path, Callable[[], object]]] = []
        self.at = self.steps[0].path

    def run(self) -> None:
        try:
            for step in self._each():
                self._prepare(step)
            for step in self._each():
                _check(step)
            for step in self._each():
                self._take(step)
        except BaseException as problem:
            changed = self._undo()
            if isinstance(problem, OSError | ToolError):
                raise Unwritten(self.at, _reason(problem), changed) from problem
            raise
        finally:
            _unlink(self.kept)
        for folder in dict.fromkeys(step.path.parent for step in self.steps):
            sync_folder(folder)

    def _each(self) -> Iterator[Step]:
        for step in self.steps:
            self.at = step.path
            yield step

    def _prepare(self, step: Step) -> None:
        if not step.path.is_symlink():
            refuse_protected(step.path)
        if isinstance(step, Remove):
            return
        for folder in folders_missing(step.path):
            folder.mkdir()
            self.undoing.append((folder, partial(_remove_if_empty, folder)))
        if not bound(step.path):
            self.staged[step.path] = stage(step.path, lambda: (step.content,), step.like or step.path, step.mode)

    def _take(self, step: Step) -> None:
        path = step.path
        match step:
            case Remove():
                self._set_aside(path, path.rename)
            case Put() if path not in self.staged:
                self._in_place(step)
            case Put(seen=seen) if seen.version is None:
                self.staged[path].replace(path)
                self.undoing.append((path, path.unlink))
            case Put():
                self._exchange(step)

    def _exchange(self, step: Put) -> None:
        before = len(self.undoing)
        try:
            self._set_aside(step.path, lambda aside: _link(step.path, aside))
            self.staged[step.path].replace(step.path)
        except OSError as problem:
            if problem.errno != errno.EBUSY:  # a single file mounted into a container
                raise
            del self.undoing[before:]
            self._in_place(step)

    def _set_aside(self, path: Path, move: Callable[[Path], object]) -> None:
        """What stands at the path is kept under another name, which takes no room."""
        aside = spare(path)
        move(aside)
        self.kept.append(aside)
        self.undoing.append((path, lambda: aside.replace(path)))

    def _in_place(self, step: Put) -> None:
        before = step.path.stat().st_mode & 0o7777
        write_in_place(step.path, lambda: (step.content,), step.seen, step.mode)
        old = step.seen.content or b""
        self.undoing.append((step.path, lambda: write_in_place(step.path, lambda: (old,), step.seen, before)))

    def _undo(self) -> tuple[Path, ...]:
        """The paths of what could not be undone."""
        _unlink(self.staged.values())
        left: list[Path] = []
        for path, undo in reversed(self.undoing):
            try:
                undo()
            except OSError:
                left.append(path)
        # What was set aside and not put back is all that is left of it.
        if left:
            self.kept.clear()
        return tuple(left)


def _check(step: Step) -> None:
    match step:
        case Put(path=path, seen=seen):
            refuse_changed(path, seen)
        case Remove(path=path):
            if version(path.lstat()) != step.version:
                raise ToolError("it was changed by somebody else in the meantime; read it again; nothing was written")


def _unlink(paths: Iterable[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _link(path: Path, aside: Path) -> None:
    """A second name for the file, so that its own never names nothing; where the file system has none, it is moved."""
    try:
        os.link(path, aside, follow_symlinks=False)
    except OSError:
        path.rename(aside)


def _reason(problem: OSError | ToolError) -> str:
    return (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
