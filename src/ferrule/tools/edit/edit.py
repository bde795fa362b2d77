"""`edit`: replace one piece of text in a file."""

from functools import partial
from typing import Annotated

from msgspec import Meta, Struct

from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.names import spell
from ferrule.types.tools import Action, Effect, ToolOutput, ok
from ferrule.workspace.diagnostics.edited import Edited
from ferrule.workspace.document import Document
from ferrule.workspace.matching import Found, find, line_number, rewrite

from .editing import Editing
from .failing import explained
from .matchless import no_match

LISTED = 20


class Edit(Struct, frozen=True):
    file_path: Annotated[str, Meta(description="File, relative to the workspace or absolute.")]
    old_string: Annotated[str, Meta(description="The text as it stands in the file, without line numbers.")]
    new_string: Annotated[str, Meta(description="What takes its place.")]
    replace_all: Annotated[bool, Meta(description="Replace every occurrence.")] = False
    expected_replacements: Annotated[int | None, Meta(description="Replace exactly this many occurrences, or none.")] = None


def edit(editing: Editing | None = None) -> Tool:
    return Tool(
        name="edit",
        description="Replace old_string by new_string in a file. old_string must occur exactly once (add lines around it until "
        "it does) unless replace_all or expected_replacements is given. Where no exact match exists, differences in line endings "
        "and white space are tolerated, and the file's own are kept.",
        params=Edit,
        effect=Effect.MUTATING,
        actions=_actions,
        run=partial(_run, editing or Editing()),
    )


def _actions(params: Edit, place: Place) -> tuple[Action, ...]:
    path = spell(str(place.resolve(params.file_path)))
    return Action("read", (path,)), Action("write", (path,))


async def _run(editing: Editing, params: Edit, context: ToolContext) -> ToolOutput:
    if not params.old_string:
        raise ToolError("`old_string` is empty. Use write_to_file to create or overwrite a file.")
    if params.old_string == params.new_string:
        raise ToolError("`old_string` and `new_string` are identical; nothing to do.")
    if params.expected_replacements is not None and params.expected_replacements < 1:
        raise ToolError(f"`expected_replacements` must be at least 1, got {params.expected_replacements}.")
    path = context.place.resolve(params.file_path)
    shown = context.place.shown(path)
    document = editing.opened(path, context.place)
    found = find(document.text, params.old_string)
    if found is None:
        raise ToolError(f"Nothing was changed: {no_match(document.text, params.old_string, 'old_string', shown)}")
    _check_count(params, found, document, shown)
    text = _replaced(document.text, found, params)
    if text == document.text:
        raise ToolError(f"{shown} already holds new_string there; nothing was changed.")
    with explained("edit", path, context.place):
        change = document.write(text, shown)
    editing.seen.wrote(path, change.after)
    wrong = await editing.look((Edited(path, shown, document.text, text),), context)
    return ok(_summary(document, found, shown) + wrong, (change,))


def _check_count(params: Edit, found: Found, document: Document, shown: str) -> None:
    count, expected = len(found.spans), params.expected_replacements
    lines = ", ".join(str(line_number(document.text, span.start)) for span in found.spans[:LISTED])
    where = f"line{'' if count == 1 else 's'} {lines}{', …' if count > LISTED else ''}"
    if expected is not None and count != expected:
        raise ToolError(f"`old_string` occurs {_times(count)} in {shown} ({where}), expected {expected}. Nothing was changed.")
    if expected is None and count > 1 and not params.replace_all:
        raise ToolError(
            f"`old_string` occurs {count} times in {shown} ({where}). Add lines around it to make it unique, or set "
            "`replace_all`. Nothing was changed."
        )


def _replaced(text: str, found: Found, params: Edit) -> str:
    pieces: list[str] = []
    at = 0
    for span in found.spans:
        pieces += [text[at : span.start], rewrite(text, span, params.old_string, params.new_string, found.level)]
        at = span.end
    return "".join([*pieces, text[at:]])


def _summary(document: Document, found: Found, shown: str) -> str:
    first = line_number(document.text, found.spans[0].start)
    what = f"at line {first}" if len(found.spans) == 1 else f"in {len(found.spans)} places, the first at line {first}"
    note = "" if found.level == "exact" else f" The match differed in {found.level}; the file's own were kept."
    return f"Edited {shown} {what}.{note} There is no need to read it again."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
