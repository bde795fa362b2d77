"""Searching file contents with ripgrep: finding it, asking it, and reading its answer in bounded memory."""

import os
import sys
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

RESULTS = 300
LINE = 500
"""Characters shown of one line."""
LONGEST = 2_097_152
"""Bytes of one line of ripgrep's answer; what is longer is only named."""


class Hit(Struct, frozen=True):
    """A matching line (`match`) or one beside it. `number` is None for a line too long to be held."""

    number: int | None
    text: str
    match: bool


def find_ripgrep(path: str | None) -> str | None:
    """The program of the wheel, which stands beside the running Python, else the one on `path`."""
    import shutil
    import sysconfig

    folders = [Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))]
    beside = next((folder / "rg" for folder in folders if os.access(folder / "rg", os.X_OK)), None)
    return str(beside) if beside else shutil.which("rg", path=path)


def arguments(program: str, regex: str, target: str, file_pattern: str | None) -> tuple[str, ...]:
    """A command line in which neither pattern can be taken for an option; to be run in the folder that globs start from."""
    globs = [f"--glob={file_pattern}"] if file_pattern else []
    lines = ["--multiline"] if "\\n" in regex or "\n" in regex else []
    options = ["--no-config", "--json", "--hidden", "--no-require-git", "--no-messages", "--engine=auto", "--sort=path"]
    return (program, *options, "--context=1", *lines, *globs, "--glob=!.git", f"--regexp={regex}", "--", target)


class Answer:
    """What ripgrep printed so far; `full` once there are more matches than will be shown. Of files not to `keep`, nothing."""

    def __init__(self, keep: Callable[[bytes], bool] = lambda path: True) -> None:
        self._keep = keep
        self.files: dict[bytes, list[Hit]] = {}
        self.matches = 0
        self.full = False
        self._rest = bytearray()
        self._skipping = False
        self._current: bytes | None = None
        self._complaint: list[str] = []

    @property
    def complaint(self) -> str:
        """What it said beside its results: the reason of a failure."""
        return "\n".join(self._complaint).strip()

    def feed(self, data: bytes) -> None:
        at = 0
        while (end := data.find(b"\n", at)) >= 0:
            if not self._skipping and not self.full:
                self._take(bytes(self._rest) + data[at:end])
            self._skipping = False
            self._rest.clear()
            at = end + 1
        if self._skipping or self.full:
            return
        self._rest += data[at:]
        if len(self._rest) > LONGEST:
            if b'"type":"match"' in self._rest[:40]:
                self._add(Hit(None, "(a line too long to be shown)", True))
            self._skipping = True
            self._rest.clear()

    def finish(self) -> None:
        if self._rest and not self._skipping and not self.full:
            self._take(bytes(self._rest))
        self._rest.clear()

    def _take(self, line: bytes) -> None:
        if not line.startswith(b'{"'):
            if len(self._complaint) < 50:
                self._complaint.append(line.decode(errors="replace"))
            return
        event = msgspec.json.decode(line, type=_Event)
        if event.type == "begin" and event.data.path:
            self._current = event.data.path.raw if self._keep(event.data.path.raw) else None
        elif event.type in ("match", "context"):
            self._lines(event.data, event.type == "match")

    def _lines(self, data: "_Data", match: bool) -> None:
        if data.lines is None:
            return
        text = data.lines.shown.removesuffix("\n")
        start = data.submatches[0].start if data.submatches else 0
        for offset, line in enumerate(text.split("\n")):
            where = start if offset == 0 else 0
            self._add(Hit((data.line_number or 1) + offset, _window(line.removesuffix("\r"), where), match), counts=offset == 0)

    def _add(self, hit: Hit, counts: bool = True) -> None:
        if self._current is None:
            return
        if hit.match and counts:
            if self.matches == RESULTS:
                self.full = True
                return
            self.matches += 1
        self.files.setdefault(self._current, []).append(hit)


class _Bytes(Struct, frozen=True):
    """Text, or base64 of bytes that are not UTF-8."""

    text: str | None = None
    base64: str | None = msgspec.field(default=None, name="bytes")

    @property
    def raw(self) -> bytes:
        return self.text.encode() if self.text is not None else b64decode(self.base64 or "")

    @property
    def shown(self) -> str:
        return self.text if self.text is not None else self.raw.decode(errors="backslashreplace")


class _Submatch(Struct, frozen=True):
    start: int


class _Data(Struct, frozen=True):
    path: _Bytes | None = None
    lines: _Bytes | None = None
    line_number: int | None = None
    submatches: tuple[_Submatch, ...] = ()


class _Event(Struct, frozen=True):
    type: str
    data: _Data


def _window(line: str, start: int) -> str:
    """At most LINE characters, among them those of the match, which begins at byte `start`."""
    if len(line) <= LINE:
        return line
    at = len(line.encode(errors="replace")[:start].decode(errors="replace"))
    begin = 0 if at < LINE - 100 else at - 100
    end = begin + LINE
    return f"{'…' if begin else ''}{line[begin:end]}{'…' if end < len(line) else ''}"
