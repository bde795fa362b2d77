"""The log file of one server: what it says on standard error, and what we say about it."""

import os
import time
from contextlib import suppress
from pathlib import Path

from ferrule.store.private import make_folder, open_file

LARGEST = 1_000_000
"""Bytes from which on a log is put aside, in the place of the one put aside before, when its server is next started."""
TAIL = 2_000


class Log:
    """Each line of ours carries the time; a full disk costs the line, not the call."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._began = 0

    def begin(self, text: str) -> None:
        """A new start of the server. Raises OSError."""
        make_folder(self.path.parent)
        with suppress(FileNotFoundError):
            if self.path.stat().st_size > LARGEST:
                self.path.replace(self.path.with_suffix(".old.log"))
        self.line(text)
        self._began = self.path.stat().st_size

    def line(self, text: str) -> None:
        with suppress(OSError):
            descriptor = open_file(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            try:
                os.write(descriptor, f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} ferrule: {text}\n".encode())
            finally:
                os.close(descriptor)

    def said(self) -> str:
        """The end of what the server has written since it was last started, without our own lines."""
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(self._began, size - TAIL))
                lines = file.read().decode(errors="replace").splitlines()
        except OSError:
            return ""
        return "\n".join(line for line in lines if " ferrule: " not in line[:32]).strip()
