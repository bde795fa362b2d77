"""The servers of a folder, for a person and for programs; values of variables and headers are left out."""

from typing import Any

from .files import Configured


def rows(found: Configured) -> dict[str, Any]:
    return {
        "servers": [
            {
                "name": server.name,
                "transport": server.transport,
                "target": server.target,
                "file": str(server.origin),
                "log": str(server.log),
                "timeout": server.timeout,
                "env": [name for name, _ in server.env],
                "headers": [name for name, _ in server.headers],
                "always_allow": sorted(server.allow),
                "disabled_tools": sorted(server.hidden),
            }
            for server in found.servers
        ],
        "disabled": [{"name": name, "file": str(path)} for name, path in found.disabled],
        "notes": list(found.notes),
    }


def lines(found: Configured) -> list[str]:
    out = []
    for server in found.servers:
        out += [f"{server.name}  {server.transport}  {server.target}", f"  configured in {server.origin}, log {server.log}"]
        if server.allow:
            out.append(f"  allowed without approval: {', '.join(sorted(server.allow))}")
        if server.hidden:
            out.append(f"  disabled tools: {', '.join(sorted(server.hidden))}")
    out += [f"{name}  disabled in {path}" for name, path in found.disabled]
    return [
        *(out or ["no server; add one: ferrule mcp add NAME URL, or ferrule mcp add NAME -- COMMAND [ARGUMENT…]"]),
        *found.notes,
    ]
