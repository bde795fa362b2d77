import json
import subprocess
import sys

from .command import Ran, Shell, ends

WITHOUT_SDK = """
import sys

sys.modules["mcp"] = None
from ferrule.main import main

sys.exit(main())
"""


def test_a_server_is_added_listed_and_removed(shell: Shell) -> None:
    file = shell.config.with_name("mcp.json")
    added = shell.run("mcp", "add", "files", "--env", "API_KEY=abc=1", "--", "npx", "-y", "server", "/x")
    assert added == Ran(0, f"files is in {file} now; ferrule mcp list shows what counts here\n", "")
    assert shell.run("mcp", "add", "far", "https://example.com/mcp", "--header", "Authorization: Bearer x").code == 0
    assert shell.run("mcp", "add", "old", "https://example.com/sse", "--transport", "sse").code == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text()) == {
        "mcpServers": {
            "files": {"command": "npx", "args": ["-y", "server", "/x"], "env": {"API_KEY": "abc=1"}},
            "far": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer x"}},
            "old": {"type": "sse", "url": "https://example.com/sse"},
        }
    }
    listed = shell.run("mcp", "list")
    assert listed.code == 0
    assert f"files  stdio  npx -y server /x\n  configured in {file}, log {shell.state}/mcp/files-" in listed.out
    assert "far  http  https://example.com/mcp\n" in listed.out and "old  sse  " in listed.out
    assert "abc=1" not in listed.out and "Bearer" not in listed.out
    assert [each["name"] for each in json.loads(shell.run("mcp", "list", "--output-format", "json").out)["servers"]] == [
        "files",
        "far",
        "old",
    ]
    assert shell.run("mcp", "remove", "far") == Ran(0, f"far is in {file} no more\n", "")
    assert [*json.loads(file.read_text())["mcpServers"]] == ["files", "old"]


def test_what_else_a_file_holds_stays(shell: Shell) -> None:
    file = shell.folder / ".mcp.json"
    file.write_text('{"inputs": [1], "mcpServers": {"a": {"command": "x", "watchPaths": ["y"]}}}')
    assert shell.run("mcp", "add", "b", "--project", "--", "z").code == 0
    assert json.loads(file.read_text()) == {
        "inputs": [1],
        "mcpServers": {"a": {"command": "x", "watchPaths": ["y"]}, "b": {"command": "z"}},
    }
    listed = shell.run("mcp", "list")
    assert listed.out.startswith("no server; add one: ferrule mcp add")
    assert f"{file} is ignored because its folder is not trusted; to trust it: ferrule config trust " in listed.out
    assert shell.run("config", "trust").code == 0
    assert "b  stdio  z\n" in shell.run("mcp", "list").out


def test_wrong_words_say_what_is_right(shell: Shell) -> None:
    def complaint(*words: str) -> str:
        ran = shell.run("mcp", *words)
        assert (ran.code, ran.out) == (2, "")
        return ran.err

    assert "ferrule mcp needs one of: list, add, remove" in complaint()
    assert "mcp add needs a name and a URL, or a command" in complaint("add", "files")
    assert "mcp remove needs the name of a server" in complaint("remove")
    assert "has no server files" in complaint("remove", "files")
    assert '"X" is not of the form --env NAME=VALUE' in complaint("add", "a", "--env", "X", "--", "y")
    assert "takes no arguments and no --env" in complaint("add", "a", "https://x", "more")
    assert "takes no --header" in complaint("add", "a", "--header", "A: b", "--", "cmd")
    assert "its name must be" in complaint("add", "a/b", "cmd")
    shell.run("mcp", "add", "a", "cmd")
    assert "has a server a already; remove it first: ferrule mcp remove a" in complaint("add", "a", "cmd")


def test_without_the_sdk_servers_are_left_out_and_that_is_said(shell: Shell) -> None:
    shell.run("mcp", "add", "files", "cmd")
    script = shell.home / "script.json"
    script.write_text(json.dumps({"version": 1, "steps": [ends("Done.")]}))
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_SDK, "-p", "x", "--model", f"scripted/{script}"],
        cwd=shell.folder,
        env=shell.environ({}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "Done.\n")
    assert (
        "The MCP servers files are left out: what speaks with them is not installed (pip install 'ferrule[mcp]')." in ran.stderr
    )
