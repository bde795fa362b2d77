import asyncio
import re
from pathlib import Path

import pytest

from ferrule.tools.command.jobs import Jobs, Running
from ferrule.types.records import Process, ProcessEnd

from .desk import Desk, session, text, until


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "work"
    folder.mkdir()
    return folder


def test_a_background_command_is_started_read_listed_and_stopped(root: Path) -> None:
    async def work(desk: Desk) -> None:
        started = await desk.run("echo $$; echo up; while :; do sleep 0.05; done", background=True)
        head, pid = started.split("\n")[:2][0], int(started.split("\n")[2])
        assert head == ("It runs in the background as cmd_1. read_command_output shows what it prints, stop_command ends it.")
        assert started.split("\n")[1] == "Output so far:"
        assert alive(pid)
        listed = await desk.read()
        assert re.fullmatch(r"cmd_1 \(`echo .*`\) runs, \d+\.\d s so far", listed)
        stopped = await desk.stop("cmd_1")
        assert re.fullmatch(r"cmd_1 \(`echo .*`\) was stopped after \d\.\d s\.\nNothing new; \d+ bytes in all\.", stopped)
        assert not alive(pid)
        assert desk.jobs.background == ()
        again = await desk.stop("cmd_1")
        assert re.fullmatch(r"cmd_1 \(`echo .*`\) was stopped after \d\.\d s\. There was nothing to stop\.", again)

    session(root, work)


def test_a_background_command_that_ends_at_once_needs_no_handle(root: Path) -> None:
    async def work(desk: Desk) -> None:
        assert await desk.run("echo no such port; exit 3", background=True) == "Exit code 3.\nOutput:\nno such port\n"
        assert desk.jobs.known == {}

    session(root, work)


def test_a_command_that_takes_longer_than_was_waited_for_goes_on_and_its_end_is_recorded(root: Path) -> None:
    async def work(desk: Desk) -> None:
        moved = await desk.run("echo begun; while [ ! -e go ]; do sleep 0.02; done; echo ended; exit 7", timeout=1)
        assert moved == (
            "It still runs after 1 s and goes on in the background as cmd_1. "
            "read_command_output shows what it prints, stop_command ends it.\nOutput so far:\nbegun\n"
        )
        assert desk.jobs.known["cmd_1"] == Process("cmd_1", "call_1", desk.jobs.background[0].line)
        (root / "go").touch()
        read = await desk.read("cmd_1", wait=10)
        assert re.fullmatch(r"cmd_1 \(`.*`\) has ended: exit code 7 after 1\.\d s\.\nBytes 6 to 12 of 12:\nended\n", read), read
        process = desk.jobs.known["cmd_1"]
        assert process.ended is not None
        assert process.ended.output is not None
        assert process.ended == ProcessEnd(7, None, process.ended.seconds, output=process.ended.output, told=True)
        assert (await desk.read("call_1", offset=0)).endswith("\nBytes 0 to 12 of 12:\nbegun\nended\n")

    session(root, work)


def test_an_end_that_nobody_waits_for_is_news(root: Path) -> None:
    async def work(desk: Desk) -> None:
        await desk.run("while [ ! -e go ]; do sleep 0.02; done; kill -9 $$", background=True)
        (root / "go").touch()
        await until(lambda: desk.jobs.known["cmd_1"].ended)
        ended = desk.jobs.known["cmd_1"].ended
        assert ended is not None
        assert (ended.signal, ended.exit_code, ended.told, ended.output) == (9, None, False, None)
        assert re.fullmatch(
            r"cmd_1 \(`.*`\) has ended: ended by SIGKILL after \d\.\d s\.\nThere is no output\.", await desk.read("cmd_1")
        )

    session(root, work)


