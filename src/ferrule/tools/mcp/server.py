"""One server of the Model Context Protocol, as configured; nothing of it runs yet."""

from pathlib import Path
from typing import Literal

from msgspec import Struct

DEFAULT_TIMEOUT = 60.0
Pairs = tuple[tuple[str, str], ...]


class Server(Struct, frozen=True):
    """`origin` is the file that names it. `command` is for `stdio`, `url` for the others.

    `env` is added to the harmless variables of ours; `cwd` is absolute. `timeout` in seconds, of one call. `allow` are tools that
    need no approval (`*`: all), `hidden` those that are not offered. `log` gets what it writes to standard error, and how it was
    started and ended.
    """

    name: str
    origin: Path
    transport: Literal["stdio", "sse", "http"]
    log: Path
    command: tuple[str, ...] = ()
    env: Pairs = ()
    cwd: str = "/"
    url: str = ""
    headers: Pairs = ()
    timeout: float = DEFAULT_TIMEOUT
    allow: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()

    @property
    def target(self) -> str:
        """What is started or reached, for a person: no variable and no header."""
        return " ".join(self.command) if self.transport == "stdio" else self.url
