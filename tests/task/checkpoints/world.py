"""A project folder with odd files, sessions in it that a script plays, and the exact state of every path."""

import asyncio
import json
import os
import stat
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ferrule.store.sessions import Sessions
from ferrule.task.checkpoints.undo import Undo, Wanted, preview, undo
from ferrule.task.config.schema import Config
from ferrule.task.open import TaskOptions, open_task
from ferrule.types.records import Record
from ferrule.types.result import RunResult

Call = dict[str, Any]
Tree = dict[str, tuple[str, int, bytes]]


def call(name: str, **arguments: Any) -> Call:
    return {"name": name, "arguments": arguments}


def write(path: str, content: str) -> Call:
    return call("write_to_file", path=path, content=content)


def patch(*lines: str) -> Call:
    return call("apply_patch", patch="\n".join(("*** Begin Patch", *lines, "*** End Patch")) + "\n")


def delete(path: str) -> Call:
    return patch(f"*** Delete File: {path}")


class World(NamedTuple):
    """`base` holds the project, the state folder and the script."""

    base: Path

    @property
    def folder(self) -> Path:
        return self.base / "project"

    @property
    def environ(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.base), "FERRULE_HOME": str(self.base / "state")}

    def run(self, *calls: Call, prompt: str | None = "Do it.", more: bool = False) -> RunResult:
        """One run that makes the calls one after the other and completes; `more` goes on with the last session."""
        steps = [{"calls": [each]} for each in calls] + [{"calls": [call("attempt_completion", result="Done.")]}]
        before = self.base.joinpath("script.json")
        earlier = json.loads(before.read_text())["steps"] if more and before.exists() else []
        before.write_text(json.dumps({"version": 1, "steps": [*earlier, *steps]}))
        config = Config(approve="all", model=f"scripted/{before}")
        options = TaskOptions(prompt, self.folder, config, self.environ, self.base / "user", resume="latest" if more else None)
        return asyncio.run(_driven(options))

    def undo(self, written: str | None = None, **wanted: Any) -> Undo:
        return asyncio.run(undo(self.environ, written, self.folder, Wanted(**wanted)))

    def preview(self, **wanted: Any) -> tuple[Undo, tuple[str, ...]]:
        previewed = asyncio.run(preview(self.environ, None, self.folder, Wanted(**wanted)))
        return previewed.undo, previewed.differences

    @property
    def records(self) -> list[Record]:
        """Of the only session."""
        sessions = Sessions(self.base / "state")
        (info,) = sessions.list()
        return asyncio.run(_read(sessions.reader(info.id).records()))

    @property
    def tree(self) -> Tree:
        return tree(self.folder)


async def _read(records: AsyncIterator[Record]) -> list[Record]:
    return [record async for record in records]


async def _driven(options: TaskOptions) -> RunResult:
    task = await open_task(options)
    try:
        return await task.run()
    finally:
        await task.close()


def world(base: Path, files: dict[str, str | bytes] | None = None, links: Sequence[tuple[str, str]] = ()) -> World:
    made = World(base.resolve())
    made.folder.mkdir(parents=True)
    for name, content in (files or {}).items():
        path = made.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for name, target in links:
        (made.folder / name).symlink_to(target)
    return made


def tree(folder: Path) -> Tree:
    """Kind, mode bits and content (or target) of everything below a folder."""
    return {str(path.relative_to(folder)): _state(path) for path in sorted(folder.rglob("*"))}


def _state(path: Path) -> tuple[str, int, bytes]:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return "link", 0, os.fsencode(path.readlink())
    if stat.S_ISDIR(mode):
        return "folder", stat.S_IMODE(mode), b""
    return "file", stat.S_IMODE(mode), path.read_bytes()


def states(found: Undo) -> dict[str, str]:
    """What stands in the way of each path."""
    return {each.path: each.obstacle for each in found.files}
