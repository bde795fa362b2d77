"""The tools of a session in a folder of their own, with real processes and blobs."""

import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ferrule.process.protocol import Processes, allowed_environment
from ferrule.process.supervisor import Supervisor
from ferrule.store.blobs import FileBlobs
from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.tools.catalog import coding_tools
from ferrule.tools.schema import parse
from ferrule.types.errors import ToolError
from ferrule.types.tools import Action, ToolOutput, error


@dataclass
class Bench:
    root: Path
    blobs: FileBlobs
    tools: dict[str, Tool] = field(default_factory=lambda: {tool.name: tool for tool in coding_tools()})
    heard: list[str] = field(default_factory=list)
    processes: Callable[[], Processes] = Supervisor
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def place(self) -> Place:
        return Place(self.root)

    def call(self, name: str, **arguments: object) -> ToolOutput:
        """One call from JSON arguments to its output, as the engine makes it."""
        return asyncio.run(self._call(name, arguments))

    def text(self, name: str, **arguments: object) -> str:
        """The text of a call that must succeed."""
        output = self.call(name, **arguments)
        assert output.kind == "ok", said(output)
        return said(output)

    def refusal(self, name: str, **arguments: object) -> str:
        """The text of a call that must fail and change nothing."""
        before = snapshot(self.root)
        output = self.call(name, **arguments)
        assert (output.kind, output.changes) == ("error", ()), said(output)
        assert snapshot(self.root) == before
        return said(output)

    def actions(self, name: str, **arguments: object) -> tuple[Action, ...]:
        params = parse(self.tools[name], json.dumps(arguments))
        assert not isinstance(params, str), params
        return self.tools[name].actions(params, self.place)

    async def _call(self, name: str, arguments: dict[str, object]) -> ToolOutput:
        tool = self.tools[name]
        params = parse(tool, json.dumps(arguments))
        if isinstance(params, str):
            return error(params)
        processes = self.processes()
        environment = allowed_environment({**os.environ, **self.environment}, tuple(self.environment))
        context = ToolContext(self.place, processes, self.blobs, environment, on_output=self.heard.append)
        try:
            tool.actions(params, self.place)
            return await tool.run(params, context)
        except ToolError as problem:
            return error(str(problem))
        finally:
            await processes.close()


def said(output: ToolOutput) -> str:
    return "\n".join(part.text for part in output.parts)  # type: ignore[union-attr]  # no tool here returns images


def snapshot(root: Path) -> dict[bytes, tuple[int, bytes | None]]:
    """Every path below a folder with its mode and, for files, its content."""
    found: dict[bytes, tuple[int, bytes | None]] = {}
    for folder, names, files in os.walk(os.fsencode(root)):
        for name in [*names, *files]:
            path = os.path.join(folder, name)
            content = None
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    content = file.read()
            found[path] = os.lstat(path).st_mode, content
    return found