def test_only_what_is_new_is_shown_also_of_a_line_that_changes(root: Path) -> None:
    async def work(desk: Desk) -> None:
        loop = (
            "for n in 1 2 3; do while [ ! -e $n ]; do sleep 0.02; done; printf '\\r%d0%%' $n; [ $n = 2 ] && echo; done; sleep 60"
        )
        await desk.run(f"echo first; {loop}", background=True)
        (root / "1").touch()
        await until(lambda: "".join(desk.heard).endswith("10%"))
        assert (await desk.read("cmd_1")).endswith("\nBytes 6 to 9 of 9:\n10%")
        assert (await desk.read("cmd_1")).endswith("\nNothing new; 9 bytes in all.")
        (root / "2").touch()
        await until(lambda: "".join(desk.heard).endswith("20%\n"))
        changed = await desk.read("cmd_1")
        assert changed.endswith("\nBytes 0 to 10 of 10:\nfirst\n20%\n"), changed
        (root / "3").touch()
        await until(lambda: "".join(desk.heard).endswith("30%"))
        assert (await desk.read("cmd_1")).endswith("\nBytes 10 to 13 of 13:\n30%")

    session(root, work)


@pytest.mark.parametrize("limit", [1, 7, 1000, 65536])
def test_pages_of_any_size_give_back_the_exact_text(root: Path, limit: int) -> None:
    lines = 30 if limit < 100 else 4000

    async def work(desk: Desk) -> None:
        await desk.run(f"for n in $(seq {lines}); do echo $n-ü-😀; done; sleep 60", background=True)
        whole = "".join(f"{n}-ü-😀\n" for n in range(1, lines + 1))
        await until(lambda: sum(map(len, desk.heard)) == len(whole))
        got, offset = "", 0
        while True:
            page = await desk.read("cmd_1", offset=offset, limit=limit)
            found = re.fullmatch(
                r"[^\n]*\nBytes ([\d,]+) to ([\d,]+) of [\d,]+:\n(.*?)(?:\n\[([\d,]+) bytes follow: offset=(\d+)\])?", page, re.S
            )
            assert found, page
            got += found[3]
            if not found[5]:
                break
            assert int(found[2].replace(",", "")) == int(found[5]) > offset
            offset = int(found[5])
        assert got == whole
        tail = await desk.read("cmd_1", offset=-10)
        assert tail.endswith(whole.encode()[-10:].decode(errors="ignore"))

    session(root, work)


@pytest.mark.parametrize("over", [False, True], ids=["runs", "is over"])
def test_output_is_searched(root: Path, over: bool) -> None:
    async def work(desk: Desk) -> None:
        await desk.run(f"seq 1 20000; echo Error: here; {'true' if over else 'sleep 60'}", background=not over)
        await until(lambda: "".join(desk.heard[-2:]).endswith("here\n"))
        found = await desk.read("cmd_1", search="^error.*e$|^77$")
        assert found.split("\n")[1:] == ["2 matching lines, each as line:offset:text", "77:219:77", "20001:108894:Error: here"]
        assert (await desk.read("cmd_1", offset=108_894, limit=5)).splitlines()[2] == "Error"
        many = await desk.read("cmd_1", search="1")
        assert many.split("\n")[1] == "More than 100 lines match; the first 100, each as line:offset:text"
        assert len(many.split("\n")) == 102
        assert (await desk.read("cmd_1", search="nowhere")).endswith("No line of 108,906 bytes matches.")
        assert "The search failed: " in await desk.read("cmd_1", search="(")

    session(root, work)


def test_a_question_is_noticed_long_before_the_time_is_up(root: Path) -> None:
    async def work(desk: Desk) -> None:
        asked = await desk.run("printf 'Overwrite? [y/N] '; sleep 60")
        assert asked == (
            "It has printed nothing for 3 s and seems to wait for input (`Overwrite? [y/N]`): there is no terminal and no input "
            "here. Use flags or a file that answer it. It goes on in the background as cmd_1; stop it. "
            "read_command_output shows what it prints, stop_command ends it.\nOutput so far:\nOverwrite? [y/N] "
        )
        assert "so far. It seems to have asked for input (`Overwrite? [y/N]`)" in await desk.read("cmd_1", wait=1)

    session(root, work)


def test_a_question_that_nobody_answered_is_told_with_the_failure(root: Path) -> None:
    async def work(desk: Desk) -> None:
        assert await desk.run("read -p ignored x; printf 'Password: '; exit 1") == (
            "Exit code 1.\nIt seems to have asked for input (`Password:`): there is no terminal and no input here. "
            "Use flags or a file that answer it.\nOutput:\nPassword: "
        )

    session(root, work)


