"""Secrets that stand in the change under review: a model, the journal and the screen get their kind instead of their value."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace
from msgspec.structs import replace as replaced

from ferrule.context.secrets import Mask
from ferrule.tools.base import Tool, ToolContext
from ferrule.types.messages import Text
from ferrule.types.tools import ToolOutput
from ferrule.workspace.checkers.base import Changed
from ferrule.workspace.checkers.text.secrets import values
from ferrule.workspace.diff.model import File


def secrets_mask(files: Sequence[File], contents: Sequence[Changed]) -> Mask:
    """Of what is a secret by its shape in any line that the diff shows, on either side."""
    found = values(side for changed in contents for side in _sides({file.path: file for file in files}[changed.path], changed))
    return Mask(tuple((kind, value) for value, kind in found.items()))


def _sides(file: File, changed: Changed) -> Iterator[Changed]:
    lines = [line for hunk in file.hunks for line in hunk.lines]
    yield replaced(changed, old=None, lines=tuple(line.new for line in lines if line.new is not None))
    yield replaced(changed, new=changed.old, old=None, lines=tuple(line.old for line in lines if line.old is not None))


def hiding(tool: Tool, mask: Mask) -> Tool:
    """The same tool, whose results hold no value that `mask` knows."""

    async def run(params: object, context: ToolContext) -> ToolOutput:
        output = await tool.run(params, context)
        parts = tuple(Text(mask.text(part.text)) if isinstance(part, Text) else part for part in output.parts)
        return replaced(output, parts=parts)

    return replace(tool, run=run)
