"""What Ferrule finds on this machine, as values. Nothing is changed, no secret is read out, no host but this one is contacted."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ferrule.process.protocol import Command, allowed_environment
from ferrule.process.supervisor import Supervisor
from ferrule.providers.catalog import LOCAL_SERVERS, VENDORS
from ferrule.providers.catalog import endpoint as endpoint_of
from ferrule.store.private import state_folder
from ferrule.tools.base import Place
from ferrule.types.errors import UsageError
from ferrule.workspace.ripgrep import find_ripgrep

from .config.layers import PROJECT_FILE, load, user_file
from .config.schema import Config, Sandbox, SandboxMode
from .holding.confining import confine

State = Literal["ok", "note", "failed"]
PATIENCE = 0.3
"""Seconds for each server on this machine."""


class Fact(Struct, frozen=True):
    """One thing that was looked at. `failed` means that Ferrule cannot work like this."""

    topic: str
    name: str
    state: State
    detail: str


Servers = Sequence[tuple[str, int]]


async def examine(folder: Path, environ: Mapping[str, str], servers: Servers = LOCAL_SERVERS) -> tuple[Fact, ...]:
    """All facts, in the order in which a person wants them. `servers` are asked on this machine, by name and port."""
    config, settings = _settings(folder, environ)
    return (
        *_platform(),
        *await _programs(environ),
        *await _sandboxes(folder, config),
        *_state(environ),
        *settings,
        *_hooks(config),
        *_guidance(folder, environ),
        *_keys(config, environ),
        *await _servers(servers),
    )


def filters_of(model: str, folder: Path, environ: Mapping[str, str]) -> tuple[Fact, ...]:
    """What the calls of `model` go through, in order, and which tools it cannot be offered. Needs no key. Raises UsageError."""
    from ferrule.attempt.filters.catalog import FILTERS
    from ferrule.stream.chain import Chain
    from ferrule.tools.catalog import coding_tools
    from ferrule.tools.schema import schema

    config = load(folder, environ).config
    keys = {vendor.key: "unused" for vendor in VENDORS.values()}
    keys |= {server.key_env: "unused" for server in config.endpoints.values() if server.key_env}
    asked = endpoint_of(model, {**environ, **keys}, config.endpoints)
    chain = Chain(FILTERS, asked)
    facts = [Fact(f"{asked.asked or asked.name}, {each.direction}", each.name, "ok", each.does) for each in chain.filters]
    unused = [each for each in FILTERS if not each.applies(asked)]
    facts += [Fact("not needed by its profile", each.name, "note", each.does) for each in unused]
    tools, reports = chain.tools(tuple(schema(tool) for tool in coding_tools()))
    names = ", ".join(tool.name for tool in tools)
    facts.append(Fact("tools", "offered", "ok", f"{names}, and those that act on the task itself"))
    return (*facts, *(Fact("tools", "changed", "note", line) for report in reports for line in report.what))


def _platform() -> list[Fact]:
    version = ".".join(str(part) for part in sys.version_info[:3])
    facts = [Fact("platform", "python", "ok", f"{version} at {sys.executable}")]
    release = os.uname().release
    if sys.platform == "linux":
        about = "WSL 2" if "microsoft" in release.lower() else "Linux"
        return [*facts, Fact("platform", "system", "ok", f"{about}, kernel {release}")]
    weaker = "a process that leaves its process group is not found, and so not ended, when its command or Ferrule ends"
    return [*facts, Fact("platform", "system", "note", f"{os.uname().sysname} {release}; weaker than Linux: {weaker}")]


async def _programs(environ: Mapping[str, str]) -> list[Fact]:
    import shutil

    processes = Supervisor()
    try:
        supervised = await _output(processes, ("/bin/sh", "-c", ":"), environ)
        git = shutil.which("git", path=environ.get("PATH"))
        said = await _output(processes, (git, "--version"), environ) if git else None
    finally:
        await processes.close()
    rg = find_ripgrep(environ.get("PATH"))
    return [
        Fact("programs", "supervisor", "failed", "no process can be started under it")
        if supervised is None
        else Fact("programs", "supervisor", "ok", "starts commands and ends whatever they leave behind"),
        Fact("programs", "git", "ok", f"{said.removeprefix('git version ')} at {git}")
        if said
        else Fact("programs", "git", "note", "not found; commands that need it will fail"),
        Fact("programs", "ripgrep", "ok", rg)
        if rg
        else Fact("programs", "ripgrep", "failed", "not found; search_files needs it: reinstall ferrule, or install ripgrep"),
    ]


async def _sandboxes(folder: Path, config: Config) -> list[Fact]:
    """What each mode is on this machine, by running it. `failed` where the configuration asks for one that does not work."""
    return [await _sandbox(folder, replace(config.sandbox, mode=mode), config.sandbox.mode) for mode in ("workspace", "strict")]


async def _sandbox(folder: Path, sandbox: Sandbox, wanted: SandboxMode) -> Fact:
    processes = Supervisor()
    try:
        confinement = await confine(sandbox, Place(folder.resolve()), processes)
        await confinement.processes.close()
    except UsageError as error:
        return Fact("sandbox", sandbox.mode, "failed" if sandbox.mode == wanted else "note", str(error))
    finally:
        await processes.close()
    told = f"{confinement.kind}. {confinement.remark}" if confinement.remark else confinement.kind
    return Fact("sandbox", sandbox.mode, "note" if confinement.remark else "ok", told)


async def _output(processes: Supervisor, argv: tuple[str, ...], environ: Mapping[str, str]) -> str | None:
    """What a program prints, None where it fails."""
    chunks: list[bytes] = []
    ended = await processes.run(Command(argv, "/", allowed_environment(environ), timeout=5.0), chunks.append)
    return b"".join(chunks).decode("utf-8", "replace").strip() if ended.exit_code == 0 else None


def _state(environ: Mapping[str, str]) -> list[Fact]:
    import sqlite3
    import tempfile

    from ferrule.store.database import connect_new

    folder = state_folder(environ)
    facts = [Fact("state", "sqlite", "ok", sqlite3.sqlite_version)]
    base = next(path for path in (folder, *folder.parents) if path.exists())
    made = "" if folder.exists() else " (made when it is needed)"
    try:
        with tempfile.TemporaryDirectory(prefix=".ferrule-doctor-", dir=base) as scratch:
            file = Path(scratch) / "try.db"
            file.touch()
            connection, mode = connect_new(file)
            with closing(connection):
                connection.execute("CREATE TABLE tried (x)")
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return [*facts, Fact("state", "folder", "failed", f"{folder} cannot be written: {why}")]
    facts.append(Fact("state", "folder", "ok", f"{folder}{made}"))
    if mode == "wal":
        return [*facts, Fact("state", "journal", "ok", "write-ahead log")]
    return [
        *facts,
        Fact("state", "journal", "note", "rollback journal, because this file system refuses a write-ahead log; slower"),
    ]


def _settings(folder: Path, environ: Mapping[str, str]) -> tuple[Config, list[Fact]]:
    try:
        loaded = load(folder, environ)
    except UsageError as error:
        return Config(), [Fact("configuration", "files", "failed", str(error))]
    looked = f"none ({user_file(environ)}, {folder / PROJECT_FILE})"
    facts = [Fact("configuration", "files", "ok", ", ".join(loaded.files) or looked)]
    facts += [Fact("configuration", "note", "note", remark) for remark in loaded.notes]
    model = loaded.config.model
    facts.append(Fact("configuration", "model", "ok", f"{model} (from {loaded.origins['model']})" if model else "none chosen"))
    return loaded.config, facts


def _hooks(config: Config) -> list[Fact]:
    """Those that would run. Nothing is run here."""
    return [
        Fact("hooks", hook.event, "ok", f"{hook.shown}; {hook.timeout:g} s, fails {'closed' if hook.closed else 'open'}")
        for hook in config.hooks
    ]


def _guidance(folder: Path, environ: Mapping[str, str]) -> list[Fact]:
    """Instructions, rules, skills and commands in the order in which they count, and what does not."""
    from .guidance.facts import rows
    from .guidance.guide import surroundings

    try:
        return [Fact(*row) for row in rows(surroundings(folder.resolve(), user_file(environ).parent, environ))]
    except UsageError as error:
        return [Fact("instructions", "trust", "failed", str(error))]


def _keys(config: Config, environ: Mapping[str, str]) -> list[Fact]:
    """Which variables are set. Their values are nobody's business."""
    keys = [vendor.key for vendor in VENDORS.values()]
    named = [endpoint.key_env for endpoint in config.endpoints.values() if endpoint.key_env]
    names = dict.fromkeys((*keys, *named, *(vendor.base for vendor in VENDORS.values())))
    present = [name for name in names if environ.get(name)]
    facts = [
        Fact(
            "keys",
            "set",
            "ok" if present else "note",
            ", ".join(present) or f"none of {', '.join(dict.fromkeys((*keys, *named)))}",
        )
    ]
    for name, endpoint in config.endpoints.items():
        if endpoint.key_env and not environ.get(endpoint.key_env):
            facts.append(Fact("keys", name, "note", f"endpoint {name} wants {endpoint.key_env}, which is not set"))
    return facts


