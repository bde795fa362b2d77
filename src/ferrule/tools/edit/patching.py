"""What a patch would do to the files of a workspace: everything is looked at and computed, nothing is written."""

import os
import stat
from pathlib import Path

from msgspec import Struct

from ferrule.tools.base import Place
from ferrule.tools.read.read_file import missing
from ferrule.types.errors import ToolError
from ferrule.types.names import spell, unspell
from ferrule.types.tools import FileChange
from ferrule.workspace.diagnostics.edited import Edited
from ferrule.workspace.document import Document, load
from ferrule.workspace.encoding import UTF_8
from ferrule.workspace.patch.model import FilePatch, Hunk, joined
from ferrule.workspace.patch.place import Placed, Refused, apply, place
from ferrule.workspace.together import Put, Remove, Step
from ferrule.workspace.writing import ABSENT, Seen, refuse_protected, see, version

from .editing import Editing
from .failing import explained
from .matchless import no_match

READABLE, EXECUTABLE = 0o444, 0o111


class Target(Struct, frozen=True):
    """A file of a patch and where it is: `path` before, `move` afterwards, None where it stays. Both are absolute.

    What is deleted or moved is the name itself; everything else is what a link leads to.
    """

    file: FilePatch
    path: Path
    move: Path | None


class Planned(Struct, frozen=True):
    """What is done for one file, and how it is told."""

    steps: tuple[Step, ...]
    changes: tuple[FileChange, ...]
    told: str
    edited: tuple[Edited, ...] = ()


def targets(files: tuple[FilePatch, ...], place: Place) -> tuple[Target, ...]:
    """One for each file, updates of the same file joined. Raises ToolError for what cannot be one act, Hidden."""
    found: dict[Path, Target] = {}
    for file in files:
        target = _target(file, place)
        known = found.get(target.path)
        if known is not None and known.file.kind == file.kind == "update" and known.move is None and target.move is None:
            both = (*known.file.hunks, *file.hunks)
            executable = file.executable if file.executable is not None else known.file.executable
            file = FilePatch(file.kind, file.path, known.file.line, both, None, executable)
            found[target.path] = Target(file, target.path, None)
            continue
        for path in (target.path, target.move):
            if path is not None and any(path in (other.path, other.move) for other in found.values()):
                raise ToolError(f"line {file.line}: {place.shown(path)} occurs twice in the patch. Nothing was changed.")
        found[target.path] = target
    return tuple(found.values())


def _target(file: FilePatch, place: Place) -> Target:
    path = place.resolve(file.path)
    move = None if file.move is None else place.resolve(file.move)
    return Target(file, _name(file.path, place) if file.kind == "delete" or move else path, move)


def _name(path: str, place: Place) -> Path:
    """The name itself, in a folder that is free of links."""
    written = Path(os.fsdecode(unspell(path)))
    if written.name in ("", ".."):
        return place.resolve(path)
    return place.resolve(spell(str(written.parent))) / written.name


def plan(target: Target, editing: Editing, place: Place) -> Planned:
    """Raises ToolError."""
    match target.file.kind:
        case "add":
            return _added(target, place)
        case "delete":
            return _deleted(target, editing, place)
        case _ if target.file.hunks:
            return _updated(target, editing, place)
        case _:
            return _moved(target, editing, place)


def _added(target: Target, place: Place) -> Planned:
    file, path, shown = target.file, target.path, place.shown(target.path)
    if os.path.lexists(path):
        raise ToolError(f"{shown} exists already; update it, or delete it by a call of its own first.")
    _check_folder(path, place)
    lines = file.hunks[0].lines if file.hunks else ()
    text = joined(lines)
    try:
        content = UTF_8.encode(text)
    except UnicodeEncodeError as problem:
        raise ToolError(f"The lines of {shown} hold half a surrogate pair, which no file can.") from problem
    put = Put(path, content, ABSENT, 0o755 if file.executable else None)
    told = f"Added {shown}, {len(lines)} {'line' if len(lines) == 1 else 'lines'}."
    return Planned((put,), (FileChange(shown, None, put.digest),), told, (Edited(path, shown, None, text),))


def _deleted(target: Target, editing: Editing, place: Place) -> Planned:
    path, shown = target.path, place.shown(target.path)
    told = f"Deleted {shown}."
    gone = (Edited(path, shown, None, None),)
    if path.is_symlink():
        return Planned((Remove(path, version(path.lstat())),), (FileChange(shown, None, None),), told, gone)
    seen = _seen(path, place)
    editing.seen.check(path, seen, shown)
    if target.file.hunks and apply(_opened(path, place).text, _placed(target, path, place)):
        raise ToolError(f"{shown} holds more than the patch deletes; nothing of it was changed.")
    assert seen.version is not None
    return Planned((Remove(path, seen.version),), (FileChange(shown, seen.digest, None),), told, gone)


