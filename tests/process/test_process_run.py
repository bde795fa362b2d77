import asyncio
import hashlib
import os
import resource
import signal
import sys
import time
from pathlib import Path

import pytest

from ferrule.process.protocol import Command, Ended, allowed_environment
from ferrule.process.supervisor import Supervisor

from .probe import (
    ENVIRONMENT,
    bounded,
    carriers,
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
)


@pytest.mark.parametrize(
    ("script", "exit_code", "signal_number"),
    [
        ("exit 0", 0, None),
        ("exit 3", 3, None),
        ("exit 255", 255, None),
        ("kill -TERM $$", None, signal.SIGTERM),
        ("kill -9 $$", None, signal.SIGKILL),
        ("kill -SEGV $$", None, signal.SIGSEGV),
    ],
)
def test_exit_code_or_signal_is_told(script: str, exit_code: int | None, signal_number: int | None) -> None:
    ended, output = outcome(shell(script))
    assert (summary(ended), output) == ((exit_code, signal_number, False, 0, None), b"")


def test_output_of_both_streams_arrives_in_the_order_of_writing() -> None:
    ended, output = outcome(shell("echo one; echo two >&2; echo three; echo four >&2"))
    assert (ended.exit_code, output) == (0, b"one\ntwo\nthree\nfour\n")


def test_output_is_bytes_untouched() -> None:
    _, output = outcome(python("import os; os.write(1, bytes(range(256)) * 3)"))
    assert output == bytes(range(256)) * 3


def test_output_arrives_while_the_command_runs() -> None:
    async def use(supervisor: Supervisor) -> Ended:
        seen = bytearray()
        mark = marker()
        running = asyncio.create_task(supervisor.run(shell(f"echo early; sleep {mark}"), seen.extend))
        assert await until(lambda: seen == b"early\n")
        assert await until(lambda: len(sleepers(mark)) == 1)
        running.cancel()
        await asyncio.wait([running])
        return await supervisor.run(shell("true"), seen.extend)

    assert supervised(use).exit_code == 0


def test_huge_output_is_complete_and_does_not_grow_memory() -> None:
    size, digest = 0, hashlib.sha256()

    def take(data: bytes) -> None:
        nonlocal size
        size += len(data)
        digest.update(data)

    async def use(supervisor: Supervisor) -> Ended:
        await supervisor.run(shell("true"), take)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        ended = await supervisor.run(shell("head -c 200000000 /dev/zero"), take)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < 8_000
        return ended

    assert supervised(use).exit_code == 0
    assert size == 200_000_000
    assert digest.hexdigest() == hashlib.sha256(bytes(size)).hexdigest()


def test_loop_stays_free_while_output_floods_in() -> None:
    async def use(supervisor: Supervisor) -> float:
        running = asyncio.create_task(supervisor.run(shell("exec cat /dev/zero"), lambda data: None))
        worst, until_then = 0.0, time.monotonic() + 0.5
        while (now := time.monotonic()) < until_then:
            await asyncio.sleep(0.005)
            worst = max(worst, time.monotonic() - now)
        running.cancel()
        await asyncio.wait([running])
        return worst

    assert supervised(use) < 0.45


def test_environment_is_exactly_as_given() -> None:
    given = (("PATH", "/usr/bin:/bin"), ("EMPTY", ""), ("LINES", "a\nb"), ("BYTES", "\udcff\udc80"))
    ended, output = outcome(
        Command((sys.executable, "-ISc", "import os; os.write(1, repr(os.environb).encode())"), "/", given, 10)
    )
    assert ended.exit_code == 0
    seen = eval(output, {"environ": dict})
    seen.pop(b"LC_CTYPE", None)
    assert seen == {os.fsencode(name): os.fsencode(value) for name, value in given}


def test_arguments_and_folder_are_exactly_as_given(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"odd \xff\nname")
    folder.mkdir()
    arguments = ("", "two words", "\udcff", "new\nline", "-n", "x" * 100_000)
    code = "import os, sys; os.write(1, repr((os.getcwdb(), list(map(os.fsencode, sys.argv[1:])))).encode())"
    ended, output = outcome(Command((sys.executable, "-ISc", code, *arguments), str(folder), ENVIRONMENT, 10))
    assert ended.exit_code == 0
    assert eval(output) == (os.fsencode(folder), [os.fsencode(argument) for argument in arguments])


def test_large_environment_is_passed() -> None:
    given = (*ENVIRONMENT, *((f"V{n}", "x" * 10_000) for n in range(60)))
    ended, output = outcome(Command(("sh", "-c", "echo ${#V0} ${#V59}"), "/", given, 10))
    assert (ended.exit_code, output) == (0, b"10000 10000\n")


def test_executable_is_searched_in_the_path_of_the_command(tmp_path: Path) -> None:
    tool = tmp_path / "hello-tool"
    tool.write_text("#!/bin/sh\necho hello\n")
    tool.chmod(0o755)
    ended, output = outcome(Command(("hello-tool",), "/", (("PATH", f"/nowhere:{tmp_path}:/bin"),), 10))
    assert (ended.exit_code, output) == (0, b"hello\n")