def test_the_person_lets_a_command_go_on_and_says_something(root: Path) -> None:
    async def work(desk: Desk) -> None:
        call = asyncio.ensure_future(desk.call("execute_command", command="echo up; sleep 60"))
        await until(lambda: desk.heard == ["up\n"])
        (running,) = desk.jobs.running
        assert running == Running("", "call_1", "echo up; sleep 60", running.seconds)
        assert not desk.jobs.let_go("call_2", "")
        assert desk.jobs.let_go("call_1", "Look at the log instead.")
        assert text(await call) == (
            "The person lets it go on in the background as cmd_1 and says: Look at the log instead.\n"
            "read_command_output shows what it prints, stop_command ends it.\nOutput so far:\nup\n"
        )
        assert not desk.jobs.let_go("call_1", "")

    session(root, work)


def test_the_persons_time_out_ends_what_went_to_the_background_and_not_what_was_started_for_it(root: Path) -> None:
    async def work(desk: Desk) -> None:
        await desk.run("echo server; sleep 60", background=True)
        await desk.run("echo long; sleep 60", timeout=1)
        ended = await desk.read("cmd_2", wait=10)
        assert re.match(r"cmd_2 \(`echo long; sleep 60`\) was ended after 1\.\d s, the person's limit for commands ", ended), (
            ended
        )
        assert [job.name for job in desk.jobs.background] == ["cmd_1"]

    session(root, work, Jobs(limit=1.5))


def test_closing_ends_everything_and_keeps_what_was_printed(root: Path) -> None:
    jobs = Jobs()
    pids: list[int] = []

    async def work(desk: Desk) -> None:
        await desk.run("(setsid sleep 60 & echo $! >pid; wait) & echo up; wait", background=True)
        await until(lambda: (root / "pid").exists() and (root / "pid").read_text().strip())
        pids.append(int((root / "pid").read_text()))

    session(root, work, jobs)
    ended = jobs.known["cmd_1"].ended
    assert ended is not None
    assert (ended.error, ended.told, ended.output is not None) == ("the session was closed", False, True)
    assert not alive(pids[0])


def test_a_secret_is_in_no_page_however_it_is_cut(root: Path) -> None:
    secret = "correct-horse-battery"

    async def work(desk: Desk) -> None:
        await desk.run(f"echo {'x' * 40}; echo {secret}; printf {secret}; sleep 60", background=True)
        await until(lambda: "".join(desk.heard).count(secret) == 2)
        got, offset, size = "", 0, 41 + 2 * len("[secret KEY]") + 1
        while offset < size:
            page = await desk.read("cmd_1", offset=offset, limit=5)
            got += page.partition(":\n")[2][:5]
            offset += 5
        assert got == "x" * 40 + "\n[secret KEY]\n[secret KEY]"

    session(root, work, secrets=[("KEY", secret)])


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        ({"id": "cmd_9"}, "There is no command 'cmd_9'. No command has a handle yet."),
        ({"id": "cmd_1", "limit": 0}, "`limit` must be between 1 and 65536 bytes, got 0."),
        ({"id": "cmd_1", "wait": 601}, "`wait` must be between 0 and 600 seconds, got 601."),
        ({"id": "cmd_1", "search": ""}, "`search` must be a regular expression, not empty and without a NUL character."),
        ({}, "No command has a handle yet."),
    ],
)
def test_what_cannot_be_read_is_said(root: Path, arguments: dict[str, object], refusal: str) -> None:
    async def work(desk: Desk) -> None:
        assert text(await desk.call("read_command_output", **arguments)) == refusal

    session(root, work)


def test_a_cancelled_call_ends_its_command_and_no_other(root: Path) -> None:
    async def work(desk: Desk) -> None:
        await desk.run("echo $$ >first; exec sleep 60", background=True)
        call = asyncio.ensure_future(desk.call("execute_command", command="echo $$ >second; exec sleep 60"))
        await until(lambda: (root / "second").exists() and (root / "second").read_text())
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        first, second = (int((root / name).read_text()) for name in ("first", "second"))
        assert (alive(first), alive(second)) == (True, False)
        assert [each.handle for each in desk.jobs.running] == ["cmd_1"]

    session(root, work)
