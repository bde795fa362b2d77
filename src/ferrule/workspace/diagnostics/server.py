"""One language server of a session: started when it is first needed, asked about one file after the other."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

from ferrule.process.protocol import Ended, Processes

from .languages import Server
from .pipe import Pipe, piped
from .problems import Problem, Severity
from .wire import Frames, Garbled, framed

SETTLED = 0.15
"""Seconds after which a server that tells problems by itself has told all it knows of a text."""
OPEN = 20
"""Files that a server keeps open."""
SHOWN = 300
METHOD_NOT_FOUND = -32601
SEVERITIES: dict[object, Severity] = {1: "error", 2: "warning"}
CREATED, CHANGED, DELETED = 1, 2, 3


class Gone(Exception):
    """The server has ended; the text says how, to follow its name."""


class LanguageServer:
    """`ready` is done when it answers, or with Gone. One look at a time: who calls waits for nobody else."""

    def __init__(self, server: Server, root: Path, environment: tuple[tuple[str, str], ...], processes: Processes) -> None:
        self.server = server
        self._root = root
        self._processes = processes
        self._environment = tuple(sorted({**dict(environment), **dict(server.known.environment)}.items()))
        self._frames = Frames()
        self._pipe: Pipe | None = None
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._last = 0
        self._versions: dict[str, int] = {}
        self._told: dict[str, tuple[int | None, tuple[Problem, ...]]] = {}
        self._heard = asyncio.Event()
        self._pulls = False
        self._ended = ""
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ready.add_done_callback(lambda done: done.exception())
        self._life = asyncio.create_task(self._live())

    @property
    def name(self) -> str:
        return self.server.known.name

    async def problems(self, path: Path, text: str) -> tuple[Problem, ...]:
        """What it says about a text of the file, which need not be on disk. Raises Gone."""
        await asyncio.shield(self.ready)
        uri = path.as_uri()
        self._told.pop(uri, None)
        version = self._show(uri, path, text)
        if self._pulls:
            answer = await self._ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
            return _problems(answer.get("items") or () if isinstance(answer, dict) else (), self.name)
        while not self._is_told(uri, version):
            await self._hear()
        with contextlib.suppress(TimeoutError):
            while True:
                await asyncio.wait_for(self._hear(), SETTLED)
        return self._told[uri][1]

    def changed(self, path: Path, created: bool, gone: bool) -> None:
        """A file is another one on disk."""
        if not self.ready.done() or self.ready.exception() is not None:
            return
        uri = path.as_uri()
        kind = DELETED if gone else CREATED if created else CHANGED
        self._tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": kind}]})
        if gone and self._versions.pop(uri, None) is not None:
            self._tell("textDocument/didClose", {"textDocument": {"uri": uri}})
        elif uri in self._versions:
            self._tell("textDocument/didSave", {"textDocument": {"uri": uri}})

    async def close(self) -> None:
        """It and all below it have ended afterwards. May be called again."""
        self._life.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._life

    def _show(self, uri: str, path: Path, text: str) -> int:
        text = text.encode("utf-8", "replace").decode()  # bytes that are no text are kept as what JSON cannot hold
        version = self._versions.pop(uri, 0) + 1
        self._versions[uri] = version
        if version == 1:
            language = self.server.known.languages[path.suffix]
            document = {"uri": uri, "languageId": language, "version": version, "text": text}
            self._tell("textDocument/didOpen", {"textDocument": document})
        else:
            document = {"uri": uri, "version": version}
            self._tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        for oldest in list(self._versions)[:-OPEN]:
            del self._versions[oldest]
            self._tell("textDocument/didClose", {"textDocument": {"uri": oldest}})
        return version

    def _is_told(self, uri: str, version: int) -> bool:
        of, _ = self._told.get(uri, (0, ()))
        return of is None or of >= version

    async def _hear(self) -> None:
        """Wait for the next problems of any file. Raises Gone."""
        self._still_there()
        self._heard.clear()
        await self._heard.wait()
        self._still_there()

    def _still_there(self) -> None:
        if self._ended:
            raise Gone(self._ended)

    async def _live(self) -> None:
        """From the start of the process to its end, of which everybody who waits hears."""
        how = "was ended"
        try:
            argv = (self.server.program, *self.server.known.command[1:])
            async with piped(argv, self._root, self._environment, self._processes, self._take) as (self._pipe, running):
                begin = asyncio.create_task(self._begin())
                try:
                    how = _how(await running)
                finally:
                    begin.cancel()
                    self._pipe = None
        except Garbled as problem:
            how = str(problem)
        except OSError as problem:
            how = f"could not be started: {problem.strerror}"
        finally:
            self._ended = how
            for waiting in (self.ready, *self._asked.values()):
                if not waiting.done():
                    waiting.set_exception(Gone(how))
            self._heard.set()

    async def _begin(self) -> None:
        root = self._root.as_uri()
        answer = await self._ask(
            "initialize",
            {
                "processId": None,
                "rootUri": root,
                "workspaceFolders": [{"uri": root, "name": self._root.name}],
                "initializationOptions": self.server.options,
                "capabilities": {
                    "general": {"positionEncodings": ["utf-16"]},
                    "workspace": {"workspaceFolders": True, "configuration": True, "didChangeWatchedFiles": {}},
                    "textDocument": {
                        "synchronization": {"didSave": True},
                        "publishDiagnostics": {"versionSupport": True},
                        "diagnostic": {},
                    },
                },
            },
        )
        abilities = answer.get("capabilities") if isinstance(answer, dict) else None
        self._pulls = isinstance(abilities, dict) and abilities.get("diagnosticProvider") not in (None, False)
        self._tell("initialized", {})
        if not self.ready.done():
            self.ready.set_result(None)

    async def _ask(self, method: str, params: Any) -> Any:
        """The result; None for an error. Raises Gone."""
        self._still_there()
        self._last += 1
        id, answer = self._last, asyncio.get_running_loop().create_future()
        self._asked[id] = answer
        self._send({"id": id, "method": method, "params": params})
        try:
            return await answer
        finally:
            self._asked.pop(id, None)

    def _tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        if self._pipe is not None:
            self._pipe.write(framed({"jsonrpc": "2.0", **message}))

    def _take(self, data: bytes) -> None:
        """Raises Garbled, which ends the server."""
        for message in self._frames.feed(data):
            match message:
                case {"method": str(method), "id": id}:
                    self._send({"id": id, **self._answer(method, message.get("params"))})
                case {"method": "textDocument/publishDiagnostics", "params": {"uri": str(uri), "diagnostics": list(items)}}:
                    version = message["params"].get("version")
                    self._told[_spelled(uri)] = (version, _problems(items, self.name))
                    self._heard.set()
                case {"id": int(id)} if (waiting := self._asked.get(id)) is not None and not waiting.done():
                    waiting.set_result(message.get("result"))

    def _answer(self, method: str, params: Any) -> dict[str, Any]:
        match method, params:
            case "workspace/configuration", {"items": list(items)}:
                return {"result": [None] * len(items)}
            case "workspace/workspaceFolders", _:
                return {"result": [{"uri": self._root.as_uri(), "name": self._root.name}]}
            case "workspace/applyEdit", _:
                return {"result": {"applied": False}}
            case (("client/registerCapability" | "client/unregisterCapability" | "window/workDoneProgress/create"), _):
                return {"result": None}
            case _:
                return {"error": {"code": METHOD_NOT_FOUND, "message": f"{method} is not known here"}}


def _spelled(uri: str) -> str:
    """As we spell it: servers quote other characters than we do."""
    from urllib.parse import unquote, urlsplit

    parts = urlsplit(uri)
    return Path(unquote(parts.path)).as_uri() if parts.scheme == "file" and parts.path.startswith("/") else uri


def _problems(items: Any, name: str) -> tuple[Problem, ...]:
    found: list[Problem] = []
    for item in items:
        match item:
            case {"message": str(text), "range": {"start": {"line": int(line)}}}:
                severity = SEVERITIES.get(item.get("severity", 1))
                if severity is not None:
                    rule = item.get("code")
                    source = f"{item.get('source') or name} {rule}" if rule not in (None, "") else item.get("source") or name
                    found.append(Problem(line + 1, severity, " ".join(text.split())[:SHOWN], str(source)))
    return tuple(found)


def _how(ended: Ended) -> str:
    if ended.error is not None:
        return ended.error
    return f"ended by signal {ended.signal}" if ended.signal is not None else f"ended with exit code {ended.exit_code}"