async def _servers(servers: Servers) -> list[Fact]:
    answers = await asyncio.gather(*(_models(port) for _, port in servers))
    facts: list[Fact] = []
    for (name, port), models in zip(servers, answers, strict=True):
        if models is not None:
            listed = ", ".join(models[:5]) + (f" and {len(models) - 5} more" if len(models) > 5 else "")
            facts.append(Fact("servers", name, "ok", f"127.0.0.1:{port} offers {listed or 'no model'}"))
    where = ", ".join(f"{name} {port}" for name, port in servers)
    return facts or [Fact("servers", "on this machine", "note", f"none answers ({where})")]


async def _models(port: int) -> Sequence[str] | None:
    """The names that `GET /v1/models` lists on a port of this machine, None where no such server answers in time."""
    try:
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(f"GET /v1/models HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json\r\n\r\n".encode())
                answer = await reader.read(1 << 20)
                while more := await reader.read(1 << 20):
                    answer += more
            finally:
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()
    except (OSError, TimeoutError):
        return None
    return _listed(answer)


def _listed(answer: bytes) -> Sequence[str] | None:
    import msgspec

    head, _, body = answer.partition(b"\r\n\r\n")
    if head.split(b" ", 2)[1:2] != [b"200"]:
        return None
    try:
        return tuple(model.id for model in msgspec.json.decode(body, type=_Models).data)
    except msgspec.DecodeError:
        return None


class _Model(Struct):
    id: str


class _Models(Struct):
    data: list[_Model]
