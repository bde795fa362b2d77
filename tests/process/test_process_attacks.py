import asyncio
import os
import resource
import signal

import pytest

from ferrule.process.protocol import Ended
from ferrule.process.supervisor import Supervisor

from .probe import (
    bounded,
    carriers,
    children_of,
    ended,
    ferrule_side,
    gone,
    marker,
    open_files,
    outcome,
    python,
    shell,
    sleepers,
    summary,
    supervised,
    until,
    wait_until,
)


def test_command_that_kills_its_parent_is_ended_and_told() -> None:
    mark = marker()

    async def use(supervisor: Supervisor) -> Ended:
        script = f"setsid sleep {mark} & kill -9 $PPID; sleep {mark}"
        killed = await bounded(supervisor.run(shell(script), lambda data: None))
        assert carriers(mark) == {}
        pid = supervisor.pid
        assert (await supervisor.run(shell("exit 6"), lambda data: None)).exit_code == 6
        assert supervisor.pid == pid
        return killed

    killed = supervised(use)
    assert (killed.exit_code, killed.signal) == (None, None)
    assert killed.error is not None and "watched" in killed.error
    assert killed.left >= 2


def test_other_commands_go_on_when_one_kills_its_parent() -> None:
    async def use(supervisor: Supervisor) -> tuple[Ended, Ended]:
        output = bytearray()
        other = asyncio.create_task(supervisor.run(shell("echo up; sleep 0.8; exit 9"), output.extend))
        assert await until(lambda: output == b"up\n")
        killed = await bounded(supervisor.run(shell(f"kill -9 $PPID; sleep {marker()}"), lambda data: None))
        return killed, await other

    killed, other = supervised(use)
    assert killed.error is not None
    assert (other.exit_code, other.error) == (9, None)


def test_killed_supervisor_ends_descendants_and_the_next_command_starts_another() -> None:
    mark = marker()

    async def use(supervisor: Supervisor) -> Ended:
        script = f"trap '' TERM; setsid sleep {mark} & sleep {mark}"
        running = asyncio.create_task(supervisor.run(shell(script), lambda data: None))
        assert await until(lambda: len(sleepers(mark)) == 2)
        first = supervisor.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        told = await bounded(running)
        assert carriers(mark) == {}
        assert (await supervisor.run(shell("exit 8"), lambda data: None)).exit_code == 8
        assert supervisor.pid != first
        assert await until(lambda: gone(first))
        return told

    told = supervised(use)
    assert (told.exit_code, told.signal) == (None, None)
    assert told.error is not None and "supervisor" in told.error


def test_supervisor_killed_between_commands_is_replaced() -> None:
    async def use(supervisor: Supervisor) -> list[int | None]:
        codes = []
        for code in (1, 2, 3):
            codes.append((await bounded(supervisor.run(shell(f"exit {code}"), lambda data: None))).exit_code)
            assert supervisor.pid is not None
            os.kill(supervisor.pid, signal.SIGKILL)
            pid = supervisor.pid
            # without a turn of the loop, so that the next command meets a supervisor that is not known to be dead
            assert wait_until(lambda pid=pid: ended(pid))  # type: ignore[misc]
        return codes

    assert supervised(use) == [1, 2, 3]


def test_command_that_kills_its_supervisor_is_ended_and_told() -> None:
    mark = marker()
    script = f"setsid sleep {mark} & kill -9 $(cut -d' ' -f4 /proc/$PPID/stat); sleep {mark}"
    told, _ = outcome(shell(script))
    assert told.error is not None and "supervisor" in told.error
    assert carriers(mark) == {}


@pytest.mark.parametrize("target", ["$PPID", "$(cut -d' ' -f4 /proc/$PPID/stat)"])
def test_signals_that_can_be_ignored_do_not_end_the_watchers(target: str) -> None:
    told, output = outcome(
        shell(f"for s in TERM INT HUP QUIT USR1 USR2 PIPE ALRM TSTP; do kill -$s {target}; done; echo on; exit 3")
    )
    assert (told.exit_code, told.left, told.error, output) == (3, 0, None, b"on\n")


@pytest.mark.parametrize("target", ["$PPID", "$(cut -d' ' -f4 /proc/$PPID/stat)"])
def test_command_that_stops_its_watchers_cannot_outrun_its_timeout(target: str) -> None:
    mark = marker()

    async def use(supervisor: Supervisor) -> Ended:
        told = await bounded(supervisor.run(shell(f"kill -STOP {target}; sleep {mark}", timeout=0.2), lambda data: None), 20)
        assert await until(lambda: carriers(mark) == {})
        assert (await bounded(supervisor.run(shell("exit 8"), lambda data: None), 20)).exit_code == 8
        return told

    told = supervised(use)
    assert told.timed_out or told.error is not None
    assert told.seconds < 15


