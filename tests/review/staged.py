"""Stages findings as the engine does: from JSON arguments through the tool into the conversation."""

import asyncio
import json
from pathlib import Path

from ferrule.process.supervisor import Supervisor
from ferrule.review.staging import comment_tool
from ferrule.store.blobs import FileBlobs
from ferrule.store.folds import Conversation
from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.tools.schema import parse
from ferrule.types.errors import ToolError
from ferrule.types.messages import Text
from ferrule.types.records import Record, Staged
from ferrule.types.review import Finding
from ferrule.types.tools import ToolOutput, error
from ferrule.workspace.diff.model import Diff, File, Hunk, Line


def called(tool: Tool, **arguments: object) -> ToolOutput:
    params = parse(tool, json.dumps(arguments))
    if isinstance(params, str):
        return error(params)
    context = ToolContext(Place(Path("/")), Supervisor(), FileBlobs(Path("/nonexistent")), ())

    async def run() -> ToolOutput:
        try:
            return await tool.run(params, context)
        except ToolError as refusal:
            return error(str(refusal))

    return asyncio.run(run())


def said(output: ToolOutput) -> str:
    return "".join(part.text for part in output.parts if isinstance(part, Text))


class Staging:
    def __init__(self, diff: Diff) -> None:
        self.conversation = Conversation()
        self.tool = comment_tool(diff, self.conversation)

    def comment(self, **arguments: object) -> ToolOutput:
        output = called(self.tool, **arguments)
        for finding in output.staged:
            self.conversation.add(Record(1, "main", 0.0, Staged("c", finding), ""))
        return output

    @property
    def findings(self) -> list[Finding]:
        return list(self.conversation.staged.values())


def added(path: str, texts: list[str]) -> File:
    lines = tuple(Line("added", None, number, text) for number, text in enumerate(texts, 1))
    hunks = (Hunk(0, 0, 0, 1, len(texts), "", lines),) if lines else ()
    return File("added", None, path, 0, 0o100644, None, "1" * 40, hunks)