@pytest.mark.parametrize(
    ("argv", "cwd", "says"),
    [
        (("no-such-tool",), "/", "no-such-tool"),
        (("/no/such/tool",), "/", "/no/such/tool"),
        (("/etc/passwd",), "/", "ermission"),
        (("/etc",), "/", "/etc"),
        (("true",), "/no/such/folder", "/no/such/folder"),
        (("true",), "/etc/passwd", "/etc/passwd"),
        (("true", "nul\0byte"), "/", "null"),
        (("true", "lone \ud800"), "/", "surrogate"),
        ((), "/", "empty"),
    ],
)
def test_what_cannot_be_started_is_an_error_that_names_it(argv: tuple[str, ...], cwd: str, says: str) -> None:
    ended, output = outcome(Command(argv, cwd, ENVIRONMENT, 10))
    assert (ended.exit_code, ended.signal, ended.left, output) == (None, None, 0, b"")
    assert ended.error is not None and says in ended.error


def test_command_starts_with_null_stdin_own_session_and_no_other_files() -> None:
    code = """
import os
folder = "/proc/self/fd/"
links = sorted((int(fd), os.readlink(folder + fd)) for fd in os.listdir(folder) if os.path.exists(folder + fd))
print([fd for fd, link in links], links[0][1], links[1][1] == links[2][1], os.getsid(0) == os.getpid())
"""
    with open("/dev/null", "rb") as inherited:
        os.set_inheritable(inherited.fileno(), True)
        ended, output = outcome(python(code))
    assert (ended.exit_code, output) == (0, b"[0, 1, 2] /dev/null True True\n")


def test_command_starts_with_default_signals_none_blocked() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    try:
        ended, output = outcome(shell("grep -E 'Sig(Blk|Ign)' /proc/self/status"))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    blocked, ignored = (int(line.split()[1], 16) for line in output.splitlines())
    # glibc's posix_spawn ignores its two internal signals, 32 and 33; the library of the program started sets them up again
    assert (ended.exit_code, blocked, ignored & ~(0b11 << 31)) == (0, 0, 0)


def test_timeout_ends_the_command_and_all_below_it() -> None:
    mark = marker()
    ended, output = outcome(shell(f"echo before; setsid sleep {mark} & sleep {mark}", timeout=0.3))
    assert (ended.timed_out, ended.exit_code, ended.signal, ended.error) == (True, None, signal.SIGTERM, None)
    assert 0.3 <= ended.seconds < 2
    assert (output, carriers(mark)) == (b"before\n", {})


def test_timeout_lets_the_command_clean_up(tmp_path: Path) -> None:
    script = f"trap 'echo cleaned; exit 5' TERM; sleep {marker()} & wait"
    ended, output = outcome(shell(script, tmp_path, timeout=0.3))
    assert (ended.timed_out, ended.exit_code, output) == (True, 5, b"cleaned\n")


def test_timeout_ends_what_ignores_signals() -> None:
    mark = marker()
    ended, _ = outcome(shell(f"trap '' TERM HUP INT; sleep {mark}; sleep {mark}", timeout=0.2))
    assert (ended.timed_out, ended.signal, carriers(mark)) == (True, signal.SIGKILL, {})
    assert ended.seconds < 3


@pytest.mark.parametrize(
    "script", ["sleep MARK & echo on", "setsid sleep MARK & echo on", "(trap '' TERM; sleep MARK) & echo on"]
)
def test_what_outlives_the_command_is_ended_and_counted(script: str) -> None:
    mark = marker()
    ended, output = outcome(shell(script.replace("MARK", mark)))
    assert (ended.exit_code, output, carriers(mark)) == (0, b"on\n", {})
    assert ended.left in (1, 2)
    assert ended.seconds < 3


def test_what_ends_within_the_grace_is_not_counted() -> None:
    ended, output = outcome(shell("(sleep 0.1; echo late) & echo early", grace=5))
    assert (summary(ended), output) == ((0, None, False, 0, None), b"early\nlate\n")
    assert ended.seconds < 3


def test_orphans_are_reaped_while_the_command_runs() -> None:
    script = "i=0; while [ $i -lt 20 ]; do (true &); i=$((i+1)); done; sleep 0.3; cat /proc/$PPID/task/$PPID/children | wc -w"
    ended, output = outcome(shell(script))
    assert (ended.exit_code, output.strip()) == (0, b"1")


def test_cancelling_ends_the_command_before_the_cancellation_goes_on() -> None:
    mark = marker()

    async def use(supervisor: Supervisor) -> dict[int, list[str]]:
        running = asyncio.create_task(supervisor.run(shell(f"trap '' TERM; sleep {mark} & sleep {mark}"), lambda data: None))
        assert await until(lambda: len(sleepers(mark)) == 2)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await bounded(running)
        return carriers(mark)

    assert supervised(use) == {}