def test_command_that_stops_the_supervisor_and_kills_its_keeper_is_told() -> None:
    mark = marker()
    script = f"kill -STOP $(cut -d' ' -f4 /proc/$PPID/stat); setsid sleep {mark} & kill -9 $PPID; sleep {mark}"
    told, _ = outcome(shell(script, timeout=None))
    assert told.error is not None and "watched" in told.error
    assert carriers(mark) == {}


def test_command_that_keeps_stopping_its_keeper_is_ended_when_cancelled() -> None:
    mark = marker()

    async def use(supervisor: Supervisor) -> None:
        script = f"while :; do kill -STOP $PPID; done & sleep {mark}"
        running = asyncio.create_task(supervisor.run(shell(script, timeout=None), lambda data: None))
        assert await until(lambda: len(sleepers(mark)) == 1)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await bounded(running, 20)
        assert carriers(mark) == {}

    supervised(use)


def test_copy_of_ferrule_that_holds_its_sockets_does_not_keep_processes_alive() -> None:
    mark = marker()
    with ferrule_side("fork", f"sleep {mark} & wait") as side:
        assert side.stdout is not None
        copy = int(side.stdout.readline())
        try:
            assert wait_until(lambda: len(sleepers(mark)) == 1)
            side.kill()
            side.wait()
            assert wait_until(lambda: sleepers(mark) == [])
            assert not ended(copy)
        finally:
            os.kill(copy, signal.SIGKILL)


@pytest.mark.parametrize("free", [0, 1, 2, 3])
def test_files_running_short_are_an_error_and_nothing_more(free: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    async def use(supervisor: Supervisor) -> tuple[Ended, Ended]:
        await supervisor.run(shell("true"), lambda data: None)
        before = open_files()
        limit = [number for number in range(200) if not os.path.lexists(f"/proc/self/fd/{number}")][free]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        try:
            short = await bounded(supervisor.run(shell("true"), lambda data: None))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert open_files() == before
        return short, await supervisor.run(shell("exit 5"), lambda data: None)

    short, after = supervised(use)
    assert short.error is not None and "open files" in short.error
    assert summary(after) == (5, None, False, 0, None)


@pytest.mark.parametrize("order", ["$PPID $supervisor", "$supervisor $PPID"])
def test_it_is_never_said_that_a_command_was_ended_when_it_lives(order: str) -> None:
    mark = marker()
    script = f"supervisor=$(cut -d' ' -f4 /proc/$PPID/stat); kill -9 {order}; exec sleep {mark}"
    told, _ = outcome(shell(script, timeout=None))
    # nothing is left that could end the command, unless one of the two was quicker
    left = carriers(mark)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert told.error is not None
    assert ("could not be made sure" in told.error) or left == {}


STORM = """
import os, sys, time
mark = sys.argv[1]
def chain(deadline):
    # each link is a session of its own, forks the next one and exits
    while time.monotonic() < deadline:
        if os.fork():
            os._exit(0)
        os.setsid()
for _ in range(4):
    if not os.fork():
        chain(time.monotonic() + 20)
        os._exit(0)
os.execvp("sleep", ["sleep", sys.argv[2]])
"""


def test_storm_of_short_lived_children_is_ended_at_the_timeout() -> None:
    mark = marker()
    script = f"while :; do setsid sh -c 'sleep 0.01; : {mark}' & sleep 0.002; done"
    told, _ = outcome(shell(script, timeout=0.5))
    assert (told.timed_out, told.error, carriers(mark)) == (True, None, {})
    assert told.seconds < 6


def test_storm_that_runs_away_from_its_parents_is_ended() -> None:
    mark = marker()
    told, _ = outcome(python(STORM, mark, "0.3"))
    assert (told.exit_code, told.error, carriers(mark)) == (0, None, {})
    assert told.left >= 1
    assert told.seconds < 8


def test_supervisor_has_no_child_left_after_a_storm() -> None:
    async def use(supervisor: Supervisor) -> None:
        await supervisor.run(python(STORM, marker(), "0.1"), lambda data: None)
        pid = supervisor.pid
        assert pid is not None
        assert await until(lambda: children_of(pid) == [])

    supervised(use)
