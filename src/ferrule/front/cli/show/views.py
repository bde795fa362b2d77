"""What is shown of a run: one view an output format. Progress and summary go to standard error, the result to standard output."""

from typing import Protocol

from ferrule import __version__
from ferrule.types.outcome import Outcome
from ferrule.types.result import RunResult, TaskEvent

from .output import Pipe, SessionEvent, event_line, result_json, result_line
from .progress import Progress
from .summary import summary
from .terminal import DIM, Look, clean, one_line


class Opened(Protocol):
    """What a view wants to know of a task. `remark` is for the person, empty where there is nothing to say."""

    @property
    def session_id(self) -> str | None: ...

    @property
    def task_id(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def tools(self) -> tuple[str, ...]: ...

    @property
    def remark(self) -> str: ...


class View(Protocol):
    def begin(self, task: Opened, folder: str) -> None: ...

    def event(self, event: TaskEvent) -> None: ...

    def end(self, result: RunResult) -> None: ...

    @property
    def abandoned(self) -> bool:
        """Whether nobody reads any more what this run was started for."""
        ...


class PersonView:
    """`text` and `json`: lines for a person while the run lasts, then the result."""

    def __init__(self, out: Pipe, err: Pipe, look: Look, json: bool) -> None:
        self.out = out
        self.err = err
        self.look = look
        self.json = json
        self.progress = Progress(err.text, look)
        self.abandoned = False

    def begin(self, task: Opened, folder: str) -> None:
        dialect, _, name = task.model.partition("/")
        model = f"a script ({name.rpartition('/')[2]})" if dialect == "scripted" else task.model
        self.progress.line(self.look.paint(f"{self.look.symbol('●')} {clean(model)} in {clean(folder)}", DIM))

    def event(self, event: TaskEvent) -> None:
        self.progress.show(event)

    def remark(self, text: str) -> None:
        """A line of somebody else's words or about the showing itself."""
        self.progress.line(self.look.paint(f"{self.look.symbol('›')} {one_line(text, self.look.width - 2)}", DIM))

    def end(self, result: RunResult) -> None:
        self.progress.finish()
        if self.json:
            self.out.bytes(result_json(result))
        if result.outcome is Outcome.USAGE_ERROR:
            self.err.text(f"ferrule: {clean(result.error or result.result)}\n")
            return
        if result.result and not self.json:
            terminal = self.out.stream is not None and self.out.stream.isatty()
            text = clean(result.result) if terminal else result.result
            self.out.text(text if text.endswith("\n") else text + "\n")
        self.err.text("".join(f"{line}\n" for line in summary(result, self.look)))


class StreamView:
    """`stream-json`: one JSON object a line, `session` first, `result` last."""

    def __init__(self, out: Pipe) -> None:
        self.out = out

    @property
    def abandoned(self) -> bool:
        return not self.out.open

    def begin(self, task: Opened, folder: str) -> None:
        session = SessionEvent(1, __version__, task.session_id, task.task_id, task.model, folder, task.tools)
        self.out.bytes(event_line(session))

    def event(self, event: TaskEvent) -> None:
        self.out.bytes(event_line(event))

    def end(self, result: RunResult) -> None:
        self.out.bytes(result_line(result))