def test_cancelling_twice_still_ends_the_command_first() -> None:
    mark = marker()

    async def use(supervisor: Supervisor) -> dict[int, list[str]]:
        running = asyncio.create_task(supervisor.run(shell(f"trap '' TERM; sleep {mark}; true"), lambda data: None))
        assert await until(lambda: len(sleepers(mark)) == 1)
        running.cancel()
        await asyncio.sleep(0.05)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await bounded(running)
        return carriers(mark)

    assert supervised(use) == {}


def test_cancelling_at_once_leaves_nothing() -> None:
    async def use(supervisor: Supervisor) -> None:
        before = open_files()
        for turns in range(12):
            mark = marker()
            running = asyncio.create_task(supervisor.run(shell(f"sleep {mark}"), lambda data: None))
            for _ in range(turns):
                await asyncio.sleep(0)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await bounded(running)
            assert carriers(mark) == {}
        assert open_files() <= before + 1
        assert (await supervisor.run(shell("exit 4"), lambda data: None)).exit_code == 4

    supervised(use)


def test_error_in_the_callback_ends_the_command_and_is_raised() -> None:
    mark = marker()

    def fail(data: bytes) -> None:
        raise LookupError(data)

    async def use(supervisor: Supervisor) -> None:
        with pytest.raises(LookupError, match="word"):
            await bounded(supervisor.run(shell(f"echo word; sleep {mark}"), fail))
        assert carriers(mark) == {}

    supervised(use)


def test_commands_run_beside_each_other() -> None:
    async def use(supervisor: Supervisor) -> tuple[list[int | None], list[bytes], float]:
        outputs = [bytearray() for _ in range(8)]
        started = time.monotonic()
        ends = await asyncio.gather(
            *(supervisor.run(shell(f"echo {n}; sleep 0.5; exit {n}"), outputs[n].extend) for n in range(8))
        )
        return [ended.exit_code for ended in ends], [bytes(output) for output in outputs], time.monotonic() - started

    codes, outputs, seconds = supervised(use)
    assert (codes, outputs) == (list(range(8)), [b"%d\n" % n for n in range(8)])
    assert seconds < 3


def test_no_file_and_no_zombie_is_left_after_many_commands() -> None:
    async def use(supervisor: Supervisor) -> None:
        await supervisor.run(shell("true"), lambda data: None)
        before, pid = open_files(), supervisor.pid
        theirs = len(os.listdir(f"/proc/{pid}/fd"))
        for _ in range(50):
            await supervisor.run(shell("(true &) ; echo x"), lambda data: None)
        assert open_files() == before
        assert supervisor.pid == pid
        assert await until(lambda: Path(f"/proc/{pid}/task/{pid}/children").read_text() == "")
        assert len(os.listdir(f"/proc/{pid}/fd")) == theirs

    supervised(use)


def test_nothing_is_started_before_the_first_command() -> None:
    before = open_files()
    supervisor = Supervisor()
    assert (supervisor.pid, open_files()) == (None, before)
    asyncio.run(supervisor.close())
    assert open_files() == before


def test_close_ends_everything_and_may_be_called_again() -> None:
    mark = marker()
    before = open_files()

    async def main() -> Ended:
        supervisor = Supervisor()
        running = asyncio.create_task(supervisor.run(shell(f"setsid sleep {mark} & sleep {mark}"), lambda data: None))
        assert await until(lambda: len(sleepers(mark)) == 2)
        pid = supervisor.pid
        await bounded(supervisor.close())
        assert pid is not None and gone(pid)
        assert carriers(mark) == {}
        await supervisor.close()
        with pytest.raises(RuntimeError, match="closed"):
            await supervisor.run(shell("true"), lambda data: None)
        return await running

    ended = asyncio.run(main())
    assert ended.error is not None and "closed" in ended.error
    assert open_files() == before


def test_a_command_costs_less_than_an_interpreter() -> None:
    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        return sum(part.ru_utime + part.ru_stime for part in usage)

    async def many(supervisor: Supervisor) -> None:
        for _ in range(60):
            await supervisor.run(Command(("true",), "/", ENVIRONMENT), lambda data: None)

    async def interpreters(supervisor: Supervisor) -> None:
        for _ in range(60):
            await supervisor.run(Command((sys.executable, "-c", "pass"), "/", ENVIRONMENT), lambda data: None)

    started = spent()
    supervised(many)
    between = spent()
    supervised(interpreters)
    interpreter = (spent() - between) - (between - started)
    assert between - started < interpreter


def test_allowed_environment_keeps_keys_out() -> None:
    source = {"PATH": "/bin", "LC_ALL": "C", "OPENAI_API_KEY": "sk-1", "TERM": "xterm", "MINE": "1", "GITHUB_TOKEN": "t"}
    assert dict(allowed_environment(source, ["MINE"])) == {
        "PATH": "/bin",
        "LC_ALL": "C",
        "MINE": "1",
        "TERM": "dumb",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
    }
