import os
import pty
import random
import shutil
import signal
import sys
import time

import pytest

from .probe import carriers, children_of, command_line, ended, ferrule_side, marker, sleepers, wait_until

DAEMON = """
import os, sys
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.closerange(0, 64)
os.execvp("sleep", ["sleep", sys.argv[1]])
"""

SCRIPTS = {
    "foreground": "sleep MARK; true",
    "background": "sleep MARK & wait",
    "pipeline": "sleep MARK | cat",
    "own session": "setsid sleep MARK & wait",
    "daemon": f"{sys.executable} -I -S -c '{DAEMON}' MARK; sleep MARK",
    "ignores signals": "trap '' TERM HUP INT; sleep MARK; true",
    "empty environment": "env -i setsid sleep MARK & sleep MARK",
    "nohup": "nohup setsid nohup sleep MARK >/dev/null 2>&1 & wait",
}


def survivors(mark: str, side: int) -> list[int]:
    return [pid for pid in carriers(mark) if pid != side]


@pytest.mark.parametrize("case", SCRIPTS)
def test_no_process_outlives_ferrule_when_it_is_killed(case: str) -> None:
    mark = marker()
    script = SCRIPTS[case].replace("MARK", mark)
    with ferrule_side("leave", script) as side:
        assert wait_until(lambda: len(sleepers(mark)) == script.count(f"sleep {mark}") + (case == "daemon"))
        (supervisor,) = children_of(side.pid)
        below = [supervisor, *children_of(supervisor)]
        assert len(below) == 2
        side.kill()
        side.wait()
        assert wait_until(lambda: survivors(mark, side.pid) == []), carriers(mark)
        assert wait_until(lambda: all(ended(pid) for pid in below))


def test_no_process_outlives_ferrule_when_its_whole_process_group_is_killed() -> None:
    mark = marker()
    with ferrule_side("leave", f"sleep {mark} & wait") as side:
        assert wait_until(lambda: len(sleepers(mark)) == 1)
        os.killpg(side.pid, signal.SIGKILL)
        side.wait()
        assert wait_until(lambda: survivors(mark, side.pid) == []), carriers(mark)


@pytest.mark.parametrize("ending", ["close", "leave"])
def test_supervisor_ends_when_ferrule_exits_normally(ending: str) -> None:
    with ferrule_side(ending, "exit 7") as side:
        assert side.stdout is not None
        pid, exit_code, _ = side.stdout.readline().split()
        assert exit_code == b"7"
        assert side.wait(timeout=5) == 0
        assert wait_until(lambda: ended(int(pid)))


def test_command_has_no_terminal_though_ferrule_has_one() -> None:
    ours, theirs = pty.openpty()
    try:
        with ferrule_side("close", "exec 3<>/dev/tty", os.ttyname(theirs)) as side:
            assert side.stdout is not None
            answer = side.stdout.read().split()
            assert side.wait(timeout=5) == 0
        assert answer[1:] == [b"2", b"0"]
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("setpriv"), reason="needs root, to become somebody else")
def test_process_of_another_user_that_cannot_be_ended_is_told() -> None:
    mark = marker()
    without_rights = ("setpriv", "--bounding-set=-kill", "--inh-caps=-kill")
    with ferrule_side("close", f"setpriv --reuid 65534 --clear-groups sleep {mark} &", before=without_rights) as side:
        assert side.stdout is not None
        answer = side.stdout.readline().decode().split(maxsplit=3)
        (stubborn,) = sleepers(mark)
        os.kill(stubborn, signal.SIGKILL)
        assert answer[1:] == ["0", "1", "1 of the command's processes could not be ended\n"]
        assert side.wait(timeout=5) == 0


def test_supervisor_keeps_neither_terminal_nor_folder_nor_files_of_ferrule(tmp_path: object) -> None:
    mark = marker()
    with ferrule_side("leave", f"sleep {mark}") as side:
        assert wait_until(lambda: len(sleepers(mark)) == 1)
        (supervisor,) = children_of(side.pid)
        assert [os.readlink(f"/proc/{supervisor}/fd/{fd}") for fd in (0, 1, 2)] == ["/dev/null"] * 3
        assert os.readlink(f"/proc/{supervisor}/cwd") == "/"
        assert os.getsid(supervisor) == supervisor
        assert command_line(supervisor) != []
        side.kill()


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("case", ["background", "daemon", "ignores signals"])
def test_no_process_outlives_ferrule_killed_at_any_moment(case: str) -> None:
    rng = random.Random(case)
    marks = [marker() for _ in range(25)]
    for number, mark in enumerate(marks):
        with ferrule_side("leave", SCRIPTS[case].replace("MARK", mark)) as side:
            if number % 2:
                assert wait_until(lambda mark=mark, pid=side.pid: survivors(mark, pid) != [])  # type: ignore[misc]
                time.sleep(rng.uniform(0, 0.03))
            else:
                time.sleep(rng.uniform(0.05, 0.4))
            side.kill()
            side.wait()
    # a command that was just being started appears after the kill, and goes again
    time.sleep(1)
    assert wait_until(lambda: not any(carriers(mark) for mark in marks), 1)
