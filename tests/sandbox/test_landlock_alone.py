"""Where there is no bubblewrap: what Landlock holds by itself, and what is said about what it does not."""

import os
import socket
from pathlib import Path

import pytest

from ferrule.process.protocol import Processes
from ferrule.types.errors import UsageError

from .test_sockets import REACH
from .world import HOME, NO_BUBBLEWRAP, SECRET, World, listening, python, run, said, shell, with_sandbox


@pytest.mark.parametrize(
    "script",
    [
        "echo stolen > ../outside/made",
        "ln -s ../outside link; echo stolen > link/made",
        "echo stolen > /proc/self/root$OUTSIDE/made",
        "echo stolen > /proc/$PPID/root$OUTSIDE/made",
        "ln $OUTSIDE/secret hard && echo stolen > hard",
        "cd ..; mv outside/secret outside/made",
        "mv $OUTSIDE/secret .",
        "rm -rf $OUTSIDE",
        "truncate -s 0 $OUTSIDE/secret",
        "mkdir $OUTSIDE/made; mkfifo $OUTSIDE/made; ln -s x $OUTSIDE/made",
        "echo stolen > /dev/shm/ferrule-made; echo stolen > /tmp/ferrule-made; echo stolen > ~/ferrule-made",
        "unshare -m sh -c 'mount --bind $PWD $OUTSIDE; echo stolen > $OUTSIDE/made'",
        "unshare -Urm mount --bind $PWD $OUTSIDE",
    ],
)
def test_nothing_outside_is_written(world: World, script: str) -> None:
    run(world.wish("workspace"), shell(world, f"OUTSIDE={world.outside}; {script}"), NO_BUBBLEWRAP)
    assert (os.listdir(world.outside), world.secret.read_text()) == (["secret"], SECRET)
    assert [place for place in ("/dev/shm", "/tmp", HOME) if Path(place, "ferrule-made").exists()] == []


def test_workspace_and_a_private_temporary_folder_can_be_written(world: World) -> None:
    script = (
        "echo a >made; mkdir deep; mv made deep; ln deep/made hard; cat hard; echo b > $TMPDIR/x; cat $TMPDIR/x; : >/dev/null"
    )
    assert said(world.wish("workspace"), shell(world, script), NO_BUBBLEWRAP) == "a\nb\n"


def test_read_only_access_leaves_the_workspace_as_it_is(world: World) -> None:
    ended, _ = run(world.wish("workspace", read_only=True), shell(world, "echo new > new"), NO_BUBBLEWRAP)
    assert (ended.exit_code, os.listdir(world.workspace)) == (2, [])


def test_tcp_and_abstract_sockets_are_not_reached(world: World) -> None:
    name = f"ferrule-{os.getpid()}-alone"
    with listening(("127.0.0.1", 0), socket.AF_INET) as tcp, listening("\0" + name, socket.AF_UNIX):
        asked = python(world, REACH, f"tcp={tcp.getsockname()[1]}", f"abstract={name}")
        assert said(world.wish("workspace"), asked, NO_BUBBLEWRAP) == "tcp not reached\nabstract not reached\n"
        assert said(world.wish("workspace", network=True), asked, NO_BUBBLEWRAP) == "tcp reached\nabstract not reached\n"


def test_processes_outside_are_neither_signalled_nor_read(world: World) -> None:
    script = f"kill -0 {os.getpid()} 2>&1; cat /proc/{os.getpid()}/environ 2>&1 | head -c 300"
    lines = said(world.wish("workspace"), shell(world, script), NO_BUBBLEWRAP).splitlines()
    assert ["ermi" in line for line in lines if line] == [True, True]


def test_root_has_no_rights_of_root(world: World) -> None:
    script = "grep -E 'Cap(Prm|Eff|Amb)|NoNewPrivs' /proc/self/status | tr -d '[:space:]'"
    zero = "0" * 16
    shown = said(world.wish("workspace"), shell(world, script), NO_BUBBLEWRAP)
    assert shown == f"CapPrm:{zero}CapEff:{zero}CapAmb:{zero}NoNewPrivs:1"


def test_it_is_said_that_the_network_is_not_isolated(world: World) -> None:
    async def use(processes: Processes) -> str:
        return processes.remark  # type: ignore[attr-defined]

    remark = with_sandbox(world.wish("workspace"), use, NO_BUBBLEWRAP)
    assert "Landlock" in remark and "network is not isolated" in remark
    assert with_sandbox(world.wish("workspace"), use) == ""


def test_strict_does_not_fall_back(world: World) -> None:
    with pytest.raises(UsageError, match=r"bubblewrap"):
        run(world.wish("strict"), shell(world, "true"), NO_BUBBLEWRAP)
