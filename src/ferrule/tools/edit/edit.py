"""`edit`: replace one piece of text in a file."""

import re
from typing import Annotated

from msgspec import Meta, Struct

from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.names import spell
from ferrule.types.tools import Action, Effect, ToolOutput, ok
from ferrule.workspace.document import Document
from ferrule.workspace.encoding import shown as printable
from ferrule.workspace.matching import Found, find, line_number, nearest, rewrite

from .failing import explained, opened

SHOWN = 30
"""Lines of the nearest region that a failure shows."""
LISTED = 20

_NUMBERED = re.compile(r"\s*\d+ \| ?")


class Edit(Struct, frozen=True):
    file_path: Annotated[str, Meta(description="File, relative to the workspace or absolute.")]
    old_string: Annotated[str, Meta(description="The text as it stands in the file, without line numbers.")]
    new_string: Annotated[str, Meta(description="What takes its place.")]
    replace_all: Annotated[bool, Meta(description="Replace every occurrence.")] = False
    expected_replacements: Annotated[int | None, Meta(description="Replace exactly this many occurrences, or none.")] = None


def edit() -> Tool:
    return Tool(
        name="edit",
        description="Replace old_string by new_string in a file. old_string must occur exactly once (add lines around it until "
        "it does) unless replace_all or expected_replacements is given. Where no exact match exists, differences in line endings "
        "and white space are tolerated, and the file's own are kept.",
        params=Edit,
        effect=Effect.MUTATING,
        actions=_actions,
        run=_run,
    )


def _actions(params: Edit, place: Place) -> tuple[Action, ...]:
    path = spell(str(place.resolve(params.file_path)))
    return Action("read", (path,)), Action("write", (path,))


async def _run(params: Edit, context: ToolContext) -> ToolOutput:
    if not params.old_string:
        raise ToolError("`old_string` is empty. Use write_to_file to create or overwrite a file.")
    if params.old_string == params.new_string:
        raise ToolError("`old_string` and `new_string` are identical; nothing to do.")
    if params.expected_replacements is not None and params.expected_replacements < 1:
        raise ToolError(f"`expected_replacements` must be at least 1, got {params.expected_replacements}.")
    path = context.place.resolve(params.file_path)
    shown = context.place.shown(path)
    document = opened(path, context.place)
    found = find(document.text, params.old_string)
    if found is None:
        raise ToolError(f"Nothing was changed: {no_match(document.text, params.old_string, 'old_string', shown)}")
    _check_count(params, found, document, shown)
    text = _replaced(document.text, found, params)
    if text == document.text:
        raise ToolError(f"{shown} already holds new_string there; nothing was changed.")
    with explained("edit", path, context.place):
        change = document.write(text, shown)
    return ok(_summary(document, found, shown), (change,))


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


def no_match(text: str, wanted: str, name: str, shown: str) -> str:
    """Says that `wanted` (the parameter or part called `name`) is not in a file, what comes nearest, and what differs."""
    head = f"`{name}` is not in {shown}."
    lines = wanted.splitlines()
    if lines and all(_NUMBERED.match(line) for line in lines):
        head += " It seems to contain line numbers (`N | `); leave them out."
    near = nearest(text, wanted)
    if near is None:
        return f"{head} Nothing in the file resembles it; read the file again."
    width = len(str(near.first + len(near.lines)))
    region = [f"{number:>{width}} | {printable(line[:500])}" for number, line in enumerate(near.lines[:SHOWN], near.first)]
    if len(near.lines) > SHOWN:
        region.append(f"{'':>{width}} | … {len(near.lines) - SHOWN} more lines")
    return "\n".join([f"{head} The nearest region:", *region, _difference(near.at, near.has, near.wanted, name)])


def _difference(at: int, has: str | None, wanted: str | None, name: str) -> str:
    if wanted is None:
        return "Its lines are equal; what differs is where the text begins or ends."
    if has is None:
        return f"The file ends before line {at}, where `{name}` has {wanted[:500]!r}."
    return f"First difference in line {at}: the file has {has[:500]!r}, `{name}` has {wanted[:500]!r}."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
