"""What an undo would change in files, as a unified diff; what is no text, or long, in a line."""

from ferrule.types.tools import FileState
from ferrule.workspace.encoding import decode

from .folder import Folder
from .plan import Planned

LONGEST = 400_000
"""Bytes of the largest file that is compared line by line."""


def difference(planned: Planned, folder: Folder) -> str:
    """From what stands there to what shall stand there. Raises StoreError where a kept content is damaged."""
    found, wanted = planned.found, planned.wanted
    heading = _heading(planned)
    if "file" not in (found.kind, wanted.kind) or found.sha256 == wanted.sha256:
        return heading
    old, new = _text(folder, found, stands=True), _text(folder, wanted, stands=False)
    if old is None or new is None:
        return f"{heading}(binary or long: not shown)\n"
    from difflib import unified_diff

    lines = unified_diff(
        old.splitlines(keepends=True),
        new.splitlines(keepends=True),
        f"a/{planned.path}" if found.kind == "file" else "/dev/null",
        f"b/{planned.path}" if wanted.kind == "file" else "/dev/null",
    )
    return heading + "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _heading(planned: Planned) -> str:
    found, wanted, path = planned.found, planned.wanted, planned.path
    match found.kind, wanted.kind:
        case "folder", "nothing":
            return f"remove the folder {path} if it is empty\n"
        case _, "nothing":
            return f"remove {path}\n"
        case "nothing", "folder":
            return f"make the folder {path}\n"
        case "nothing", _:
            return f"bring back {path}{_described(wanted)}\n"
        case "file", "file" if found.mode != wanted.mode:
            return f"restore {path}, mode {found.mode or 0:o} to {wanted.mode or 0:o}\n"
        case _:
            return f"restore {path}{_described(wanted)}\n"


def _described(wanted: FileState) -> str:
    return f", a link to {wanted.target}" if wanted.kind == "link" else ""


def _text(folder: Folder, state: FileState, stands: bool) -> str | None:
    """The content as text, empty where there is no file; None for what is not shown."""
    if state.kind != "file":
        return ""
    if stands:
        with folder.path(state.path).open("rb") as file:
            data = file.read(LONGEST + 1)
    elif folder.kept(state):
        data = folder.preimages.read(state.sha256 or "", 0, LONGEST + 1)
    else:
        return None
    decoded = decode(data) if len(data) <= LONGEST else None
    return None if decoded is None else decoded[0]
