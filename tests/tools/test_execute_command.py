import asyncio
import os
import re
import time
import tracemalloc
from pathlib import Path

import pytest

from ferrule.process.protocol import Command, Ended
from ferrule.store.blobs import FileBlobs
from ferrule.tools.base import ToolContext
from ferrule.tools.command.decoding import Decoder
from ferrule.tools.command.execute_command import ExecuteCommand, execute_command
from ferrule.tools.command.jobs import Jobs
from ferrule.tools.command.output import Output
from ferrule.types.tools import Action, ToolOutput

from .bench import Bench, said


class Heard(list[str]):
    """Sets `enough` when so many characters were heard."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.missing = size
        self.enough = asyncio.Event()

    def append(self, item: str) -> None:
        super().append(item)
        self.missing -= len(item)
        if self.missing <= 0:
            self.enough.set()


class Deaf(list[str]):
    def append(self, item: str) -> None:
        """Forget it, so that only the tool's own memory is measured."""


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("true", "Exit code 0.\nThere was no output."),
        ("echo hello", "Exit code 0.\nOutput:\nhello\n"),
        ("echo out; echo err >&2; exit 3", "Exit code 3.\nOutput:\nout\nerr\n"),
        ("printf no-feed", "Exit code 0.\nOutput:\nno-feed"),
        ("kill -9 $$", "Ended by SIGKILL.\nThere was no output."),
        ("(kill -TERM $BASHPID); exit 143", "Exit code 143 (as for SIGTERM).\nOutput:\n"),
        ("exit 255", "Exit code 255.\nThere was no output."),
        ("[[ a == a ]] && echo bash", "Exit code 0.\nOutput:\nbash\n"),
        ("shopt -q login_shell || echo no login", "Exit code 0.\nOutput:\nno login\n"),
        ("cat", "Exit code 0.\nThere was no output."),
        ("tty", "Exit code 1.\nOutput:\nnot a tty\n"),
        ("echo 'a b' \"$1\" '&amp;' $((1+1))", "Exit code 0.\nOutput:\na b  &amp; 2\n"),
        ("no-such-command-here", "Exit code 127.\nOutput:\n"),
    ],
)
def test_output_and_the_way_it_ended_are_told(bench: Bench, command: str, text: str) -> None:
    output = bench.call("execute_command", command=command)
    assert output.kind == "ok"
    assert said(output).startswith(text)
    assert said(output) == text or text.endswith("Output:\n")


def test_it_runs_in_the_workspace_or_the_folder_that_was_named(bench: Bench) -> None:
    (bench.root / "sub").mkdir()
    assert bench.text("execute_command", command="pwd; echo $PWD").endswith(f"{bench.root}\n{bench.root}\n")
    assert bench.text("execute_command", command="pwd; echo $PWD", cwd="sub").endswith(f"{bench.root}/sub\n{bench.root}/sub\n")


