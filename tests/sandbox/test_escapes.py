"""What a command under bubblewrap tries in order to reach what is outside. Each attempt is a real process."""

import asyncio
import os
import stat
import sys
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from ferrule.process.protocol import Command, Ended, Processes

from .world import (
    ENVIRONMENT,
    HOME,
    PYTHON,
    SECRET,
    World,
    folder_in,
    python,
    run,
    run_folder,
    said,
    shell,
    with_sandbox,
)

MODES = pytest.mark.parametrize("mode", ["workspace", "strict"])


@MODES
def test_workspace_can_be_written(world: World, mode: str) -> None:
    assert (
        said(world.wish(mode), shell(world, "echo text > made && mkdir deep && mv made deep/moved && cat deep/moved")) == "text\n"
    )
    assert (world.workspace / "deep" / "moved").read_text() == "text\n"


@MODES
@pytest.mark.parametrize(
    "script",
    [
        "echo stolen > ../outside/made",
        "echo stolen > $PWD/../../$TOP/outside/made",
        "ln -s ../outside link; echo stolen > link/made",
        "ln -s /proc/self/root$OUTSIDE link; echo stolen > link/made",
        "echo stolen > /proc/self/root$OUTSIDE/made",
        "echo stolen > /proc/1/root$OUTSIDE/made",
        "echo stolen > /proc/1/cwd/$OUTSIDE/made",
        "cd ..; mv outside/secret outside/made",
        "rm -rf $OUTSIDE; mkdir -p $OUTSIDE; echo stolen > $OUTSIDE/made",
        "ln $OUTSIDE/secret hard && echo stolen > hard",
        "cp $OUTSIDE/secret . ; truncate -s 0 $OUTSIDE/secret",
        "mv $PWD $OUTSIDE/made",
        "echo stolen > /etc/ferrule-made; echo stolen > /usr/ferrule-made; echo stolen > /ferrule-made",
        "echo stolen > /sys/kernel/profiling; echo stolen > /proc/sys/kernel/domainname",
        "echo stolen > /dev/shm/ferrule-made",
    ],
)
def test_nothing_outside_is_written(world: World, mode: str, script: str) -> None:
    domain = Path("/proc/sys/kernel/domainname").read_text()
    script = f"OUTSIDE={world.outside} TOP={world.top.name}; {script}"
    run(world.wish(mode), shell(world, script))
    assert sorted(os.listdir(world.outside)) == ["secret"]
    assert world.secret.read_text() == SECRET
    assert sorted(os.listdir(world.top)) == ["outside", "workspace"]
    strays = [path for path in ("/etc", "/usr", "", "/dev/shm") if Path(f"{path}/ferrule-made").exists()]
    assert strays == []
    assert Path("/proc/sys/kernel/domainname").read_text() == domain


@MODES
def test_a_link_swapped_while_a_command_runs_leads_nowhere(world: World, mode: str) -> None:
    inside = world.workspace / "inside"
    inside.mkdir()
    swapping = threading.Event()

    def swap() -> None:
        link, other = world.workspace / "link", world.workspace / "other"
        while not swapping.is_set():
            for target in (world.outside, inside):
                other.symlink_to(target)
                os.replace(other, link)

    (world.workspace / "link").symlink_to(inside)
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        code = """
import os
import time
done = failed = 0
until = time.monotonic() + 20
while (done < 200 or failed < 200) and time.monotonic() < until:
    try:
        with open(f"link/made{done}", "w"):
            done += 1
    except OSError:
        failed += 1
print(done >= 200, failed >= 200)
"""
        assert said(world.wish(mode), python(world, code)) == "True True\n"
    finally:
        swapping.set()
        thread.join()
    assert os.listdir(world.outside) == ["secret"]


