"""`write_to_file`: the whole content of one file."""

from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.names import spell
from ferrule.types.tools import Action, Effect, FileChange, ToolOutput, ok
from ferrule.workspace.diagnostics.edited import Edited
from ferrule.workspace.encoding import UTF_8, Encoding, decode
from ferrule.workspace.endings import common_ending
from ferrule.workspace.writing import Seen, replace, see

from .editing import Editing
from .failing import explained


class WriteToFile(Struct, frozen=True):
    path: Annotated[str, Meta(description="File, relative to the workspace or absolute.")]
    content: Annotated[str, Meta(description="The complete content.")]


def write_to_file(editing: Editing | None = None) -> Tool:
    return Tool(
        name="write_to_file",
        description="Create a file, with the folders it needs, or replace all of its content. To change a part of a file, use "
        "edit or apply_diff.",
        params=WriteToFile,
        effect=Effect.IDEMPOTENT,
        actions=_actions,
        run=partial(_run, editing or Editing()),
    )


def _actions(params: WriteToFile, place: Place) -> tuple[Action, ...]:
    return (Action("write", (spell(str(place.resolve(params.path))),)),)


async def _run(editing: Editing, params: WriteToFile, context: ToolContext) -> ToolOutput:
    if not params.path or params.path.endswith("/"):
        raise ToolError(f"`path` must name a file, got {params.path!r}.")
    path = context.place.resolve(params.path)
    shown = context.place.shown(path)
    _check_folder(path, shown, context.place)
    with explained("write", path, context.place):
        seen = see(path)
        content, notes = _encoded(params.content, seen)
    if content == seen.content:
        # Listed all the same: after a crash the first try may have written it without a record.
        editing.seen.wrote(path, seen.digest)
        return ok(_result(shown, "unchanged", content, notes), (FileChange(shown, seen.digest, seen.digest),))
    editing.seen.check(path, seen, shown)
    with explained("write", path, context.place):
        after = replace(path, content, seen)
    editing.seen.wrote(path, after)
    old = None if seen.content is None else decode(seen.content)
    wrong = await editing.look((Edited(path, shown, old and old[0], params.content),), context)
    operation = "created" if seen.version is None else "modified"
    return ok(_result(shown, operation, content, notes, wrong), (FileChange(shown, seen.digest, after),))


def _check_folder(path: Path, shown: str, place: Place) -> None:
    existing = next(folder for folder in path.parents if folder.exists())
    if not existing.is_dir():
        raise ToolError(f"Cannot write {shown}: {place.shown(existing)} is not a folder.")


def _encoded(content: str, seen: Seen) -> tuple[bytes, list[str]]:
    """The bytes, in the encoding of the old file where it has a special one that can spell the content."""
    old = None if seen.content is None else decode(seen.content)
    notes: list[str] = []
    if old is not None and common_ending(old[0]) == "\r\n" and common_ending(content) == "\n":
        notes.append("The line endings changed from CRLF to LF.")
    if old is not None and not old[1].plain:
        kept = _in(old[1], content)
        if kept is not None:
            return kept, [*notes, f"The encoding was kept: {old[1].label}."]
        notes.append(f"The encoding changed from {old[1].label}, which cannot spell the new content, to UTF-8.")
    encoded = _in(UTF_8, content)
    if encoded is None:
        raise ToolError("`content` holds half a surrogate pair, which no file can; nothing was written")
    return encoded, notes


def _in(encoding: Encoding, content: str) -> bytes | None:
    try:
        return encoding.encode(content.removeprefix("\ufeff") if encoding.bom else content)
    except UnicodeEncodeError:
        return None


def _result(shown: str, operation: str, content: bytes, notes: list[str], wrong: str = "") -> str:
    notice = " ".join([*notes, "The file is as you wrote it; there is no need to read it again."])
    told = {"path": shown, "operation": operation, "bytes": len(content), "notice": notice}
    if wrong:
        told["problems"] = wrong.strip()
    return msgspec.json.encode(told).decode()
