import asyncio
import io
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from ferrule.front.cli.headless import Running, failed_result, run_task
from ferrule.front.cli.show.output import Pipe
from ferrule.front.cli.show.terminal import Look
from ferrule.front.cli.show.views import Opened, PersonView, StreamView
from ferrule.types.errors import Interrupted, LeaseHeld
from ferrule.types.messages import Text, User
from ferrule.types.outcome import Outcome
from ferrule.types.records import Record, UserSaid
from ferrule.types.result import RecordAdded, RunResult, TaskEvent

FINISHED = replace(failed_result(Outcome.FINISHED, ""), result="Done.", error=None, session_id="01A")
INTERRUPTED = replace(FINISHED, outcome=Outcome.INTERRUPTED, exit_code=130, result="Interrupted.")
FOLDER = Path("/project")


def record(seq: int) -> RecordAdded:
    return RecordAdded(Record(seq, "main", 4e9, UserSaid(User((Text("go"),)), "reminder"), ""))


EARLIER, NOW = record(1), record(2)


class FakeTask:
    """Tells its events, then finishes, or waits to be interrupted where `patient`. `during` happens while it runs."""

    session_id = "01A"
    task_id = "01A/main"
    model = "openai/x"
    tools = ("edit",)
    remark = ""
    opened = 0

    def __init__(self, *happening: TaskEvent, patient: bool = False, during: Callable[[], None] = lambda: None) -> None:
        self.happening = happening
        self.patient = patient
        self.during = during
        self.stopped = asyncio.Event()
        self.ended = asyncio.Event()
        self.interrupts = 0
        self.closed = False

    async def events(self, since: int = 0) -> AsyncIterator[TaskEvent]:
        for event in self.happening:
            if not isinstance(event, RecordAdded) or event.record.seq > since:
                yield event
        await self.ended.wait()

    def interrupt(self) -> None:
        self.interrupts += 1
        self.stopped.set()

    async def run(self) -> RunResult:
        self.during()
        if self.patient:
            await asyncio.wait_for(self.stopped.wait(), 5)
        self.ended.set()
        return INTERRUPTED if self.interrupts else FINISHED

    async def close(self, primary: BaseException | None = None) -> None:
        self.closed = True


class Seen:
    """A view that remembers in order what it was shown."""

    def __init__(self, task: FakeTask) -> None:
        self.task = task
        self.all: list[object] = []
        self.abandoned = False

    def begin(self, task: Opened, folder: str) -> None:
        self.all.append((task.model, folder))

    def event(self, event: TaskEvent) -> None:
        self.all.append(event)

    def end(self, result: RunResult) -> None:
        self.all.append((result, self.task.closed))


def opening(task: FakeTask) -> Callable[[], Awaitable[Running]]:
    async def opened() -> FakeTask:
        return task

    return opened


