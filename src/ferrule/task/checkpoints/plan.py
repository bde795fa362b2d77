"""What an undo would do to files, and what stands in its way: only paths that tools wrote, only where nobody else did since."""

from collections.abc import Iterable
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from ferrule.types.tools import FileState
from ferrule.workspace.restoring.putting import alike, exactly

from .folder import Folder
from .history import Ran, Step, changed


class Planned(Struct, frozen=True):
    """One path that is not as it shall be. `obstacle` says what stands in the way, empty for nothing; `force` goes past it unless
    it is `impossible` to restore the path at all."""

    path: str
    found: FileState
    wanted: FileState
    obstacle: str = ""
    impossible: bool = False


def plan(steps: Iterable[Step], ran: Iterable[Ran], to: int, folder: Folder) -> tuple[Planned, ...]:
    """All paths that steps after record `to` changed, in the order in which they can be restored."""
    later: dict[str, list[Step]] = {}
    for step in steps:
        if step.ended > to:
            later.setdefault(step.path, []).append(step)
    commands = [each.ended for each in ran]
    planned = [_planned(each, commands, folder) for each in later.values() if any(map(changed, each))]
    return in_order(each for each in planned if each is not None)


def in_order(planned: Iterable[Planned]) -> tuple[Planned, ...]:
    """Folders are made before what lies in them, and go after it."""
    return tuple(sorted(planned, key=_place))


def _place(planned: Planned) -> tuple[int, int]:
    depth = planned.path.count("/")
    match planned.wanted.kind, planned.found.kind:
        case "folder", _:
            return 0, depth
        case "nothing", "folder":
            return 2, -depth
        case _:
            return 1, 0


def _planned(steps: list[Step], commands: list[int], folder: Folder) -> Planned | None:
    path = steps[0].path
    if astray := folder.astray(path):
        nowhere = FileState(path, "other")
        return Planned(path, nowhere, steps[0].before, astray, impossible=True)
    found = folder.look(path)
    wanted = _with_mode(steps, found)
    if exactly(found, wanted):
        return None
    if why := _impossible(found, wanted, folder):
        return Planned(path, found, wanted, why, impossible=True)
    return Planned(path, found, wanted, _conflict(steps, found, commands))


def _with_mode(steps: list[Step], found: FileState) -> FileState:
    """What stood there before. The mode of a file is part of it only where a step changed it: else others did, or nobody."""
    wanted = steps[0].before
    untouched = all(
        step.after is not None and step.before.kind == step.after.kind == "file" and step.before.mode == step.after.mode
        for step in steps
    )
    return replace(wanted, mode=found.mode) if untouched and found.kind == "file" else wanted


def _impossible(found: FileState, wanted: FileState, folder: Folder) -> str:
    match wanted.kind, found.kind:
        case "file", _ if wanted.lost:
            return f"what it held cannot be brought back: {wanted.lost}"
        case "file", _ if not folder.kept(wanted):
            return "what it held is not kept here"
        case "other", _:
            return "what stood there was no file"
        case "file" | "link", "folder":
            return "a folder stands there now"
        case (_, "other") | ("folder", "file" | "link"):
            return f"what stands there now is no {wanted.kind if wanted.kind == 'folder' else 'file'}"
        case _:
            return ""


def _conflict(steps: list[Step], found: FileState, commands: list[int]) -> str:
    """Why what stands there may be somebody else's work; the contents alone decide."""
    for earlier, later in pairwise(steps):
        if why := _not_ours(earlier, later.before, commands, later.began, f"before record {later.began} wrote it again"):
            return why
    return _not_ours(steps[-1], found, commands, None, "since")


def _not_ours(step: Step, then: FileState, commands: list[int], until: int | None, when: str) -> str:
    """`then` is what stood there when the next step, or we, came by."""
    if step.after is None:
        return f"record {step.began} was writing it when it was broken off, and nobody knows what is whose"
    if alike(step.after, then):
        return ""
    suspect = any(step.ended < each and (until is None or each < until) for each in commands)
    who = "somebody else, or a command of the session," if suspect else "somebody else"
    return f"{who} {'removed' if then.kind == 'nothing' else 'changed'} it {when}"
