"""The key reaches the provider and nothing else: no file, no output, no child, no host."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.wire import DIALECTS, KEY, MAKE, WIRES, Home, Played, Step, call, ends, http, shell, spread

ANCESTORS = """
import base64, sys
pid, way, found = "self", sys.argv[1], 0
while pid not in ("0", "1"):
    environ = open(f"/proc/{pid}/environ", "rb").read()
    found += b"FERRULE_HOME=" in environ
    leaks = [entry for entry in environ.split(b"\\0") if b"API_KEY=" in entry and entry.strip(b"*")[-1:] != b"="]
    print("leaks:", len(leaks))
    print(pid, {"plain": repr(environ), "base64": base64.b64encode(environ).decode(), "hex": environ.hex()}[way])
    pid = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1]
print("read of Ferrule:", found)
"""
"""Prints the environment of this process and of all above it, Ferrule's own among them."""

HOOK = """
import os, sys

def record(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        with open(os.environ["FERRULE_HOME"] + ".sockets", "a") as file:
            print(event, arguments[1] if event in ("socket.connect", "socket.sendto") else arguments[0], file=file)

sys.addaudithook(record)
"""
"""Python's own record of every connection and every name that is asked for."""


def encodings(secret: str) -> list[bytes]:
    """The value as it stands, and what is the same in every base64 or hexadecimal text that holds it."""
    import base64

    found = [secret.encode(), secret.encode().hex().encode()]
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + secret.encode()).rstrip(b"=")
        found.append(encoded[4:-4])
    return found


def traces(played: Played, secret: str = KEY) -> list[str]:
    """Where the secret is, apart from the header."""
    places = {
        "journal and blobs": played.stored(),
        "stdout": played.out.encode(),
        "stderr": played.err.encode(),
        "requests": b"\n".join(call.raw + call.path.encode() for call in played.calls),
        "project": b"".join(file.read_bytes() for file in played.home.folder.rglob("*") if file.is_file()),
    }
    return [place for place, held in places.items() if any(each in held for each in encodings(secret))]


def prying(way: str) -> Step:
    return shell(f"python3 ancestors.py {way}")


@spread(("plain", "base64", "hex"))
def test_a_child_that_reads_the_environment_above_it_does_not_pass_the_key_on(tmp_path: Path, name: str, dialect: str):
    home = Home(tmp_path)
    (home.folder / "ancestors.py").write_text(ANCESTORS)
    played = home.play(dialect, prying(name), ends())

    assert (played.code, played.complaints()) == (0, []), played.err
    shown = json.dumps(played.bodies[1])
    assert "read of Ferrule: 1" in shown
    assert ("leaks: 0" in shown, "leaks: 1" in shown) == (True, False)
    assert traces(played) == []


@spread(("environment",))
def test_a_child_sees_no_key_and_no_base_url(tmp_path: Path, name: str, dialect: str):
    played = Home(tmp_path).play(dialect, shell("env; echo; env > env.txt"), ends(), environ={"SOME_TOKEN": "t" * 20})
    names = {line.partition("=")[0] for line in (played.home.folder / "env.txt").read_text().splitlines()}

    assert played.code == 0
    assert not names & {WIRES[dialect].key, WIRES[dialect].base, "SOME_TOKEN", "FERRULE_HOME"}
    assert {"PATH", "HOME"} <= names
    assert traces(played) == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_key_that_the_server_repeats_in_an_error_is_not_shown(tmp_path: Path, dialect: str):
    body: dict[str, Any] = {"error": {"message": f"Incorrect API key provided: {KEY}.", "type": "authentication_error"}}
    played = Home(tmp_path).play(dialect, http(401, None, body=body))

    assert (played.code, traces(played)) == (1, [])
    assert "Incorrect API key provided" in played.result["error"]


SECRET = "deploy-9Xw2Lm4Rt8QzB7"
WAYS = {
    "plain": 'echo "token=$DEPLOY_TOKEN"',
    "in_two_writes": 'printf \'%s\' "${DEPLOY_TOKEN:0:9}"; sleep 0.2; echo "${DEPLOY_TOKEN:9}"',
    "base64": 'for lead in "" x xx xxx; do printf %s "$lead$DEPLOY_TOKEN and more" | base64 -w0; echo; done',
    "hexadecimal": "printf %s \"$DEPLOY_TOKEN\" | od -An -v -tx1 | tr -d ' \\n'",
    "deep_in_a_long_output": 'seq 30000; echo "$DEPLOY_TOKEN"; seq 30000',
    "in_a_file_that_is_read": "cat env.ini",
    "in_an_error": '"./$DEPLOY_TOKEN"',
}


@spread(WAYS)
def test_a_secret_that_a_command_may_see_is_masked_wherever_its_output_goes(tmp_path: Path, name: str, dialect: str):
    home = Home(tmp_path)
    (home.folder / "env.ini").write_text(f"a = {SECRET}\n")
    see = {"calls": [call("read_file", path="env.ini"), *shell(WAYS[name])["calls"]]}
    config, environ = '[env]\npass = ["DEPLOY_TOKEN"]\n', {"DEPLOY_TOKEN": SECRET}
    played = home.play(dialect, see, MAKE, ends(), config=config, environ=environ, output="stream-json")
    (home.folder / "env.ini").unlink()

    assert (played.code, traces(played, SECRET), played.complaints()) == (0, [], [])
    assert "[secret DEPLOY_TOKEN]" in json.dumps(played.bodies[1])


@spread(("network",))
def test_no_host_is_asked_but_the_provider(tmp_path: Path, name: str, dialect: str):
    home = Home(tmp_path)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(HOOK)
    closed = "http://127.0.0.1:9"
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"), closed)
    played = home.play(dialect, MAKE, ends(), environ={"PYTHONPATH": str(hooks), **proxies})
    asked = Path(f"{home.state}.sockets").read_text().splitlines()

    assert (played.code, played.complaints(), played.others) == (0, [], [])
    port = played.calls[0].headers["host"].partition(":")[2]
    allowed = {f"socket.connect ('127.0.0.1', {port})", "socket.getaddrinfo 127.0.0.1", "socket.getaddrinfo b'127.0.0.1'"}
    assert set(asked) <= allowed
    assert f"socket.connect ('127.0.0.1', {port})" in asked