def test_it_gets_the_environment_of_the_context_and_nothing_else(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    bench.environment["GIVEN"] = "yes"
    text = bench.text("execute_command", command="env")
    assert "GIVEN=yes\n" in text
    assert "GIT_TERMINAL_PROMPT=0\n" in text
    assert "OPENAI_API_KEY" not in text


def test_a_command_that_takes_long_tells_its_duration(bench: Bench) -> None:
    assert re.fullmatch(
        r"Exit code 0 after 1\.[1-9] s\.\nThere was no output\.", bench.text("execute_command", command="sleep 1.15")
    )


def test_the_persons_time_out_is_an_error_with_the_output_until_then(bench: Bench) -> None:
    bench.tools["execute_command"] = execute_command(Jobs(limit=1.0))
    output = bench.call("execute_command", command="echo begun; sleep 60")
    assert output.kind == "error"
    assert said(output) == "It was ended after 1 s, the person's limit for commands (timeouts.command).\nOutput:\nbegun\n"


def test_processes_that_are_left_behind_are_ended_and_make_an_error(bench: Bench) -> None:
    output = bench.call("execute_command", command="sleep 60 & echo $!")
    assert output.kind == "error"
    text = said(output)
    assert text.startswith(
        "Exit code 0.\nIt left 1 process running in the background, which had to be ended. To let a command run on, start it"
    )
    pid = int(text.rsplit("Output:\n", 1)[1])
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_cancelling_ends_the_command_and_drops_a_blob_that_was_begun(bench: Bench, tmp_path: Path) -> None:
    async def cancelled() -> None:
        bench.heard = heard = Heard(200_000)
        call = asyncio.ensure_future(bench._call("execute_command", {"command": "yes"}))
        await asyncio.wait_for(heard.enough.wait(), 10)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(cancelled())
    assert list((tmp_path / "blobs").iterdir()) == []


def test_of_long_output_head_and_tail_are_kept_and_the_whole_is_a_blob(bench: Bench) -> None:
    text = bench.text("execute_command", command="seq 1 100000")
    whole = "".join(f"{n}\n" for n in range(1, 100_001))
    note = r"\[… ([\d,]+) of 588,895 characters left out; read_command_output with id cmd_1 shows all …\]\n"
    match = re.fullmatch(rf"Exit code 0[^\n]*\.\nOutput:\n(.*\n){note}(.*)", text, re.S)
    assert match
    head, left, tail = match.groups()
    (digest,) = bench.blobs.all()
    assert whole.startswith(head)
    assert whole.endswith("\n" + tail)
    assert 8_000 < len(head) <= 8_192
    assert 8_000 < len(tail) <= 8_192
    assert int(left.replace(",", "")) == len(whole) - len(head) - len(tail)
    assert bench.blobs.read(digest).decode() == whole


def test_output_that_fits_is_whole_and_makes_no_blob(bench: Bench) -> None:
    assert bench.text("execute_command", command="seq 1 3000").endswith("\n2999\n3000\n")
    assert list(bench.blobs.all()) == []


def test_output_that_cannot_be_stored_costs_its_middle_but_not_the_command(bench: Bench) -> None:
    bench.blobs = FileBlobs(Path("/proc/no/such/folder"))
    text = bench.text("execute_command", command="seq 1 100000; touch done")
    assert text.endswith("\n99999\n100000\n")
    assert "of 588,895 characters left out; they could not be stored: " in text
    assert (bench.root / "done").exists()


@pytest.mark.parametrize(
    "printed", ["x" * 60_000 + "\r", "x" * 60_000 + "\b" * 60_000, "\x1b]" * 30_000, "\x1b[" + "1;" * 60_000]
)
def test_hostile_output_is_cleaned_in_linear_time(printed: str) -> None:
    started = time.process_time()
    decoder, output = Decoder(), Output(FileBlobs(Path("/unused")))
    output.feed(decoder.feed(printed.encode()))
    output.feed(decoder.feed(b"", final=True))
    output.finish()
    assert time.process_time() - started < 2


def test_memory_stays_bounded_while_much_is_printed(bench: Bench) -> None:
    bench.heard = Deaf()
    tracemalloc.start()
    try:
        text = bench.text("execute_command", command="head -c 30000000 /dev/zero | tr '\\0' x; yes | head -c 20000000")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "of 50,000,000 characters left out" in text
    assert peak < 4_000_000


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (r"10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        (r"10%\r50%\r", "50%"),
        (r"a\r\nb\r\n", "a\nb\n"),
        (r"\033[31mred\033[0m \033]0;title\007x\033]8;;http://a\033\\link\033]8;;\033\\ \033(B\n", "red xlink \n"),
        (r"x\033[", "x"),
        (r"abc\b\bX\n", "aXc\n"),
        (r"bell\a nul\0 end\n", "bell nul end\n"),
        (r"tab\tform\ffeed\n", "tab\tform\x0cfeed\n"),
    ],
)
def test_what_a_terminal_would_hide_is_hidden(bench: Bench, printed: str, shown: str) -> None:
    assert bench.text("execute_command", command=f"printf %b '{printed}'") == f"Exit code 0.\nOutput:\n{shown}"


