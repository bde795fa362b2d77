"""Drives the installed command as real processes, and looks at what it leaves: its journal, files and processes.

The command is the one beside this interpreter, or `FERRULE_COMMAND`. Nothing here shares code with `src/`.
"""

import hashlib
import json
import os
import shlex
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

COMMAND = tuple(shlex.split(os.environ.get("FERRULE_COMMAND", ""))) or (str(Path(sys.executable).with_name("ferrule")),)
PATIENCE = 30.0
KILLED = -9

Json = dict[str, Any]


class Ran(NamedTuple):
    """How one process ended; `code` is negative for a signal."""

    code: int
    out: str
    err: str

    @property
    def result(self) -> Json:
        """The JSON result: the only object on standard output, or the last line of a stream."""
        parsed = json.loads(self.out.splitlines()[-1])
        assert isinstance(parsed, dict)
        return parsed


class Row(NamedTuple):
    """A record as it lies in the file."""

    seq: int
    branch: str
    kind: str
    time: int
    payload: bytes
    hash: str

    @property
    def entry(self) -> Json:
        parsed = json.loads(self.payload)
        assert isinstance(parsed, dict)
        return parsed


class Project:
    """A project folder, a home and a state folder of their own, and the command in them."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.folder, self.home, self.state = (base / name for name in ("project", "home", "state"))
        for folder in (self.folder, self.home):
            folder.mkdir(parents=True, exist_ok=True)

    def environ(self, more: Mapping[str, str]) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {**kept, "HOME": str(self.home), "FERRULE_HOME": str(self.state), **more}

    def run(self, *arguments: str, **environ: str) -> Ran:
        with self.started(*arguments, **environ) as process:
            out, err = process.communicate(timeout=PATIENCE)
        return Ran(process.returncode, out.decode(), err.decode())

    @contextmanager
    def started(self, *arguments: str, **environ: str) -> "Iterator[subprocess.Popen[bytes]]":
        """A running process with a process group of its own, killed at the end where it still runs."""
        process = subprocess.Popen(
            (*COMMAND, *arguments),
            cwd=self.folder,
            env=self.environ(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        with process:
            try:
                yield process
            finally:
                process.kill()

    def model(self, *steps: Json, name: str = "script", **options: Any) -> str:
        """A model that plays these steps; the same name is the same model."""
        file = self.home / f"{name}.json"
        file.write_text(json.dumps({"version": 1, "steps": list(steps), **options}))
        return f"scripted/{file}"

    def write(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.write_text(text)
        return file

    def lines(self, name: str) -> list[str]:
        file = self.folder / name
        return file.read_text().splitlines() if file.exists() else []

    @property
    def sessions(self) -> list[str]:
        return sorted(path.stem for path in self.state.glob("sessions/*.db"))

    @property
    def journal(self) -> "Journal":
        """Of the only session."""
        (session,) = self.sessions
        return Journal(self.state / "sessions" / f"{session}.db")


class Journal:
    """A session's file, read as plain SQLite."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def rows(self) -> list[Row]:
        with closing(sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True)) as connection:
            found = connection.execute("SELECT seq, branch, kind, time, payload, hash FROM records ORDER BY seq").fetchall()
        return [Row(*row) for row in found]

    def entries(self, *kinds: str) -> list[Json]:
        return [row.entry for row in self.rows() if row.kind in kinds]

    def kinds(self) -> list[str]:
        return [row.kind for row in self.rows()]

    def cut(self, to: Path, length: int) -> None:
        """A journal that holds the first `length` records and otherwise everything, in another place."""
        to.parent.mkdir(parents=True)
        with closing(sqlite3.connect(self.path)) as source, closing(sqlite3.connect(to)) as target:
            source.backup(target)
            target.execute("DELETE FROM records WHERE seq > ?", (length,))
            target.commit()

    def state(self) -> "State":
        return State(self.rows())

    def check(self) -> None:
        """The hash chain over every field, computed again from what the design says."""
        previous = "0" * 64
        for number, row in enumerate(self.rows(), 1):
            fields = (previous, self.path.stem, row.branch, str(row.seq), row.kind, str(row.time), row.payload)
            digest = hashlib.sha256()
            for field in fields:
                data = field if isinstance(field, bytes) else field.encode()
                digest.update(b"%d:%b" % (len(data), data))
            assert (row.seq, row.hash) == (number, digest.hexdigest()), f"record {number} of {self.path.name}"
            assert row.entry["type"] == row.kind
            previous = row.hash


