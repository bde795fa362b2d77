import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from ferrule.tools.mcp.server import Server
from ferrule.types.messages import Image
from ferrule.types.tools import Effect

from .serving import HERE, Served, said, serving, stdio_server

INSTALLED = HERE.parent.parent / ".venv" / "servers" / "node_modules" / ".bin"


def program(name: str) -> str:
    """One of the servers that make installs from npm."""
    path = INSTALLED / f"mcp-server-{name}"
    if not path.exists() and not os.environ.get("CI"):
        pytest.skip("npm is missing, or `make .venv/.servers` was not run")
    return str(path)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def listening(*command: str, port: int, **environ: str) -> Iterator[None]:
    process = subprocess.Popen(command, env={**os.environ, **environ}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert process.poll() is None and time.monotonic() < deadline, "the server does not listen"
                time.sleep(0.05)
        yield
    finally:
        process.kill()
        process.wait()


def remote(folder: Path, transport: str, port: int, path: str) -> Server:
    url = f"http://127.0.0.1:{port}{path}"
    return Server("far", folder / "mcp.json", transport, folder / "logs" / "far.log", url=url, timeout=10.0)  # type: ignore[arg-type]


async def everything(served: Served) -> None:
    """What a server of the protocol's own test suite gives, by whichever way it is reached."""
    name = next(iter(served.connections)).server.name
    assert served.troubles == ()
    assert served.tools[f"mcp__{name}__get-sum"].effect is Effect.READ
    assert served.tools[f"mcp__{name}__toggle-simulated-logging"].effect is Effect.EXTERNAL
    assert await served.text(f"mcp__{name}__echo", message="hi") == "ok: Echo: hi"
    assert "5" in await served.text(f"mcp__{name}__get-sum", a=2, b=3)
    output = await served.call(f"mcp__{name}__get-tiny-image")
    assert output.kind == "ok" and [type(part) for part in output.parts][-1] is Image
    assert '"temperature"' in await served.text(f"mcp__{name}__get-structured-content", location="New York")
    assert "demo://resource/" in await served.text(f"mcp__{name}__get-resource-links", count=2)
    listed = await served.text("access_mcp_resource", server_name=name)
    document = next(word for word in listed.split() if word.startswith("demo://resource/static/document/architecture"))
    assert "architecture" in (await served.text("access_mcp_resource", server_name=name, uri=document)).lower()
    assert "simple-prompt()" in await served.text("get_mcp_prompt", server_name=name)
    assert "[user]" in await served.text("get_mcp_prompt", server_name=name, name="simple-prompt")


def test_everything_over_standard_input_and_output(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        await everything(served)
        await served.call("mcp__everything__trigger-long-running-operation", duration=0.2, steps=2)
        assert "(2 of 2)" in "".join(served.heard)
        asked = said(await served.call("mcp__everything__trigger-elicitation-request"))
        assert asked.startswith("ok: The server asked: ") and "declined" in asked
        assert str(tmp_path) in await served.text("mcp__everything__get-roots-list")

    serving(tmp_path, stdio_server(tmp_path, "everything", program("everything"), "stdio"), test=test)


@pytest.mark.parametrize(("transport", "argument", "path"), [("http", "streamableHttp", "/mcp"), ("sse", "sse", "/sse")])
def test_everything_over_http(tmp_path: Path, transport: str, argument: str, path: str) -> None:
    port = free_port()
    with listening(program("everything"), argument, port=port, PORT=str(port)):
        serving(tmp_path, remote(tmp_path, transport, port, path), test=everything)


def test_files_are_read_and_written_by_their_server_and_its_folder_holds(tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    (tmp_path / "outside.txt").write_text("secret")

    async def test(served: Served) -> None:
        assert served.tools["mcp__files__read_text_file"].effect is Effect.READ
        assert served.tools["mcp__files__write_file"].effect is Effect.EXTERNAL
        assert (await served.call("mcp__files__write_file", path=f"{room}/a.txt", content="hello")).kind == "ok"
        assert (room / "a.txt").read_text() == "hello"
        assert await served.text("mcp__files__read_text_file", path=f"{room}/a.txt") == "ok: hello"
        refused = await served.text("mcp__files__read_text_file", path=f"{tmp_path}/outside.txt")
        assert refused.startswith("error: Access denied")

    serving(room, replace(stdio_server(room, "files", program("filesystem"), str(room)), log=tmp_path / "files.log"), test=test)


@pytest.mark.parametrize(("transport", "path"), [("http", "/mcp"), ("sse", "/sse")])
def test_a_server_of_the_sdk_over_http_and_what_happens_when_it_goes_away(tmp_path: Path, transport: str, path: str) -> None:
    port = free_port()
    command = (sys.executable, str(HERE / "faulty.py"), str(tmp_path / "notes"), transport, str(port))

    async def test(served: Served) -> None:
        assert await served.text("mcp__far__add", a=1, b=2) == "ok: 3"
        died = await asyncio.wait_for(served.text("mcp__far__crash", word="far"), 30)
        assert died.startswith("unknown: ")
        gone = await asyncio.wait_for(served.call("mcp__far__add", a=1, b=2), 30)
        assert gone.kind == "error"
        assert (tmp_path / "notes").read_text() == "far\n"

    with listening(*command, port=port):
        serving(tmp_path, remote(tmp_path, transport, port, path), test=test)


def test_a_server_that_nobody_listens_as_costs_its_tools_alone(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        assert served.tools == {}
        assert served.troubles[0].startswith("The server far cannot be used: it cannot be reached: ")

    serving(tmp_path, remote(tmp_path, "http", free_port(), "/mcp"), test=test)
