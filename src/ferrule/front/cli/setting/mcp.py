"""`ferrule mcp list`, `add` and `remove`."""

from collections.abc import Mapping

import msgspec

from ferrule.front.cli.arguments import Invocation, McpOf
from ferrule.front.cli.show.output import deliver
from ferrule.front.cli.show.terminal import clean
from ferrule.task.mcp.editing import add, entry_from, remove
from ferrule.task.mcp.files import configured, own_file, project_file
from ferrule.task.mcp.show import lines, rows
from ferrule.types.errors import UsageError


def mcp(invocation: Invocation, environ: Mapping[str, str]) -> int:
    if invocation.action == "list":
        return _list(invocation, environ)
    told = invocation.mcp or McpOf()
    file = project_file(invocation.folder) if told.project else own_file(environ)
    name, *target = invocation.words
    if invocation.action == "add":
        add(file, name, entry_from(target, told.transport, told.env, told.headers))
        said = f"{name} is in {file} now; ferrule mcp list shows what counts here"
    elif remove(file, name):
        said = f"{name} is in {file} no more"
    else:
        raise UsageError(f"{file} has no server {name}; ferrule mcp list shows where each one is configured")
    return deliver(f"{clean(said)}\n")


def _list(invocation: Invocation, environ: Mapping[str, str]) -> int:
    """Each server that a task in this folder would have, where it is configured and where its log is."""
    found = configured(invocation.folder, environ)
    if invocation.output_format == "json":
        return deliver(msgspec.json.encode(rows(found)) + b"\n")
    return deliver("".join(f"{clean(line)}\n" for line in lines(found)))