def test_a_progress_bar_without_end_is_one_line(bench: Bench) -> None:
    text = bench.text("execute_command", command="for i in $(seq 1 20000); do printf '%d of 20000\\r' $i; done; echo; echo done")
    assert text.split("Output:\n")[1] == "20000 of 20000\ndone\n"
    assert list(bench.blobs.all()) == []


def test_bytes_that_are_not_utf_8_are_noted(bench: Bench) -> None:
    assert bench.text("execute_command", command=r"printf 'caf\xe9 \xff\n'") == (
        "Exit code 0.\n2 bytes are not UTF-8 and are shown as \N{REPLACEMENT CHARACTER}.\n"
        "Output:\ncaf\N{REPLACEMENT CHARACTER} \N{REPLACEMENT CHARACTER}\n"
    )


def test_characters_and_escapes_split_over_writes_are_joined(bench: Bench) -> None:
    command = r"printf '\xf0\x9f'; sleep 0.1; printf '\x98\x80\033['; sleep 0.1; printf '31mred\n'"
    assert bench.text("execute_command", command=command) == "Exit code 0.\nOutput:\n😀red\n"
    assert "".join(bench.heard) == "😀red\n"


def test_output_is_heard_while_it_runs(bench: Bench) -> None:
    async def listen() -> bool:
        bench.heard = heard = Heard(6)
        call = asyncio.ensure_future(bench._call("execute_command", {"command": "echo first; sleep 60"}))
        await asyncio.wait_for(heard.enough.wait(), 10)
        running = not call.done()
        call.cancel()
        await asyncio.wait([call])
        return running

    assert asyncio.run(listen())
    assert bench.heard == ["first\n"]


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        ({"command": "  "}, "`command` is empty."),
        ({"command": "a\0b"}, "`command` must not contain a NUL character."),
        ({"command": "true", "timeout": 0}, "`timeout` must be between 1 and 600 seconds, got 0."),
        ({"command": "true", "timeout": 601}, "`timeout` must be between 1 and 600 seconds, got 601."),
        ({"command": "true", "timeout": "soon"}, '`timeout` must be a whole number, got "soon".'),
        ({"command": "true", "cwd": "none"}, "`cwd` none is not a folder."),
        ({"cmd": "true"}, "`cmd` is not a parameter of execute_command; did you mean `command`?"),
    ],
)
def test_bad_arguments_run_nothing(bench: Bench, arguments: dict[str, object], refusal: str) -> None:
    assert bench.refusal("execute_command", **arguments) == refusal


class Unstartable:
    """Processes whose supervisor cannot start anything: what a real one reports when the system has no process left."""

    async def run(self, command: Command, on_output: object) -> Ended:
        return Ended(None, None, 0.0, error="no more processes")

    async def close(self) -> None:
        pass


def test_a_command_that_could_not_be_started_is_an_error(bench: Bench) -> None:
    context = ToolContext(bench.place, Unstartable(), bench.blobs, ())

    async def call() -> ToolOutput:
        return await bench.tools["execute_command"].run(ExecuteCommand("true"), context)

    output = asyncio.run(call())
    assert (output.kind, said(output)) == (
        "error",
        "The command did not run to its end: no more processes.\nThere was no output.",
    )


def test_the_action_carries_the_command_line_and_the_folder(bench: Bench) -> None:
    (bench.root / "link").symlink_to("/")
    assert bench.actions("execute_command", command="ls | wc", cwd="link") == (Action("execute", ("/",), "ls | wc"),)
    assert bench.actions("execute_command", command="ls") == (Action("execute", (str(bench.root),), "ls"),)
