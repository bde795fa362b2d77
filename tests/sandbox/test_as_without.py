"""Under a sandbox a command's end, output and processes are told as they are without one."""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from ferrule.process.protocol import Command, Ended, Processes
from tests.process.probe import carriers, marker, sleepers, summary, until

from .world import ENVIRONMENT, HOME, NO_BUBBLEWRAP, PYTHON, World, python, run, shell, with_sandbox

LAYERS = pytest.mark.parametrize(
    ("mode", "programs"),
    [("workspace", None), ("strict", None), ("workspace", NO_BUBBLEWRAP)],
    ids=["workspace", "strict", "landlock"],
)
Programs = tuple[str, ...] | None


@LAYERS
@pytest.mark.parametrize(
    ("script", "exit_code", "signal_number"),
    [
        ("exit 0", 0, None),
        ("exit 3", 3, None),
        ("exit 137", 137, None),
        ("exit 255", 255, None),
        ("kill -TERM $$", None, signal.SIGTERM),
        ("kill -9 $$", None, signal.SIGKILL),
        ("kill -SEGV $$", None, signal.SIGSEGV),
    ],
)
def test_exit_code_or_signal_is_told(
    world: World, mode: str, programs: Programs, script: str, exit_code: int | None, signal_number: int | None
) -> None:
    ended, output = run(world.wish(mode), shell(world, script), programs)
    assert (summary(ended), output) == ((exit_code, signal_number, False, 0, None), "")


@LAYERS
def test_output_of_both_streams_arrives_in_the_order_of_writing(world: World, mode: str, programs: Programs) -> None:
    ended, output = run(world.wish(mode), shell(world, "echo one; echo two >&2; echo three"), programs)
    assert (ended.exit_code, output) == (0, "one\ntwo\nthree\n")
    _, output = run(world.wish(mode), shell(world, "echo one; echo two >&2", stderr="null"), programs)
    assert output == "one\n"


@LAYERS
def test_arguments_and_environment_are_exactly_as_given(world: World, mode: str, programs: Programs) -> None:
    arguments = ("", "two words", "\udcff", "new\nline", "-n", "--", "x" * 100_000)
    given = (*ENVIRONMENT, ("EMPTY", ""), ("LINES", "a\nb"), ("BYTES", "\udcff"), *((f"V{n}", "x" * 9_000) for n in range(60)))
    code = "import os, sys; os.write(1, repr((list(map(os.fsencode, sys.argv[1:])), os.environb)).encode())"
    command = Command((PYTHON, "-I", "-S", "-c", code, *arguments), str(world.workspace), given, 20)
    ended, output = run(world.wish(mode), command, programs)
    assert ended.exit_code == 0
    words, environ = eval(output, {"environ": dict})
    environ.pop(b"LC_CTYPE", None)
    if programs == NO_BUBBLEWRAP:
        assert environ.pop(b"TMPDIR")
    assert words == [os.fsencode(argument) for argument in arguments]
    assert environ == {os.fsencode(name): os.fsencode(value) for name, value in given}


@LAYERS
def test_folders_have_any_name(world: World, mode: str, programs: Programs) -> None:
    odd = world.workspace / os.fsdecode(b"--odd \xff\n name")
    odd.mkdir()
    wish = replace(world.wish(mode), folders=(str(odd),))
    command = Command(("sh", "-c", 'echo x > made; printf %s "$PWD"'), str(odd), ENVIRONMENT, 20)
    chunks: list[bytes] = []
    ended = with_sandbox(wish, lambda processes: processes.run(command, chunks.append), programs)
    assert (ended.exit_code, b"".join(chunks), os.listdir(odd)) == (0, os.fsencode(odd), ["made"])