class Sink(io.StringIO):
    """A text stream with the binary buffer that the standard streams have."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer = io.BytesIO()

    @property
    def encoding(self) -> str:
        return "utf-8"

    @property
    def written(self) -> str:
        return self.buffer.getvalue().decode()


def test_a_run_is_shown_from_its_beginning_to_its_result_after_everything_is_closed() -> None:
    task = FakeTask(EARLIER, NOW)
    task.opened = 1
    view = Seen(task)
    assert run_task(opening(task), FOLDER, view, Pipe(None)) == FINISHED
    assert view.all == [("openai/x", "/project"), NOW, (FINISHED, True)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_asks_the_task_to_stop_and_its_result_is_still_shown(number: signal.Signals) -> None:
    task = FakeTask(patient=True, during=lambda: os.kill(os.getpid(), number))
    view, err = Seen(task), Sink()
    assert run_task(opening(task), FOLDER, view, Pipe(err)) == INTERRUPTED
    assert view.all == [("openai/x", "/project"), (INTERRUPTED, True)]
    assert (task.interrupts, err.written) == (1, "\nferrule: stopping; once more stops at once\n")


def test_a_signal_that_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        task = FakeTask(during=lambda: os.kill(os.getpid(), signal.SIGHUP))
        assert run_task(opening(task), FOLDER, Seen(task), Pipe(None)) == FINISHED
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_signal_before_the_task_is_open_raises_interrupted() -> None:
    async def never() -> FakeTask:
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(5)
        raise AssertionError("it was not stopped")

    with pytest.raises(Interrupted) as caught:
        run_task(never, FOLDER, Seen(FakeTask()), Pipe(None))
    assert str(caught.value) == "interrupted before anything was done"


def test_what_opening_raises_is_raised() -> None:
    async def held() -> FakeTask:
        raise LeaseHeld("somebody else")

    with pytest.raises(LeaseHeld):
        run_task(held, FOLDER, Seen(FakeTask()), Pipe(None))


def test_a_run_whose_reader_has_gone_is_interrupted() -> None:
    task = FakeTask(NOW, NOW, patient=True)
    view = Seen(task)
    view.abandoned = True
    assert run_task(opening(task), FOLDER, view, Pipe(None)) == INTERRUPTED
    assert view.all == [("openai/x", "/project"), NOW, (INTERRUPTED, True)]


def test_a_fault_of_the_view_is_raised_after_the_result_was_shown() -> None:
    class Faulty(Seen):
        def event(self, event: TaskEvent) -> None:
            raise ZeroDivisionError

    task = FakeTask(NOW)
    view = Faulty(task)
    with pytest.raises(ZeroDivisionError):
        run_task(opening(task), FOLDER, view, Pipe(None))
    assert view.all == [("openai/x", "/project"), (FINISHED, True)]


def test_text_puts_the_result_alone_on_standard_output() -> None:
    out, err = Sink(), Sink()
    task = FakeTask(NOW)
    run_task(opening(task), FOLDER, PersonView(Pipe(out), Pipe(err), Look(), json=False), Pipe(err))
    assert out.written == "Done.\n"
    assert err.written == (
        "● openai/x in /project\n"
        "  ↻ the model was reminded: go.\n"
        "● Finished. (exit 0)\n"
        "  0 turns, 0 tokens in, 0 out, $0.0000\n"
        "  session 01A\n"
    )


def test_a_remark_and_a_refusal_go_to_standard_error() -> None:
    class Remarking(FakeTask):
        remark = "no model is configured; using x"

        async def run(self) -> RunResult:
            self.ended.set()
            return replace(failed_result(Outcome.USAGE_ERROR, "Nothing to do."), result="Nothing to do.")

    out, err = Sink(), Sink()
    run_task(opening(Remarking()), FOLDER, PersonView(Pipe(out), Pipe(err), Look(), json=False), Pipe(err))
    assert (out.written, err.written) == (
        "",
        "ferrule: no model is configured; using x\n● openai/x in /project\nferrule: Nothing to do.\n",
    )


RESULT_JSON = (
    '"schema_version":1,"session_id":"01A","task_id":"","outcome":"finished","exit_code":0,"result":"Done.","verification":[],'
    '"denials":[],"limits":{"turns":null,"tokens":null,"cost":null,"time":null},"usage":{"input":0,"output":0,"cache_read":0,'
    '"cache_write":0,"reasoning":0,"cost":0.0},"cost_usd":0.0,"turns":0,"files_changed":[],"receipt":null,"model":"",'
    '"question":null,"error":null,"unstored":false,"models":[]}\n'
)


def test_json_is_one_object() -> None:
    out, err = Sink(), Sink()
    task = FakeTask()
    run_task(opening(task), FOLDER, PersonView(Pipe(out), Pipe(err), Look(), json=True), Pipe(err))
    assert out.written == "{" + RESULT_JSON


def test_stream_json_begins_with_the_session_and_ends_with_the_result() -> None:
    out = Sink()
    task = FakeTask(NOW)
    run_task(opening(task), FOLDER, StreamView(Pipe(out)), Pipe(None))
    assert out.written == (
        '{"type":"session","schema_version":1,"ferrule":"0.1.0","session_id":"01A","task_id":"01A/main","model":"openai/x",'
        '"cwd":"/project","tools":["edit"]}\n'
        '{"type":"record","record":{"seq":2,"branch":"main","time":4000000000.0,"entry":{"type":"user","message":{"type":"user",'
        '"parts":[{"type":"text","text":"go","opaque":null}]},"origin":"reminder"},"hash":""}}\n'
        '{"type":"result",' + RESULT_JSON
    )


def test_a_second_signal_ends_the_process_at_once(tmp_path: Path) -> None:
    program = tmp_path / "stubborn.py"
    program.write_text(
        "import asyncio, os, signal, sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
        "from pathlib import Path\n"
        "from ferrule.front.cli.headless import run_task\n"
        "from ferrule.front.cli.show.output import standard_error\n"
        "from tests.cli.test_headless import FakeTask, Seen\n"
        "class Stubborn(FakeTask):\n"
        "    async def run(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        await self.stopped.wait()\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        await asyncio.sleep(20)\n"
        "task = Stubborn()\n"
        "async def opened():\n"
        "    return task\n"
        "run_task(opened, Path('/'), Seen(task), standard_error())\n"
    )
    ran = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=20, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (
        130,
        "",
        "\nferrule: stopping; once more stops at once\nferrule: stopped at once\n",
    )


def test_a_pipe_whose_reader_has_gone_closes_quietly_and_a_full_disk_does_not() -> None:
    read, write = os.pipe()
    os.close(read)
    with open(write, "w") as stream:
        gone = Pipe(stream)
        gone.text("x")
        gone.text("y")
    with open("/dev/full", "w") as stream:
        full = Pipe(stream)
        full.text("x")
    assert [(pipe.open, pipe.problem) for pipe in (gone, full)] == [(False, ""), (False, "No space left on device")]


def test_text_that_the_encoding_lacks_is_escaped(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="ascii") as stream:
        Pipe(stream).text("●é")
    assert (tmp_path / "out").read_bytes() == rb"\u25cf\xe9"