@MODES
def test_a_command_cannot_make_the_workspace_another_folder_for_the_next_one(world: World, mode: str) -> None:
    swap = f"cd ..; mv workspace away; ln -s {world.outside} workspace; rm -rf workspace; mkdir workspace"

    async def use(processes: Processes) -> Ended:
        await processes.run(shell(world, swap), lambda data: None)
        return await processes.run(shell(world, "echo text > made"), lambda data: None)

    assert with_sandbox(world.wish(mode), use).exit_code == 0
    assert (world.workspace / "made").read_text() == "text\n"
    assert os.listdir(world.outside) == ["secret"]


@MODES
def test_processes_outside_are_neither_seen_nor_signalled_nor_traced(world: World, mode: str) -> None:
    script = f"""
ls -d /proc/[0-9]* | wc -l
kill -0 {os.getpid()} 2>&1
cat /proc/{os.getpid()}/environ 2>&1 | head -c 200
"""
    count, *rest = said(world.wish(mode), shell(world, script)).split("\n")
    rest = [line for line in rest if line]
    assert int(count) < 8
    assert all("o such" in line or "ermission" in line for line in rest) and len(rest) == 2


@MODES
def test_nothing_of_the_first_process_inside_can_be_taken(world: World, mode: str) -> None:
    code = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for pid in (1, os.getppid()):
    print(libc.ptrace(16, pid, 0, 0))
    for name in ("root", "cwd", "exe", "fd/1", "fd/2", "environ", "mem", "maps"):
        try:
            path = f"/proc/{pid}/{name}"
            readable = name in ("environ", "mem", "maps")
            open(path, "rb").read(10) if readable else os.readlink(path)
            print("open", path)
        except OSError:
            pass
"""
    command = Command((PYTHON, "-I", "-c", code), str(world.workspace), ENVIRONMENT, 20)
    assert said(world.wish(mode), command) == "-1\n-1\n"


@MODES
def test_no_descriptor_is_inherited(world: World, mode: str) -> None:
    code = """
