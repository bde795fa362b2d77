"""Starts `writer.py` and talks to it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


class Writer:
    def __init__(self) -> None:
        script = Path(__file__).with_name("writer.py")
        self.process = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    @property
    def stdout(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout

    def send(self, *words: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def ask(self, *words: object) -> str:
        self.send(*words)
        return self.stdout.readline().rstrip("\n")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        self.kill()
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.stdout.close()


@contextmanager
def writer() -> Iterator[Writer]:
    started = Writer()
    try:
        yield started
    finally:
        started.end()
