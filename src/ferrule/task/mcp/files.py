"""Where servers are configured: the person's own file, and `.roo/mcp.json` and `.mcp.json` of a project that is trusted.

A later file's server takes the place of an earlier one's of the same name. All have the form that other agents write:
`{"mcpServers": {NAME: {"command": …, "args": […], "env": {…}} or {"type": "http", "url": …, "headers": {…}}}}`.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec
from msgspec import Struct

from ferrule.store.private import state_folder
from ferrule.task.config.layers import listed_folders, user_file
from ferrule.task.config.trust import counts
from ferrule.tools.mcp.server import Server
from ferrule.types.errors import UsageError

from .entry import Entry, server_of

PROJECT_FILE = Path(".mcp.json")
OF_PROJECTS = (Path(".roo") / "mcp.json", PROJECT_FILE)
LOGS = "mcp"


class Configured(Struct, frozen=True):
    """`servers` by their precedence in the end; `disabled` are left out of them. `notes` say which files do not count."""

    servers: tuple[Server, ...] = ()
    disabled: tuple[tuple[str, Path], ...] = ()
    notes: tuple[str, ...] = ()


def own_file(environ: Mapping[str, str]) -> Path:
    """`mcp.json` beside the person's `config.toml`."""
    return user_file(environ).with_name("mcp.json")


def project_file(folder: Path) -> Path:
    return folder / PROJECT_FILE


def configured(folder: Path, environ: Mapping[str, str]) -> Configured:
    """Of a task in `folder`. Raises UsageError naming the file and the server that is wrong."""
    paths = [path for path in (own_file(environ), *(folder / name for name in OF_PROJECTS)) if os.path.lexists(path)]
    if not paths:
        return Configured()
    trusted = counts(folder, listed_folders(environ), environ)
    of_project = [path for path in paths if path != own_file(environ)]
    entries: dict[str, tuple[Entry, Path]] = {}
    for path in paths:
        if trusted or path not in of_project:
            entries |= {name: (entry, path) for name, entry in entries_of(path).items()}
    logs = state_folder(environ) / LOGS
    servers = [
        server_of(name, entry, path, folder, environ, logs) for name, (entry, path) in entries.items() if not entry.disabled
    ]
    note = f"{{}} is ignored because its folder is not trusted; to trust it: ferrule config trust {quote(str(folder.resolve()))}"
    return Configured(
        tuple(servers),
        tuple((name, path) for name, (entry, path) in entries.items() if entry.disabled),
        () if trusted else tuple(note.format(path) for path in of_project),
    )


def entries_of(path: Path) -> dict[str, Entry]:
    """The servers that one file names. Raises UsageError."""
    servers = read(path).get("mcpServers", {})
    if not isinstance(servers, dict):
        raise UsageError(f"{path}: mcpServers must be an object of servers by their names")
    return {name: _entry(name, value, path) for name, value in servers.items()}


def read(path: Path) -> dict[str, Any]:
    """The whole file; empty where there is none. Raises UsageError."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise UsageError(f"{path} cannot be read: {problem.strerror}") from problem
    try:
        given = msgspec.json.decode(data or b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise UsageError(f"{path} is not valid JSON: {problem}") from problem
    if not isinstance(given, dict):
        raise UsageError(f'{path} must hold an object with "mcpServers"')
    return given


def _entry(name: str, value: object, path: Path) -> Entry:
    try:
        return msgspec.convert(value, Entry)
    except msgspec.ValidationError as problem:
        raise UsageError(f"{path}: the server {name}: {problem}") from problem