import os
print(sorted(int(fd) for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")))
print(os.readlink("/proc/self/fd/0"), os.readlink("/proc/self/fd/1") == os.readlink("/proc/self/fd/2"))
"""
    with open(world.secret) as opened, open(world.secret, "a") as second:
        for each in (opened, second):
            os.set_inheritable(each.fileno(), True)
        folder = os.open(world.outside, os.O_RDONLY | os.O_DIRECTORY)
        os.set_inheritable(folder, True)
        try:
            assert said(world.wish(mode), python(world, code)) == "[0, 1, 2]\n/dev/null True\n"
        finally:
            os.close(folder)


@MODES
def test_the_environment_holds_what_was_given_and_nothing_else(world: World, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_TOKEN", SECRET)
    code = "import os; print(sorted(os.environ)); print(open('/proc/self/environ').read().count('\\0'))"
    names, count = said(world.wish(mode), python(world, code)).splitlines()
    assert eval(names) in (["HOME", "PATH"], ["HOME", "LC_CTYPE", "PATH"]) and int(count) == 2
    assert SECRET not in said(world.wish(mode), shell(world, "cat /proc/*/environ 2>/dev/null; env; set"))


def test_strict_reads_nothing_of_temporary_run_home_or_other_folders(world: World) -> None:
    with folder_in("/tmp") as tmp, folder_in(run_folder()) as in_run, folder_in(HOME) as home:
        for folder in (tmp, in_run, home):
            (folder / "secret").write_text(SECRET)
        places = " ".join(f"{folder}/secret" for folder in (tmp, in_run, home, world.outside))
        script = (
            f"cat {places} /var{in_run}/secret ../outside/secret 2>/dev/null; ls /run /var/run /sys /mnt /srv 2>/dev/null | wc -l"
        )
        assert said(world.wish("strict"), shell(world, script)) == "0\n"


def test_workspace_mode_reads_what_is_outside_but_not_the_temporary_folder(world: World) -> None:
    with folder_in("/tmp") as tmp:
        (tmp / "secret").write_text("hidden")
        assert said(world.wish("workspace"), shell(world, f"cat ../outside/secret {tmp}/secret 2>/dev/null")) == SECRET


@MODES
def test_no_right_is_held_or_gained(world: World, mode: str) -> None:
    script = """
grep -E 'Cap(Inh|Prm|Eff|Amb)|NoNewPrivs' /proc/self/status | tr -d '[:space:]'
echo
mount -t tmpfs none /mnt 2>/dev/null && echo mounted
mount -o remount,rw,bind / / 2>/dev/null && echo remounted
umount /tmp 2>/dev/null && echo unmounted
chroot / true 2>/dev/null && echo rooted
mknod node b 8 0 2>/dev/null && echo made
unshare -Urm sh -c 'mount -o remount,rw,bind /usr; echo x > /usr/ferrule-made' 2>/dev/null && echo unshared
unshare -Urm sh -c 'umount /proc; umount -l /tmp; umount -l $PWD' 2>/dev/null && echo uncovered
date -s 2001-01-01 2>/dev/null >&2 && echo dated
true
"""
    first, *rest = said(world.wish(mode), shell(world, script)).splitlines()
    zero = "0" * 16
    assert first == f"CapInh:{zero}CapPrm:{zero}CapEff:{zero}CapAmb:{zero}NoNewPrivs:1"
    assert rest == []
    assert not Path("/usr/ferrule-made").exists()


@MODES
def test_a_setuid_program_gives_nothing(world: World, mode: str) -> None:
    """Made outside, found in the workspace: it runs as who called it."""
    program = world.workspace / "become"
    program.write_bytes(Path("/usr/bin/id").read_bytes())
    program.chmod(0o4755)
    if os.getuid() == 0:
        os.chown(program, 65534, 65534)
        program.chmod(0o6755)
    assert program.stat().st_mode & stat.S_ISUID
    assert said(world.wish(mode), shell(world, "./become -u; ./become -ru")) == f"{os.getuid()}\n" * 2


@MODES
def test_there_is_no_terminal_to_type_into(world: World, mode: str) -> None:
    code = """
import fcntl, os, termios
print(os.getsid(0) == os.getpid())
try:
    os.open("/dev/tty", os.O_RDWR)
    print("terminal")
except OSError:
    print("no terminal")
for fd in (0, 1, 2):
    try:
        fcntl.ioctl(fd, termios.TIOCSTI, b"x")
        print("typed")
    except OSError:
        pass
"""
    command = Command((PYTHON, "-I", "-c", code), str(world.workspace), ENVIRONMENT, 20)
    assert said(world.wish(mode), command) == "True\nno terminal\n"


@MODES
def test_only_harmless_devices_are_there(world: World, mode: str) -> None:
    harmless = {"null", "zero", "full", "random", "urandom", "tty", "console", "ptmx", "pts", "shm", "fd", "core", "stdin"}
    found = set(said(world.wish(mode), shell(world, "ls /dev")).split()) - {"stdout", "stderr", "mqueue"}
    assert found <= harmless


@MODES
def test_read_only_access_leaves_the_workspace_as_it_is(world: World, mode: str) -> None:
    (world.workspace / "there").write_text("text")
    script = "cat there; echo more >> there; echo new > new; rm there; mkdir deep; chmod 777 there; echo t > /tmp/x && cat /tmp/x"
    ended, output = run(world.wish(mode, read_only=True), shell(world, f"({script}) 2>/dev/null"))
    assert (ended.exit_code, output) == (0, "textt\n")
    assert [(path.name, path.read_text()) for path in world.workspace.iterdir()] == [("there", "text")]


@MODES
@pytest.mark.parametrize("place", ["/tmp", HOME])
def test_a_workspace_below_a_hidden_folder_stays_visible_and_nothing_beside_it(mode: str, place: str) -> None:
    with folder_in(place) as top:
        world = World(top)
        (world.workspace / "there").write_text("text")
        script = f"cat there; echo new > new; cat ../outside/secret; ls -A {top}"
        output = said(world.wish(mode), shell(world, f"({script}) 2>/dev/null"))
        assert (world.workspace / "new").read_text() == "new\n"
        if mode == "strict" or place == "/tmp":
            assert output == "textworkspace\n"
        else:
            assert output == f"text{SECRET}outside\nworkspace\n"
            assert not any((world.outside / name).exists() for name in ("new", "made"))


@MODES
def test_temporary_files_are_private_and_stay_for_the_next_command(world: World, mode: str) -> None:
    async def use(processes: Processes) -> bytes:
        seen = bytearray()
        await processes.run(shell(world, "echo kept > /tmp/ferrule-test-kept"), seen.extend)
        await processes.run(shell(world, "cat /tmp/ferrule-test-kept; echo ${TMPDIR-none}"), seen.extend)
        assert not Path("/tmp/ferrule-test-kept").exists()
        return bytes(seen)

    assert with_sandbox(world.wish(mode), use) == b"kept\nnone\n"


@MODES
def test_nothing_of_the_temporary_folder_is_left(world: World, mode: str) -> None:
    before = set(os.listdir("/tmp"))
    run(world.wish(mode), shell(world, "mkdir /tmp/deep; echo x > /tmp/deep/file; chmod 0 /tmp/deep"))
    assert {name for name in set(os.listdir("/tmp")) - before if name.startswith("ferrule-box-")} == set()


@MODES
def test_a_command_starts_inside_the_workspace_only(world: World, mode: str) -> None:
    link = world.workspace / "link"
    link.symlink_to(world.outside)
    for cwd in (world.outside, link, world.top, Path("/"), world.workspace / ".." / "outside"):
        ended, output = run(world.wish(mode), Command(("pwd",), str(cwd), ENVIRONMENT, 20))
        assert (ended.exit_code, output) == (None, "")
        assert ended.error is not None and "outside the workspace" in ended.error and "--add-dir" in ended.error
    deep = world.workspace / "deep"
    deep.mkdir()
    assert said(world.wish(mode), Command(("pwd",), str(deep), ENVIRONMENT, 20)) == f"{deep}\n"


@MODES
def test_a_lent_folder_is_there_for_one_command(world: World, mode: str) -> None:
    with folder_in("/tmp") as lent:

        async def use(processes: Processes) -> tuple[int | None, int | None]:
            lending = Command(("sh", "-c", "echo x > made"), str(lent), ENVIRONMENT, 20, lent=(str(lent),))
            first = await processes.run(lending, lambda data: None)
            second = await processes.run(shell(world, f"cat {lent}/made 2>/dev/null"), lambda data: None)
            return first.exit_code, second.exit_code

        first, second = with_sandbox(world.wish(mode), use)
        assert first == 0 and second not in (0, None)
        assert (lent / "made").read_text() == "x\n"


@MODES
def test_added_folders_can_be_written_and_shown_ones_only_read(world: World, mode: str) -> None:
    with folder_in("/var/tmp") as added, folder_in("/tmp") as shown:
        (shown / "there").write_text("text")
        wish = world.wish(mode, show=(str(shown),))
        wish = replace(wish, folders=(*wish.folders, str(added)))
        script = f"echo x > {added}/made; cat {shown}/there; echo y 2>/dev/null > {shown}/made"
        assert said(wish, shell(world, f"({script}) 2>/dev/null")) == "text"
        assert (added / "made").read_text() == "x\n"
        assert os.listdir(shown) == ["there"]
        assert said(wish, Command(("pwd",), str(added), ENVIRONMENT, 20)) == f"{added}\n"


def test_commands_run_beside_each_other(world: World) -> None:
    async def use(processes: Processes) -> list[Ended]:
        commands = [shell(world, f"echo {n} > made{n}") for n in range(5)]
        return await asyncio.gather(*(processes.run(command, lambda data: None) for command in commands))

    assert [ended.exit_code for ended in with_sandbox(world.wish("workspace"), use)] == [0] * 5
    assert sys.platform == "linux" and len(os.listdir(world.workspace)) == 5
