"""What a command under bubblewrap reaches by sockets."""

import os
import socket

import pytest

from .world import HOME, World, folder_in, listening, python, run_folder, said

MODES = pytest.mark.parametrize("mode", ["workspace", "strict"])

REACH = """
import socket, sys
for kind, address in ((a.split("=", 1)) for a in sys.argv[1:]):
    family = socket.AF_INET if kind == "tcp" else socket.AF_UNIX
    where = ("127.0.0.1", int(address)) if kind == "tcp" else "\\0" + address if kind == "abstract" else address
    try:
        with socket.socket(family) as s:
            s.settimeout(2)
            s.connect(where)
            print(kind, "reached")
    except OSError as error:
        print(kind, "not reached")
"""


@MODES
def test_neither_loopback_nor_an_abstract_socket_is_reached(world: World, mode: str) -> None:
    name = f"ferrule-{os.getpid()}-{mode}"
    with listening(("127.0.0.1", 0), socket.AF_INET) as tcp, listening("\0" + name, socket.AF_UNIX):
        asked = python(world, REACH, f"tcp={tcp.getsockname()[1]}", f"abstract={name}")
        assert said(world.wish(mode), asked) == "tcp not reached\nabstract not reached\n"


@MODES
def test_a_network_that_is_allowed_is_reached_and_abstract_sockets_still_are_not(world: World, mode: str) -> None:
    name = f"ferrule-{os.getpid()}-{mode}"
    with listening(("127.0.0.1", 0), socket.AF_INET) as tcp, listening("\0" + name, socket.AF_UNIX):
        asked = python(world, REACH, f"tcp={tcp.getsockname()[1]}", f"abstract={name}")
        assert said(world.wish(mode, network=True), asked) == "tcp reached\nabstract not reached\n"


@MODES
def test_programs_may_use_a_loopback_of_their_own(world: World, mode: str) -> None:
    code = """
import socket
with socket.socket() as server:
    server.bind(("127.0.0.1", 0)); server.listen()
    with socket.create_connection(server.getsockname(), 2):
        print("connected")
"""
    assert said(world.wish(mode), python(world, code)) == "connected\n"


def test_strict_reaches_no_unix_socket_outside(world: World) -> None:
    with folder_in("/tmp") as tmp, folder_in(run_folder()) as in_run, folder_in(HOME) as home:
        paths = [str(folder / "s") for folder in (tmp, in_run, home)] + [str(world.outside / "s")]
        servers = [listening(path, socket.AF_UNIX) for path in paths]
        for server in servers:
            server.__enter__()
        try:
            asked = python(world, REACH, *(f"unix={path}" for path in paths))
            assert said(world.wish("strict"), asked) == "unix not reached\n" * 4
            reached = said(world.wish("workspace"), asked).splitlines()
            assert reached[0] == "unix not reached" and reached[1] == "unix reached"
        finally:
            for server in servers:
                server.__exit__(None, None, None)
