"""A loopback HTTP server that plays a script in the wire formats of four vendors, and records what it was asked.

    python -m tests.fakes.server SCRIPT [--port 0] [--record FILE]

prints its base URL and serves until it is ended. Paths: /v1/chat/completions, /v1/responses, /v1/messages,
/v1beta/models/NAME:streamGenerateContent, and the lists of models at /v1/models and /v1beta/models.
"""

import argparse
import base64
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from ferrule.providers.scripted.answer import Said, Unplayable, place, say, stop_of, usage_of
from ferrule.providers.scripted.faults import Http, StreamError, said
from ferrule.providers.scripted.position import Position, Turn
from ferrule.providers.scripted.script import Script, load, parse
from tests.fakes import wire_anthropic, wire_chat, wire_google, wire_responses
from tests.fakes.connection import Connection, Incoming
from tests.fakes.sending import Play
from tests.fakes.spelling import Dialect, Json, Speech, dumps, halves

Validate = Callable[[str, Json], list[str]]
DIALECTS: dict[str, Dialect] = {
    "openai": wire_chat,
    "openai-responses": wire_responses,
    "anthropic": wire_anthropic,
    "google": wire_google,
}
STREAMING = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}


@dataclass
class Recorded:
    """One request. Times are of `time.monotonic`; `ended` is when its last bytes begin to be sent.

    `step` counts from 1; `problem` says why the script could not answer it; `violations` are what the hook found.
    """

    number: int
    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    dialect: str | None
    arrived: float
    ended: float | None = None
    step: int | None = None
    problem: str | None = None
    violations: tuple[str, ...] = ()

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    def line(self) -> str:
        try:
            text, encoding = self.raw.decode(), "utf-8"
        except UnicodeDecodeError:
            text, encoding = base64.b64encode(self.raw).decode(), "base64"
        return dumps({**{key: value for key, value in vars(self).items() if key != "raw"}, "body": text, "encoding": encoding})


