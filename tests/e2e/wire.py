"""Runs the installed command against a loopback server that speaks a vendor's dialect, and judges every request it sent."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.fakes.server import FakeServer, Recorded, Validate
from tests.judge import sdk_accepts, violations, violations_history

FERRULE = str(Path(sys.executable).with_name("ferrule"))
KEY = "wire-5bQx8vT2nLk7RzD0pWyE3mHs"
Step = dict[str, Any]


class Wire(NamedTuple):
    """How a dialect is chosen, and which variables lead to its server. `default` is a model that the catalog knows."""

    name: str
    key: str
    base: str
    path: str
    default: str

    @property
    def unknown(self) -> str:
        return f"{self.name}/nobody-knows-this"


WIRES = {
    wire.name: wire
    for wire in (
        Wire("openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1", "openai/gpt-5.1"),
        Wire("openai-responses", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1", "openai-responses/gpt-5.1"),
        Wire("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "", "anthropic/claude-sonnet-5-5"),
        Wire("google", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "", "google/gemini-3.8-flash"),
    )
}
DIALECTS = tuple(WIRES)


@dataclass(frozen=True)
class Played:
    """What one run left: its exit code and streams, what the server saw, and the folders."""

    dialect: str
    code: int
    out: str
    err: str
    calls: list[Recorded]
    others: list[Recorded]
    problems: list[str]
    home: "Home"

    @cached_property
    def result(self) -> Any:
        return json.loads(self.out)

    @property
    def bodies(self) -> list[Any]:
        return [call.body for call in self.calls]

    @property
    def steps(self) -> list[int | None]:
        """Which step of the script answered each model call, from 1."""
        return [call.step for call in self.calls]

    def complaints(self, shrunk: bool = False) -> list[str]:
        """Everything that a vendor, its prompt cache or its SDK would hold against the requests of the run; no end is judged.

        `shrunk`: what one request sends may be sent in a shorter form by the next.
        """
        repeats = [] if shrunk else violations_history(self.dialect, [call.raw for call in self.calls])
        found = [*self.problems, *repeats]
        for call in self.calls:
            found += violations(self.dialect, call.raw, portable=True) + sdk_accepts(self.dialect, call.raw)
        return found

    def lines(self, name: str) -> int:
        """How many lines a file of the project has, 0 where there is none: how often a call that appends to it ran."""
        file = self.home.folder / name
        return len(file.read_text().splitlines()) if file.exists() else 0

    def stored(self) -> bytes:
        """Every byte that Ferrule keeps on disk."""
        return b"".join(file.read_bytes() for file in sorted(self.home.state.rglob("*")) if file.is_file())


class Home:
    """A project folder, a home and a state folder of their own."""

    def __init__(self, base: Path) -> None:
        self.folder, self.home, self.state = (base / name for name in ("project", "home", "state"))
        for folder in (self.folder, self.home):
            folder.mkdir()

    @property
    def config(self) -> Path:
        return self.home / ".config" / "ferrule" / "config.toml"

    def environ(self, more: Mapping[str, str]) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {**kept, "HOME": str(self.home), "FERRULE_HOME": str(self.state), "PYTHONIOENCODING": "utf-8", **more}

    def write_config(self, text: str) -> None:
        self.config.parent.mkdir(parents=True, exist_ok=True)
        self.config.write_text(text)

    def play(
        self,
        dialect: str,
        *steps: Step,
        arguments: tuple[str, ...] = (),
        prompt: tuple[str, ...] = ("-p", "make ok.txt"),
        model: str = "",
        path: str | None = None,
        output: str = "json",
        key: str | None = KEY,
        environ: Mapping[str, str] | None = None,
        config: str = "",
        validate: Validate | None = violations,
    ) -> Played:
        """One run against a server that plays `steps` and refuses, with its words, what `validate` objects to.

        `BASE_URL` in `config` is the server's.
        """
        wire = WIRES[dialect]
        with FakeServer({"version": 1, "steps": list(steps)}, validate=validate) as server:
            chosen = {wire.base: server.url + (wire.path if path is None else path)} | (
                {wire.key: key} if key is not None else {}
            )
            if config:
                self.write_config(config.replace("BASE_URL", server.url + wire.path))
            flags = ("--model", model or wire.unknown, "--approve", "all", "--output-format", output)
            ran = subprocess.run(
                (FERRULE, *prompt, *flags, *arguments),
                cwd=self.folder,
                env=self.environ({**chosen, **(environ or {})}),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=50,
                check=False,
            )
            others = [request for request in server.requests if not request.dialect]
            return Played(
                dialect, ran.returncode, ran.stdout.decode(), ran.stderr.decode(), server.calls, others, server.problems, self
            )


def call(name: str, /, **arguments: Any) -> Step:
    return {"name": name, "arguments": arguments}


def shell(command: str, **more: Any) -> Step:
    """A step that runs a command."""
    return {"calls": [{**call("execute_command", command=command), **more}]}


def ends(result: str = "Made it.") -> Step:
    return {"calls": [call("attempt_completion", result=result)]}


def http(status: int, retry_after: str | None = "0", **more: Any) -> Step:
    times = {"times": more.pop("times")} if "times" in more else {}
    headers = {"headers": {"Retry-After": retry_after}} if retry_after is not None else {}
    return {"fault": {"kind": "http", "status": status, **headers, **more}, **times}


MAKE = shell("echo ok > ok.txt")
BAD = "echo ran >> bad.txt"
"""A command whose runs can be counted."""


def spread(cases: Mapping[str, Any] | Sequence[str]) -> Any:
    """Parametrizes `name` and `dialect`: one dialect meets every case, each of the others a third of them, or all as `long`."""
    whole, *others = DIALECTS
    found = []
    for number, name in enumerate(cases):
        for place, dialect in enumerate((whole, *others), -1):
            often = dialect == whole or number % len(others) == place
            found.append(pytest.param(name, dialect, id=f"{name}-{dialect}", marks=() if often else pytest.mark.long))
    return pytest.mark.parametrize(("name", "dialect"), found)
