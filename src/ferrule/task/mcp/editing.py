"""`ferrule mcp add` and `remove`: one server in a file, everything else in it as it was."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ferrule.types.errors import ToolError, UsageError
from ferrule.workspace.writing import put, see

from .entry import Entry, problem_of
from .files import read


def entry_from(target: Sequence[str], transport: str | None, env: Sequence[str], headers: Sequence[str]) -> Entry:
    """Of a URL alone, or a command with its arguments. Raises UsageError."""
    pairs = dict(_pair(text, "=", "--env NAME=VALUE") for text in env)
    sent = dict(_pair(text, ":", "--header NAME:VALUE") for text in headers)
    if transport != "stdio" and (transport is not None or re.match(r"https?://", target[0])):
        if len(target) > 1 or pairs:
            raise UsageError("a server that is reached by its URL takes no arguments and no --env")
        return Entry(type="sse" if transport == "sse" else "http", url=target[0], headers=sent)
    if sent:
        raise UsageError("a server that is started by a command takes no --header")
    return Entry(command=target[0], args=tuple(target[1:]), env=pairs)


def _pair(text: str, sign: str, right: str) -> tuple[str, str]:
    name, found, value = text.partition(sign)
    if not found or not name.strip():
        raise UsageError(f'"{text}" is not of the form {right}')
    return name.strip(), value.strip()


def add(path: Path, name: str, entry: Entry) -> None:
    """Raises UsageError, also where the file has a server of this name."""
    if problem := problem_of(name, entry):
        raise UsageError(f"the server {name}: {problem}")
    whole, servers = _servers(path)
    if name in servers:
        raise UsageError(f"{path} has a server {name} already; remove it first: ferrule mcp remove {name}")
    servers[name] = msgspec.to_builtins(entry)
    _write(path, whole)


def remove(path: Path, name: str) -> bool:
    """Whether the file had it."""
    whole, servers = _servers(path)
    if name not in servers:
        return False
    del servers[name]
    _write(path, whole)
    return True


def _servers(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    whole = read(path)
    servers = whole.setdefault("mcpServers", {})
    if not isinstance(servers, dict):
        raise UsageError(f"{path}: mcpServers must be an object of servers by their names")
    return whole, servers


def _write(path: Path, whole: dict[str, Any]) -> None:
    """A new file is for its owner alone: it may come to hold keys."""
    content = (json.dumps(whole, indent=2, ensure_ascii=False) + "\n").encode()
    path = path.resolve()
    try:
        seen = see(path)
        put(path, lambda: (content,), seen, None if path.exists() else 0o600)
    except (OSError, ToolError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise UsageError(f"{path} cannot be written: {why}") from problem
