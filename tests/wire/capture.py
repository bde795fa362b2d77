"""A loopback server of the vendors' wire formats that keeps every request and answers with what it was given."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Capture:
    url: str
    answers: list[bytes]
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)


def sse(*events: Any, named: bool = False, end: str = "") -> bytes:
    """Server-sent events; `named` repeats each event's type in an `event:` line, as Anthropic and Responses do."""
    lines = []
    for event in events:
        head = f"event: {event['type']}\n" if named else ""
        lines.append(f"{head}data: {json.dumps(event)}\n\n")
    return ("".join(lines) + (f"data: {end}\n\n" if end else "")).encode()


@contextmanager
def capturing(answers: Sequence[bytes]) -> Iterator[Capture]:
    """Each request gets the next answer; the requests that came are in what is yielded."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            capture.paths.append(self.path)
            capture.headers.append({name.lower(): value for name, value in self.headers.items()})
            capture.bodies.append(self.rfile.read(length))
            answer = capture.answers.pop(0)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    capture = Capture(f"http://127.0.0.1:{server.server_port}", list(answers))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield capture
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
