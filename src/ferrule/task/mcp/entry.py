"""One server as a file spells it, and what it means on this machine."""

import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from ferrule.tools.mcp.server import DEFAULT_TIMEOUT, Pairs, Server
from ferrule.types.errors import UsageError

NAME = re.compile(r"[^\s/*:]{1,64}")
VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
LONGEST_TIMEOUT = 3600.0
SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH", "COOKIE")
SHORTEST_SECRET = 6


class Entry(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Unknown fields are left to those agents that know them. `timeout` in seconds."""

    type: Literal["stdio", "sse", "http", "streamable-http", "streamableHttp"] | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = {}
    disabled: bool = False
    timeout: float = DEFAULT_TIMEOUT
    always_allow: tuple[str, ...] = ()
    disabled_tools: tuple[str, ...] = ()


def server_of(name: str, entry: Entry, origin: Path, folder: Path, environ: Mapping[str, str], logs: Path) -> Server:
    """`${NAME}`, `${env:NAME}`, `${NAME:-default}` and `${workspaceFolder}` are filled in. Raises UsageError."""
    subject = f"{origin}: the server {name}"
    if problem := problem_of(name, entry):
        raise UsageError(f"{subject}: {problem}")
    known = {**environ, "workspaceFolder": str(folder.resolve())}

    def filled(text: str) -> str:
        return _filled(text, known, subject)

    transport: Literal["stdio", "sse", "http"] = "stdio"
    if entry.url is not None:
        transport = "sse" if entry.type == "sse" else "http"
    return Server(
        name=name,
        origin=origin,
        transport=transport,
        log=logs / f"{log_name(name, origin)}.log",
        command=() if entry.command is None else tuple(filled(word) for word in (entry.command, *entry.args)),
        env=_pairs(entry.env, filled),
        cwd=str((folder / Path(filled(entry.cwd)).expanduser() if entry.cwd else folder).resolve()),
        url=filled(entry.url or ""),
        headers=_pairs(entry.headers, filled),
        timeout=entry.timeout,
        allow=frozenset(entry.always_allow),
        hidden=frozenset(entry.disabled_tools),
    )


def problem_of(name: str, entry: Entry) -> str:
    """What is wrong with it, empty for nothing."""
    if NAME.fullmatch(name) is None:
        return "its name must be 1 to 64 characters without blanks and without / * :"
    if (entry.command is None) == (entry.url is None):
        return 'it needs either "command" (with "args") or "url"'
    if entry.type is not None and (entry.type == "stdio") != (entry.url is None):
        return f'its type is "{entry.type}", which goes with "{"command" if entry.type == "stdio" else "url"}"'
    if entry.url is not None and not re.match(r"(https?://|\$\{)\S+", entry.url):
        return f'"{entry.url}" is no URL that begins with http:// or https://'
    if entry.command is not None and not entry.command.strip():
        return "its command is empty"
    if wrong := [tool for tool in entry.always_allow if tool != "*" and ("*" in tool or not tool.strip())]:
        return f'alwaysAllow holds names of tools, or "*" for all; "{wrong[0]}" is neither'
    if not 0 < entry.timeout <= LONGEST_TIMEOUT:
        return f"its timeout must be above 0 and at most {LONGEST_TIMEOUT:g} seconds"
    return ""


def secrets_of(server: Server) -> Pairs:
    """Names and values of what must be masked in output: in variables and headers that are named like secrets."""
    found = []
    for name, value in (*server.env, *server.headers):
        secret = value.split()[-1] if value.strip() else ""
        if any(word in name.upper() for word in SECRET_WORDS) and len(secret) >= SHORTEST_SECRET:
            found.append((f"{name} of the server {server.name}", secret))
    return tuple(found)


def log_name(name: str, origin: Path) -> str:
    """A file name for a server: its own, and what tells servers of the same name apart."""
    digest = hashlib.sha256(f"{origin}\0{name}".encode(errors="surrogateescape")).hexdigest()
    return f"{re.sub(r'[^A-Za-z0-9_-]', '_', name)}-{digest[:8]}"


def _filled(text: str, known: Mapping[str, str], subject: str) -> str:
    def value(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        if name in known:
            return known[name]
        if default is None:
            raise UsageError(f"{subject} needs the variable {name}, which is not set; set it, or write ${{{name}:-DEFAULT}}")
        return default

    return VARIABLE.sub(value, text)


def _pairs(given: Mapping[str, str], filled: Callable[[str], str]) -> Pairs:
    return tuple(sorted((name, filled(value)) for name, value in given.items()))