class FakeServer:
    """Serves from threads of its own between `start` and `close`; also a context manager."""

    def __init__(
        self, script: Script | Json | str | Path, port: int = 0, validate: Validate | None = None, record: Path | None = None
    ):
        match script:
            case Script():
                parsed = script
            case dict():
                parsed = parse(json.dumps(script))
            case _:
                parsed = load(script)
        self._position = Position(parsed)
        self._validate = validate
        self._record = record
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", port))
        self._open: set[Connection] = set()
        self._threads: list[threading.Thread] = []
        self.requests: list[Recorded] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    @property
    def calls(self) -> list[Recorded]:
        """The model calls, without lists of models and the like."""
        return [request for request in self.requests if request.dialect]

    @property
    def bodies(self) -> list[Any]:
        return [request.body for request in self.calls]

    @property
    def problems(self) -> list[str]:
        """Everything that went wrong from the script's or the hook's point of view; empty after a good run."""
        return [problem for one in self.requests for problem in (*one.violations, *([one.problem] if one.problem else []))]

    def gaps(self) -> list[float]:
        """Seconds from the end of each answer to the arrival of the next model call."""
        calls = self.calls
        return [after.arrived - before.ended for before, after in pairwise(calls) if before.ended is not None]

    def start(self) -> "FakeServer":
        self._spawn(self._accept)
        return self

    def close(self) -> None:
        """End every connection and thread. May be called twice."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            connection.drop()
        for thread in self._threads:
            thread.join(5)
        self._listener.close()

    def __enter__(self) -> "FakeServer":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _spawn(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            self._spawn(self._serve, Connection(peer, self._closing))

    def _serve(self, connection: Connection) -> None:
        with self._lock:
            self._open.add(connection)
        try:
            while not self._closing.is_set() and (incoming := connection.receive()):
                recorded = self._recorded(incoming)
                try:
                    keep = self._answer(connection, recorded)
                finally:
                    self._end(recorded)
                if not keep:
                    return
        except OSError:
            return
        finally:
            connection.close()
            with self._lock:
                self._open.discard(connection)

    def _recorded(self, incoming: Incoming) -> Recorded:
        with self._lock:
            recorded = Recorded(
                len(self.requests) + 1,
                incoming.method,
                incoming.path,
                incoming.headers,
                incoming.body,
                dialect_of(incoming.method, incoming.path),
                incoming.arrived,
            )
            self.requests.append(recorded)
        return recorded

    def _end(self, recorded: Recorded) -> None:
        """Record that the answer ends, before the client can see it."""
        if recorded.ended is not None:
            return
        recorded.ended = time.monotonic()
        if self._record:
            with self._lock, self._record.open("a", encoding="utf-8") as file:
                file.write(recorded.line() + "\n")

    def _answer(self, connection: Connection, recorded: Recorded) -> bool:
        """Whether the connection is still good for another request."""
        if recorded.dialect is None:
            status, listed = _side(recorded)
            return self._whole(connection, recorded, status, listed)
        dialect = DIALECTS[recorded.dialect]
        try:
            body = json.loads(recorded.raw)
        except ValueError as problem:
            recorded.problem = f"the body is not JSON: {problem}"
            return self._refuse(connection, recorded, dialect, recorded.problem)
        if self._validate and (found := self._validate(recorded.dialect, body)):
            recorded.violations = tuple(found)
            return self._refuse(connection, recorded, dialect, "; ".join(found))
        seen = dialect.view(body)
        with self._lock:
            turn = self._position.choose(seen)
        if turn is None:
            recorded.problem = "the script has no step left"
            return self._refuse(connection, recorded, dialect, recorded.problem)
        recorded.step = turn.mark.step + 1
        if isinstance(turn.step.fault, Http):
            return self._fail(connection, recorded, dialect, turn.step.fault)
        try:
            parts = say(turn, seen)
        except Unplayable as problem:
            recorded.problem = str(problem)
            return self._refuse(connection, recorded, dialect, recorded.problem)
        return self._stream(connection, recorded, dialect, _speech(recorded, body, turn, parts, seen.characters), turn)

    def _stream(self, connection: Connection, recorded: Recorded, dialect: Dialect, speech: Speech, turn: Turn) -> bool:
        fault = turn.step.fault
        broken = dialect.broken(speech, fault.says, fault.message) if isinstance(fault, StreamError) else ()
        ending = partial(self._end, recorded)
        return Play(connection, STREAMING, dialect.frames(speech), broken, turn.step, speech.border, ending).send()

    def _fail(self, connection: Connection, recorded: Recorded, dialect: Dialect, fault: Http) -> bool:
        if isinstance(fault.body, str):
            payload, kind = fault.body, "text/html" if fault.body.lstrip().startswith("<") else "text/plain"
        else:
            payload, kind = dumps(fault.body or dialect.error(fault.status, said(fault), None, fault.tokens)), "application/json"
        self._end(recorded)
        connection.respond(fault.status, {"Content-Type": kind, **fault.headers}, payload.encode())
        return True

    def _refuse(self, connection: Connection, recorded: Recorded, dialect: Dialect, message: str) -> bool:
        return self._whole(connection, recorded, 400, dialect.error(400, "bad_request", message, None))

    def _whole(self, connection: Connection, recorded: Recorded, status: int, body: Json) -> bool:
        self._end(recorded)
        connection.respond(status, {"Content-Type": "application/json"}, dumps(body).encode())
        return True


def dialect_of(method: str, path: str) -> str | None:
    """Which dialect a request speaks; None when it is no model call."""
    bare = path.partition("?")[0]
    if method != "POST":
        return None
    for ending, dialect in (
        ("/chat/completions", "openai"),
        ("/responses", "openai-responses"),
        ("/messages", "anthropic"),
        (":streamGenerateContent", "google"),
    ):
        if bare.endswith(ending):
            return dialect
    return None


def _side(recorded: Recorded) -> tuple[int, Json]:
    match recorded.method, recorded.path.partition("?")[0]:
        case "GET", "/v1/models" | "/models":
            model = {"id": "scripted", "object": "model", "created": 1_700_000_000, "owned_by": "script"}
            return 200, {"object": "list", "data": [model]}
        case "GET", "/v1beta/models":
            return 200, {"models": [{"name": "models/scripted", "supportedGenerationMethods": ["generateContent"]}]}
        case method, path:
            return 404, {"error": {"message": f"nothing here: {method} {path}", "type": "invalid_request_error", "code": 404}}


def _speech(recorded: Recorded, body: Json, turn: Turn, parts: tuple[Said, ...], characters: int) -> Speech:
    step = turn.step
    if step.wire.halves:
        parts = tuple(Said(part.kind, halves(part.text), part.id, part.name) for part in parts)
    fault = step.fault
    border = None if fault is None or isinstance(fault, Http) or fault.bytes is not None else place(parts, fault.at)
    model = body.get("model") or recorded.path.rpartition("/")[2].partition(":")[0]
    usage = usage_of(turn, parts, characters)
    return Speech(recorded.number, model, parts, stop_of(turn, parts), usage, step.chunk, border, step.wire, body)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fakes.server", description=__doc__)
    parser.add_argument("script", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--record", type=Path)
    arguments = parser.parse_args()
    with FakeServer(arguments.script, arguments.port, record=arguments.record) as server:
        print(server.url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            sys.exit(130)


if __name__ == "__main__":
    main()
