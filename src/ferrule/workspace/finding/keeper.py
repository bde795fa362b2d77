"""Fills an index and keeps it true to what is on disk. All work on an index happens in one thread, in the order of asking."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from ferrule.process.protocol import Command, Processes
from ferrule.workspace.walk import skeleton

from .following import hide, look, relative, update
from .index import Index
from .listing import Environment, folders, listed
from .watching import arguments, parse

SLICE = 64
"""Folders that are looked at before a query gets its turn."""
PORTION = 4096
AGAIN = 0.3
"""Seconds after which a new folder is looked at once more: what was put into it at once may have come before it was watched."""

Result = TypeVar("Result")


class Keeper:
    """`remark` says what is missing, `deaf` why changes are not followed; both are empty where all is well.

    Since the last beginning, `listed`: every ordinary file is known; `settled`: everything was looked through.
    """

    def __init__(self, root: Path, processes: Processes, environment: Environment, follow: bool) -> None:
        self.index = Index()
        self.remark = ""
        self.deaf = "" if follow else "Changes are not followed."
        self.settled = asyncio.Event()
        self.began = 0.0
        self._root = root
        self._processes = processes
        self._environment = environment
        self._thread = ThreadPoolExecutor(1, "finder")
        self._tasks: set[asyncio.Task[None]] = set()
        self._filling: asyncio.Task[None] | None = None
        self.listed = asyncio.Event()
        self._walked = asyncio.Event()
        self._rest = b""
        self._heard: dict[str, list[str]] = {"e": [], "r": [], "c": []}
        self._fill()
        if follow:
            self._spawn(self._follow())

    async def run(self, work: Callable[[], Result]) -> Result:
        """In the thread of the index."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def refresh(self) -> None:
        """List anew, for one who is deaf; what is known stays until that is done."""
        if self._filling is None or self._filling.done():
            self.began = asyncio.get_running_loop().time()
            self._filling = self._spawn(self._list(Index()))

    async def close(self) -> None:
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)
        await asyncio.to_thread(self._thread.shutdown, True, cancel_futures=True)

    def _fill(self) -> None:
        """Begin with an empty index: an answer may be incomplete, and says so, but never holds what is ignored by now."""
        if self._filling is not None:
            self._filling.cancel()
        self.index = Index()
        self.listed.clear()
        self.settled.clear()
        self._walked.clear()
        self.began = asyncio.get_running_loop().time()
        self._filling = self._spawn(self._list(self.index))

    async def _list(self, index: Index) -> None:
        adding: list[asyncio.Task[None]] = []

        def take(paths: list[str]) -> None:
            adding.append(self._spawn(self.run(lambda: index.load(paths))))

        trouble = await listed(self._root, self._processes, self._environment, take)
        for each in adding:
            await each
        self.listed.set()
        await self.run(lambda: index.add(folders(index.known)))
        await self.run(index.warm)
        known = await self.run(lambda: list(index.known))
        for at in range(0, len(known), PORTION):
            portion = known[at : at + PORTION]
            await self.run(lambda portion=portion: hide(index, self._root, portion))  # type: ignore[misc]  # as in `_walk`
        if not self.deaf:
            await self._walked.wait()
        if self.deaf:
            await self._walk(index)
        self.remark = f"Files are missing: {trouble}." if trouble else ""
        self.index = index
        self.settled.set()

    async def _walk(self, index: Index) -> None:
        """What ripgrep does not list, by ourselves."""
        entries = await asyncio.to_thread(
            lambda: [relative(self._root, entry.path, entry.folder) for entry in skeleton(self._root)]
        )
        for at in range(0, len(entries), PORTION):
            portion = entries[at : at + PORTION]
            await self.run(lambda portion=portion: index.add(portion))  # type: ignore[misc]  # mypy sees no type in a default

    async def _follow(self) -> None:
        """From the first listing on: to begin to watch takes longer than that, and what changed between is seen by its time."""
        began = time.time()
        await self.listed.wait()
        command = Command(arguments(self._root, began), "/", self._environment, stderr="null", own=True)
        ended = await self._processes.run(command, self._receive)
        self.deaf = self.deaf or f"Changes are not followed: {ended.error or 'the program that watches ended'}."
        self._walked.set()

    def _receive(self, data: bytes) -> None:
        *records, self._rest = (self._rest + data).split(b"\0")
        for record in records:
            letter, path = parse(record)
            match letter:
                case "x":
                    self._fill()
                case "!":
                    self.deaf = f"Changes are not followed: {path}."
                case "." | "w":
                    heard, self._heard = self._heard, {"e": [], "r": [], "c": []}
                    self._spawn(self._apply(self.index, heard, letter == "w"))
                case _:
                    self._heard[letter].append(path)

    async def _apply(self, index: Index, heard: dict[str, list[str]], walked: bool) -> None:
        """Behind the listing, which may name what went meanwhile and not yet what it lies in."""
        await self.listed.wait()
        entries, changed, paths = heard["e"], heard["r"], heard["c"]
        if entries:
            await self.run(lambda: index.add(entries))
        if paths:
            self._once_more(index, await self.run(lambda: update(index, self._root, paths)))
        await self._look(index, changed)
        if walked and index is self.index:
            self._walked.set()

    async def _look(self, index: Index, folders: Sequence[str]) -> None:
        for at in range(0, len(folders), SLICE):
            part = folders[at : at + SLICE]
            self._once_more(index, await self.run(lambda part=part: look(index, self._root, part)))  # type: ignore[misc]  # as above

    def _once_more(self, index: Index, folders: Sequence[str]) -> None:
        if folders:
            self._spawn(self._later(index, folders))

    async def _later(self, index: Index, folders: Sequence[str]) -> None:
        await asyncio.sleep(AGAIN)
        await self._look(index, folders)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