def _updated(target: Target, editing: Editing, place: Place) -> Planned:
    file, path, shown = target.file, target.path, place.shown(target.path)
    if target.move is not None:
        _check_move(path, target.move, place)
    document = editing.opened(path, place)
    placed = _placed(target, path, place, document)
    text = apply(document.text, placed)
    with explained("edit", path, place):
        refuse_protected(path)
        content = document.encoded(text)
    mode = _mode(path, file)
    if text == document.text and target.move is None and mode is None:
        raise ToolError(f"{shown} already is as its hunks would make it.")
    where = "; ".join(_where(each, file.hunks) for each in sorted(placed, key=lambda each: file.hunks.index(each.hunk)))
    if target.move is None:
        put = Put(path, content, document.seen, mode)
        change = FileChange(shown, document.seen.digest, put.digest)
        return Planned((put,), (change,), f"Updated {shown}: {where}.", (Edited(path, shown, document.text, text),))
    return _move(target, document.seen, content, place, f" and updated it: {where}", Edited(path, shown, document.text, text))


def _moved(target: Target, editing: Editing, place: Place) -> Planned:
    """A file whose content stays, whatever it is."""
    path, shown = target.path, place.shown(target.path)
    if target.move is not None:
        _check_move(path, target.move, place)
    seen = _seen(path, place)
    editing.seen.check(path, seen, shown)
    with explained("edit", path, place):
        refuse_protected(path)
        if seen.content is None:
            raise ToolError("it is too large; move it with a command")
    if target.move is not None:
        return _move(target, seen, seen.content, place, "")
    put = Put(path, seen.content, seen, _mode(path, target.file))
    verb = "Made" if target.file.executable else "Made not"
    return Planned((put,), (FileChange(shown, seen.digest, seen.digest),), f"{verb} executable: {shown}.")


def _move(target: Target, seen: Seen, content: bytes, place: Place, more: str, edited: Edited | None = None) -> Planned:
    path, move = target.path, target.move
    assert move is not None and seen.version is not None
    shown, new = place.shown(path), place.shown(move)
    put = Put(move, content, ABSENT, _mode(path, target.file), like=path)
    changes = (FileChange(shown, seen.digest, None), FileChange(new, None, put.digest))
    gone = Edited(path, shown, None, None)
    after = () if edited is None else (Edited(move, new, edited.before, edited.after),)
    return Planned((put, Remove(path, seen.version)), changes, f"Moved {shown} to {new}{more}.", (gone, *after))


def _placed(target: Target, path: Path, place_: Place, document: Document | None = None) -> tuple[Placed, ...]:
    """Raises ToolError when a hunk has no place."""
    shown, hunks = place_.shown(path), target.file.hunks
    document = document or _opened(path, place_)
    placed, refused = place(document.text, hunks)
    if refused:
        raise ToolError("\n\n".join(_refusal(each, hunks, document.text, shown) for each in refused))
    return placed


def _refusal(refused: Refused, hunks: tuple[Hunk, ...], text: str, shown: str) -> str:
    head = f"{shown}, hunk {_number(refused.hunk, hunks)} (line {refused.hunk.line} of the patch)"
    if not refused.missing:
        return f"{head}: {refused.reason}"
    wanted = "".join(f"{line}\n" for line in refused.hunk.old)
    return f"{head}: {no_match(text, wanted, 'hunk', shown)}"


def _where(placed: Placed, hunks: tuple[Hunk, ...]) -> str:
    note = "" if placed.level == "exact" else f" ({placed.level} differed; the file's own was kept)"
    return f"hunk {_number(placed.hunk, hunks)} at line {placed.at + 1}{note}"


def _number(hunk: Hunk, hunks: tuple[Hunk, ...]) -> int:
    return next(number for number, each in enumerate(hunks, 1) if each is hunk)


def _mode(path: Path, file: FilePatch) -> int | None:
    """The mode bits that the patch gives a file, None where it gives none that it has not."""
    old = stat.S_IMODE(path.stat().st_mode)
    match file.executable:
        case True:
            new = old | (old & READABLE) >> 2
        case False:
            new = old & ~EXECUTABLE
        case _:
            return None
    return None if new == old else new


def _opened(path: Path, place: Place) -> Document:
    with explained("edit", path, place):
        return load(path)


def _seen(path: Path, place: Place) -> Seen:
    with explained("edit", path, place):
        seen = see(path)
    if seen.version is None:
        raise ToolError(missing(path, place))
    return seen


def _check_move(path: Path, move: Path, place: Place) -> None:
    if path.is_symlink():
        raise ToolError(f"{place.shown(path)} is a link; move it with a command.")
    if os.path.lexists(move):
        raise ToolError(f"{place.shown(path)} cannot be moved to {place.shown(move)}, which exists already.")
    _check_folder(move, place)


def _check_folder(path: Path, place: Place) -> None:
    existing = next(folder for folder in path.parents if folder.exists())
    if not existing.is_dir():
        raise ToolError(f"Cannot write {place.shown(path)}: {place.shown(existing)} is not a folder.")
