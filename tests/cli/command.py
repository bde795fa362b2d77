"""Runs the installed command as a real process."""

import json
import os
import pty
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

FERRULE = (str(Path(sys.executable).with_name("ferrule")),)


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class Shell:
    """A folder, a home of its own, and the command in them."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "project"
        self.home = base / "home"
        self.state = base / "state"
        for folder in (self.folder, self.home):
            folder.mkdir()

    @property
    def config(self) -> Path:
        return self.home / ".config" / "ferrule" / "config.toml"

    def environ(self, more: Mapping[str, str]) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {**kept, "HOME": str(self.home), "FERRULE_HOME": str(self.state), "PYTHONIOENCODING": "utf-8", **more}

    def run(self, *arguments: str | bytes, stdin: bytes | None = None, **environ: str) -> Ran:
        ran = subprocess.run(
            (*FERRULE, *arguments),
            cwd=self.folder,
            env=self.environ(environ),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            timeout=50,
            check=False,
        )
        return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())

    def start(self, *arguments: str, stdin: int = subprocess.DEVNULL, **environ: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            (*FERRULE, *arguments),
            cwd=self.folder,
            env=self.environ(environ),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def on_terminal(self, *arguments: str, **environ: str) -> str:
        """What a terminal of 100 columns gets on all three streams."""
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (40, 100))
        process = subprocess.Popen(
            (*FERRULE, *arguments),
            cwd=self.folder,
            env=self.environ({"TERM": "xterm", **environ}),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 4096):
                shown += chunk
        except OSError:  # Linux says so when the last writer has closed a terminal
            pass
        finally:
            os.close(ours)
            process.wait(20)
        return shown.decode().replace("\r\n", "\n")

    def script(self, *steps: Mapping[str, Any]) -> str:
        """A model that plays these steps; returns its name."""
        file = self.home / "script.json"
        file.write_text(json.dumps({"version": 1, "steps": list(steps)}))
        return f"scripted/{file}"


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def ends(result: str) -> dict[str, Any]:
    return {"calls": [call("attempt_completion", result=result)], "usage": {"input": 10, "output": 5}}


def lines(text: str) -> Sequence[Any]:
    return [json.loads(line) for line in text.splitlines()]
