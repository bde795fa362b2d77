"""What a headless turn loads (design, section 12): what is in neither list here must be imported where it is used."""

import json
import subprocess
import sys

import pytest

from tests.fakes.server import FakeServer

from .command import Shell, call, ends

NAMED = {"ferrule", "msgspec", "httpx2", "tree_sitter", "tree_sitter_bash"}
BELOW = {"httpcore2", "h11", "anyio", "sniffio", "idna", "certifi", "truststore", "typing_extensions"}
"""What httpx2 brings with it."""

PROGRAM = """
import sys

outside = set(sys.modules)
from ferrule.main import main

code = main()
import json

print(json.dumps(sorted({name.partition(".")[0] for name in set(sys.modules) - outside} - sys.stdlib_module_names)))
sys.exit(code)
"""
MODELS = {"openai": "/v1", "openai-responses": "/v1", "anthropic": "", "google": ""}


@pytest.mark.parametrize("dialect", MODELS)
def test_a_headless_turn_loads_no_package_but_the_named_ones(shell: Shell, dialect: str) -> None:
    (shell.folder / "a.txt").write_text("a\n")
    work = {"calls": [call("read_file", path="a.txt"), call("execute_command", command="true && ls")]}
    variable = {"anthropic": "ANTHROPIC", "google": "GEMINI"}.get(dialect, "OPENAI")
    base = "GOOGLE_GEMINI_BASE_URL" if dialect == "google" else f"{variable}_BASE_URL"
    with FakeServer({"version": 1, "steps": [work, ends("Done.")]}) as server:
        environ = {f"{variable}_API_KEY": "loopback", base: server.url + MODELS[dialect]}
        arguments = ("-p", "x", "--model", f"{dialect}/m", "--approve", "all")
        ran = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            cwd=shell.folder,
            env=shell.environ(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr
    result, loaded = ran.stdout.splitlines()
    assert result == "Done."
    assert set(json.loads(loaded)) - NAMED - BELOW == set()
    assert set(json.loads(loaded)) >= NAMED