class State:
    """What a journal says about its calls."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.kinds = [row.kind for row in rows]
        self.calls: dict[str, Json] = {}
        self.started: dict[str, int] = {}
        self.results: dict[str, list[str]] = {}
        self.asked: dict[str, str] = {}
        self.ended = False
        self.outcome: str | None = None
        self.prompted = "user" in self.kinds
        for row in rows:
            self._take(row.kind, row.entry)

    def _take(self, kind: str, entry: Json) -> None:
        match kind:
            case "assistant":
                self.calls |= {part["id"]: part for part in entry["message"]["parts"] if part["type"] == "call"}
            case "call_started":
                self.started[entry["call_id"]] = self.started.get(entry["call_id"], 0) + 1
            case "call_finished":
                self.results.setdefault(entry["result"]["call_id"], []).append(entry["result"]["kind"])
                self.ended = self.ended or entry["ends"] is not None
            case "question":
                self.asked[entry["call_id"]] = entry["question"]["text"]
            case "answer":
                self.results.setdefault(entry["call_id"], []).append("answered")
            case "user" if entry["origin"] == "person":
                self.ended, self.outcome = False, None
            case "outcome":
                self.outcome = entry["outcome"]

    @property
    def open(self) -> list[str]:
        return [call for call in self.calls if call not in self.results]

    @property
    def waiting(self) -> str | None:
        """The question that nobody has answered."""
        return next((self.asked[call] for call in self.open if call in self.asked), None)

    def name(self, call: str) -> str:
        return str(self.calls[call]["name"])

    def nonce(self, call: str) -> str | None:
        """The word that an effect writes: `nonce-` and what follows in the arguments."""
        words = str(self.calls[call]["arguments"]).replace("\\n", " ").replace('"', " ").split()
        return next((word.rstrip(";") for word in words if word.startswith("nonce-")), None)


def call(name: str, **arguments: Any) -> Json:
    return {"name": name, "arguments": arguments}


def step(*calls: Json, **more: Any) -> Json:
    return {"calls": list(calls), **more}


def runs(command: str) -> Json:
    return call("execute_command", command=command)


def completes(result: str = "Done.") -> Json:
    return call("attempt_completion", result=result)


def asks(question: str, *options: str) -> Json:
    return call("ask_followup_question", question=question, follow_up=[{"text": option} for option in options or ("yes",)])


def keys(url: str) -> dict[str, str]:
    """The variables that lead every vendor's dialect to one server."""
    bases = {"OPENAI_BASE_URL": f"{url}/v1", "ANTHROPIC_BASE_URL": url, "GOOGLE_GEMINI_BASE_URL": url}
    return bases | dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "loopback")


def until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.005)


def carriers(mark: str) -> list[int]:
    """Living processes with the mark in their command line, those of the tests themselves left out."""
    return [pid for pid in processes() if pid != os.getpid() and any(mark in word for word in command_line(pid))]


def descendants(pid: int) -> list[int]:
    """Every process below `pid`, as the process table shows it now."""
    parents = {each: parent for each in processes() if (parent := parent_of(each)) is not None}
    found, layer = [], [pid]
    while layer:
        layer = [each for each, parent in parents.items() if parent in layer]
        found += layer
    return found


def processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def command_line(pid: int) -> list[str]:
    """Empty for a process that is gone or waits to be reaped."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return []


def parent_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def over(pid: int) -> bool:
    """Runs no more; it may wait to be reaped by whoever inherited it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True