@LAYERS
@pytest.mark.parametrize(
    ("argv", "says"),
    [(("no-such-tool",), "no such command"), (("/no/such/tool",), "/no/such/tool"), (("/etc/passwd",), "ermission")],
)
def test_what_cannot_be_started_is_an_error_that_names_it(
    world: World, mode: str, programs: Programs, argv: tuple[str, ...], says: str
) -> None:
    ended, output = run(world.wish(mode), Command(argv, str(world.workspace), ENVIRONMENT, 10), programs)
    assert (ended.exit_code, ended.signal, ended.left, output) == (None, None, 0, "")
    assert ended.error is not None and says in ended.error


@LAYERS
def test_a_folder_that_is_not_there_is_an_error_that_names_it(world: World, mode: str, programs: Programs) -> None:
    ended, _ = run(world.wish(mode), Command(("true",), str(world.workspace / "gone"), ENVIRONMENT, 10), programs)
    assert ended.error is not None and str(world.workspace / "gone") in ended.error


@LAYERS
def test_signals_are_as_by_default(world: World, mode: str, programs: Programs) -> None:
    ended, output = run(world.wish(mode), shell(world, "grep -E 'Sig(Blk|Ign)' /proc/self/status"), programs)
    blocked, ignored = (int(line.split()[1], 16) for line in output.splitlines())
    assert (ended.exit_code, blocked, ignored & ~(0b11 << 31)) == (0, 0, 0)


@LAYERS
def test_timeout_ends_the_command_and_all_below_it(world: World, mode: str, programs: Programs) -> None:
    mark = marker()
    command = shell(world, f"echo before; setsid sleep {mark} & (setsid sleep {mark} &) ; sleep {mark}", timeout=1)
    ended, output = run(world.wish(mode), command, programs)
    assert (summary(ended), output) == ((None, signal.SIGTERM, True, 0, None), "before\n")
    assert 1 <= ended.seconds < 4 and carriers(mark) == {}


@LAYERS
def test_timeout_lets_the_command_clean_up(world: World, mode: str, programs: Programs) -> None:
    script = f"trap 'echo cleaned; exit 5' TERM; sleep {marker()} & wait"
    ended, output = run(world.wish(mode), shell(world, script, timeout=1), programs)
    assert (summary(ended), output) == ((5, None, True, 0, None), "cleaned\n")


@LAYERS
def test_timeout_ends_what_ignores_signals(world: World, mode: str, programs: Programs) -> None:
    mark = marker()
    ended, _ = run(world.wish(mode), shell(world, f"trap '' TERM HUP INT; sleep {mark}; sleep {mark}", timeout=0.5), programs)
    assert (ended.timed_out, ended.signal, ended.error, carriers(mark)) == (True, signal.SIGKILL, None, {})


@LAYERS
@pytest.mark.parametrize(
    ("script", "left"),
    [
        ("sleep MARK & echo on", 1),
        ("setsid sleep MARK & echo on", 1),
        ("sh -c 'trap \"\" TERM; sleep MARK; true' & echo on", 2),
        ("(sleep MARK &) ; (setsid sleep MARK &); sleep MARK & sleep 0.2; echo on", 3),
    ],
)
def test_what_outlives_the_command_is_ended_and_counted(
    world: World, mode: str, programs: Programs, script: str, left: int
) -> None:
    mark = marker()
    ended, output = run(world.wish(mode), shell(world, script.replace("MARK", mark)), programs)
    assert (summary(ended), output, carriers(mark)) == ((0, None, False, left, None), "on\n", {})


@LAYERS
def test_what_ends_within_the_grace_is_not_counted(world: World, mode: str, programs: Programs) -> None:
    ended, output = run(world.wish(mode), shell(world, "(sleep 0.2; echo late) & echo early", grace=10), programs)
    assert (summary(ended), output) == ((0, None, False, 0, None), "early\nlate\n")
    assert ended.seconds < 5


