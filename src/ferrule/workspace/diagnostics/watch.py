"""Looks at files after an edit and tells what is wrong with them since."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from ferrule.process.protocol import Processes

from .edited import Edited
from .languages import SERVERS, Known, installed
from .problems import Problem, fresh
from .server import Gone, LanguageServer

LIMIT = 1.0
"""Seconds that a look may take."""
LARGEST = 1_000_000
"""Characters of a file that is looked at."""
TOLD = 20
KEPT = 50
"""Files whose last judged text is kept."""
WARMING = 0.3
"""Seconds for which the first look waits for a server to answer."""
PATIENT = 5
"""Looks that a server may let pass without an answer."""
MANY = 10
"""Files of one edit that are looked at."""

Setting = Literal["off", "checks", "servers"]


class _Base(Struct, frozen=True):
    """What later looks at a file are compared with: a text, and its problems once somebody has judged it."""

    text: str
    problems: tuple[Problem, ...] | None


class Watch:
    """One for a session. Servers are started when a file of theirs is first edited and end with `close`."""

    def __init__(
        self,
        root: Path,
        environment: tuple[tuple[str, str], ...],
        setting: Setting = "servers",
        known: tuple[Known, ...] = SERVERS,
        limit: float = LIMIT,
    ) -> None:
        self._root = root
        self._environment = environment
        self._setting = setting
        self._known = known
        self._limit = limit
        self._servers: dict[str, LanguageServer | None] = {}
        self._started: list[LanguageServer] = []
        self._bases: OrderedDict[tuple[str, Path], _Base] = OrderedDict()
        self._said: set[str] = set()
        self._lates: dict[str, int] = {}
        self._asking = ""

    async def look(self, files: tuple[Edited, ...], processes: Processes) -> str:
        """New problems as lines, and why there may be more; empty where there is nothing to say."""
        if self._setting == "off":
            return ""
        found: list[str] = []
        notes: list[str] = []
        try:
            async with asyncio.timeout(self._limit):
                for file in files[:MANY]:
                    problems = await self._one(file, processes, notes.append)
                    found += [f"{file.shown}:{each.line}: {each.severity}: {each.text} [{each.source}]" for each in problems]
        except TimeoutError:
            notes.append(self._late())
        except OSError as problem:
            notes.append(f"Problems could not be looked for: {problem.strerror or problem}.")
        if len(found) > TOLD:
            found[TOLD:] = [f"… and {len(found) - TOLD} more"]
        return "\n".join([*(["New problems:"] if found else []), *found, *(f"({note})" for note in notes)])

    def _late(self) -> str:
        """What is said when a look took too long; a server that is late again and again is left alone."""
        server = self._servers.get(self._asking)
        if server is not None and server.ready.done():
            self._lates[server.name] = self._lates.get(server.name, 0) + 1
            if self._lates[server.name] >= PATIENT:
                self._servers[self._asking] = None
                return f"{server.name} was too slow {PATIENT} times; only checkers look at {self._asking} files."
        return f"Problems were looked for no longer than {self._limit:g} s; those that are missing here may be told later."

    async def close(self) -> None:
        """May be called again."""
        self._servers = dict.fromkeys(self._servers)
        await asyncio.gather(*(server.close() for server in self._started))

    async def _one(self, file: Edited, processes: Processes, note: Callable[[str], None]) -> tuple[Problem, ...]:
        self._asking = file.path.suffix
        server = self._server(self._asking, processes)
        if server is not None:
            server.changed(file.path, file.before is None, file.after is None)
        if file.after is None or max(len(file.after), len(file.before or "")) > LARGEST:
            return ()
        if server is not None and await self._answers(server, file, note):
            try:
                return await self._judged(file, server.name, lambda text: server.problems(file.path, text))
            except Gone as gone:
                self._servers[file.path.suffix] = None
                note(f"{server.name} {gone}; only checkers look at {file.path.suffix} files.")
        return await self._judged(file, "", lambda text: self._checked(file.path, text, processes))

    def _server(self, suffix: str, processes: Processes) -> LanguageServer | None:
        """The one for files of this suffix, started if it is installed; None where there is none or it has ended."""
        if self._setting == "servers" and suffix not in self._servers:
            found = installed(suffix, dict(self._environment).get("PATH", ""), self._known)
            server = next((each for each in self._started if found is not None and each.name == found.known.name), None)
            if found is not None and server is None:
                server = LanguageServer(found, self._root, self._environment, processes)
                self._started.append(server)
            self._servers[suffix] = server
        return self._servers.get(suffix)

    async def _answers(self, server: LanguageServer, file: Edited, note: Callable[[str], None]) -> bool:
        """Whether the server has come up. Until it has, the text that it would have judged first is kept for it."""
        if not server.ready.done() and server.name not in self._said:
            await asyncio.wait([server.ready], timeout=WARMING)
        if server.ready.done():
            return True
        self._bases.setdefault((server.name, file.path), _Base(file.before or "", None))
        if server.name not in self._said:
            self._said.add(server.name)
            note(f"{server.name} is still starting; until it answers only checkers look at {file.path.suffix} files.")
        return False

    async def _judged(
        self, file: Edited, judge: str, problems: Callable[[str], Awaitable[tuple[Problem, ...]]]
    ) -> tuple[Problem, ...]:
        """The problems since the last text that this judge has judged, else since before the edit."""
        key, text = (judge, file.path), file.after or ""
        base = self._bases.get(key) or _Base(file.before or "", None if file.before else ())
        if base.problems is None and judge:
            # A server sees a file change: it is asked in the order of time.
            base = self._bases[key] = _Base(base.text, await problems(base.text))
        after = await problems(text)
        if base.problems is None:
            base = _Base(base.text, await problems(base.text) if after else ())
        self._bases[key] = _Base(text, after)
        self._bases.move_to_end(key)
        while len(self._bases) > KEPT:
            self._bases.popitem(last=False)
        return fresh(base.problems or (), after, base.text, text)

    async def _checked(self, path: Path, text: str, processes: Processes) -> tuple[Problem, ...]:
        from .checking import by_checkers

        return await by_checkers(path, self._root, text, processes, self._environment)