@LAYERS
def test_cancelling_ends_the_command_before_the_cancellation_goes_on(world: World, mode: str, programs: Programs) -> None:
    mark = marker()

    async def use(processes: Processes) -> dict[int, list[str]]:
        script = f"trap '' TERM; (setsid sleep {mark} &); sleep {mark}"
        running = asyncio.create_task(processes.run(shell(world, script), lambda data: None))
        assert await until(lambda: len(sleepers(mark)) == 2)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return carriers(mark)

    assert with_sandbox(world.wish(mode), use, programs) == {}


@LAYERS
def test_closing_ends_what_runs(world: World, mode: str, programs: Programs) -> None:
    mark = marker()

    async def use(processes: Processes) -> Ended:
        running = asyncio.create_task(processes.run(shell(world, f"(setsid sleep {mark} &); sleep {mark}"), lambda data: None))
        assert await until(lambda: len(sleepers(mark)) == 2)
        await processes.close()
        return await running

    ended = with_sandbox(world.wish(mode), use, programs)
    assert ended.error is not None and "closed" in ended.error
    assert carriers(mark) == {}


@LAYERS
def test_nothing_outlives_a_keeper_that_is_killed(world: World, mode: str, programs: Programs) -> None:
    mark = marker()

    async def use(processes: Processes) -> Ended:
        running = asyncio.create_task(processes.run(shell(world, f"(setsid sleep {mark} &); sleep {mark}"), lambda data: None))
        assert await until(lambda: len(sleepers(mark)) == 2)
        os.kill(keeper_of(sleepers(mark)[0]), signal.SIGKILL)
        return await running

    ended = with_sandbox(world.wish(mode), use, programs)
    assert ended.error is not None and "killed" in ended.error
    assert carriers(mark) == {}


def keeper_of(pid: int) -> int:
    """The nearest of its ancestors that is a keeper, named as the supervisor is."""
    while Path(f"/proc/{pid}/comm").read_text() != "ferrule-guard\n":
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid


@LAYERS
def test_nothing_outlives_ferrule_killed(world: World, mode: str, programs: Programs, tmp_path: Path) -> None:
    import subprocess

    mark = marker()
    code = f"""
import asyncio, os
from tests.sandbox.world import *
wish = Wish(mode={mode!r}, folders=({str(world.workspace)!r},), home={HOME!r})
async def use(processes):
    command = Command(("sh", "-c", "(setsid sleep {mark} &); sleep {mark}"), {str(world.workspace)!r}, ENVIRONMENT)
    await processes.run(command, lambda data: None)
with_sandbox(wish, use, {programs!r})
"""
    side = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2])
    try:
        deadline = time.monotonic() + 20
        while len(sleepers(mark)) < 2:
            assert side.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        side.kill()
        side.wait()
    deadline = time.monotonic() + 10
    while carriers(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert carriers(mark) == {}


@pytest.mark.parametrize("mode", ["workspace", "strict"])
def test_a_command_that_kills_all_it_sees_ends_itself_only(world: World, mode: str) -> None:
    """It kills nothing unless it is in a process namespace of its own."""
    code = """
import os, time
with open("/proc/1/comm") as name, open("/proc/self/status") as status:
    inside = os.getppid() == 1 and "NSpid" in status.read() and len([p for p in os.listdir("/proc") if p.isdigit()]) < 6
    assert inside, name.read()
os.fork() or time.sleep(30)
os.kill(-1, 9)
"""
    assert (summary(run(world.wish(mode), python(world, code))[0])) == (0, None, False, 0, None)


@pytest.mark.parametrize("mode", ["workspace", "strict"])
def test_orphans_are_reaped_while_the_command_runs(world: World, mode: str) -> None:
    script = (
        "i=0; while [ $i -lt 20 ]; do (true &); i=$((i+1)); done; sleep 0.3; grep -c ') Z ' /proc/[0-9]*/stat | grep -vc ':0$'"
    )
    ended, output = run(world.wish(mode), shell(world, script))
    assert (ended.exit_code, output.strip()) == (1, "0")
