"""A task's events as lines for a person: what the model says, one line a tool call, and whatever went wrong on the way."""

from collections.abc import Callable

import msgspec

from ferrule.types.messages import Assistant, Text, ToolCall, ToolResult, User
from ferrule.types.records import (
    AssistantSaid,
    CallFinished,
    CallStarted,
    Entry,
    HookRan,
    ModelChosen,
    Process,
    ProcessEnd,
    Repaired,
    Retried,
    Shrunk,
    TodosSet,
    UserSaid,
)
from ferrule.types.result import Output, RecordAdded, Streaming, TaskEvent
from ferrule.types.stream import Failed, PartBegan, PartDelta, StreamEvent

from .terminal import DIM, GREEN, RED, YELLOW, Look, clean, counted, duration, one_line

MARKS = {
    "ok": ("✓", GREEN),
    "error": ("✗", RED),
    "denied": ("⊘", YELLOW),
    "interrupted": ("‖", YELLOW),
    "skipped": ("↷", DIM),
    "unknown": ("?", YELLOW),
}
TELLING = ("path", "file_path", "command", "pattern", "regex", "query", "question")
MARK = "[Automatic reminder]"
QUIET = frozenset({"attempt_completion", "update_todo_list"})


class Progress:
    """Writes through `write`; `show` takes the events in their order, `finish` leaves the cursor at the start of a line."""

    def __init__(self, write: Callable[[str], None], look: Look) -> None:
        self.write = write
        self.look = look
        self.calls: dict[str, ToolCall] = {}
        self.texts: set[int] = set()
        self.streamed = False
        self.mid_line = False
        self.status = False

    def show(self, event: TaskEvent) -> None:
        match event:
            case RecordAdded(record=record):
                self._entry(record.entry)
            case Streaming(event=streamed):
                self._stream(streamed)
            case Output():
                pass

    def finish(self) -> None:
        self._clear_status()
        if self.mid_line:
            self.write("\n")
            self.mid_line = False

    def line(self, text: str) -> None:
        self.finish()
        self.write(text + "\n")

    def _entry(self, entry: Entry) -> None:
        match entry:
            case AssistantSaid(message=message):
                self._said(message)
            case CallStarted(call_id=call_id, name=name):
                self._status(self._named(name, call_id, self.look.width - 5))
            case CallFinished(result=result, seconds=seconds):
                self._finished(result, seconds)
            case Retried(fault=fault, delay=delay, to=to):
                self._notice("↻", f"asking {f'{to} instead' if to else f'again in {duration(delay)}'}: {fault.sentence}")
            case Repaired(by=by, what=what):
                more = f" (and {len(what) - 1} more)" if len(what) > 1 else ""
                self._notice("⚒", f"repaired by {by}: {what[0] if what else 'nothing'}{more}")
            case Shrunk(results=results, messages=messages, before=before, after=after) if results or messages:
                said = f"{counted(messages, 'message')} summarised" if messages else f"{counted(len(results), 'result')} cut"
                self._notice("⚒", f"{said}: about {before:,} tokens before, {after:,} after")
            case UserSaid(origin="reminder", message=message):
                self._notice("↻", f"the model was reminded{first_sentence(message)}")
            case HookRan(event=event, name=name, verdict=verdict, reason=reason) if verdict != "pass":
                self._notice("⚑", f"hook {name} on {event}: {verdict}" + (f", {reason}" if reason else ""))
            case Process(handle=handle, command=command, ended=None):
                self._notice("⚑", f"{handle} runs in the background: {command}")
            case Process(handle=handle, ended=ProcessEnd(told=False, exit_code=code, signal=number, error=why)):
                how = why or (f"signal {number}" if code is None else f"exit code {code}")
                self._notice("⚑", f"{handle} has ended: {how}")
            case UserSaid(origin="note", message=message):
                self._notice("↻", f"the model was told{first_sentence(message)}")
            case ModelChosen(model=model, endpoint=endpoint) if "://" in endpoint:
                self._notice("·", f"asking {model} at {endpoint}")
            case TodosSet(todos=todos) if todos:
                done = sum(todo.status == "completed" for todo in todos)
                now = next((todo.text for todo in todos if todo.status == "in_progress"), "")
                self._notice("·", f"todos {done}/{len(todos)}" + (f": {now}" if now else ""))
            case _:
                pass

    def _stream(self, event: StreamEvent) -> None:
        match event:
            case PartBegan(index=index, kind="text"):
                self.texts.add(index)
                self.finish()
            case PartBegan(index=index, kind=kind):
                self.texts.discard(index)
                if kind == "reasoning":
                    self._status("thinking")
            case PartDelta(index=index, text=text) if index in self.texts and text:
                self._text(text)
                self.streamed = True
            case Failed():
                self.finish()
                self.texts.clear()
                self.streamed = False
            case _:
                pass

    def _text(self, text: str) -> None:
        self._clear_status()
        shown = clean(text)
        self.write(self.look.paint(shown, DIM))
        self.mid_line = not shown.endswith("\n")

    def _said(self, message: Assistant) -> None:
        if not self.streamed and message.text.strip():
            self.finish()
            self._text(message.text)
        self.finish()
        self.streamed = False
        self.texts.clear()
        self.calls |= {call.id: call for call in message.calls}

    def _status(self, text: str) -> None:
        """A line that stands until anything else is written."""
        if not self.look.live:
            return
        self.finish()
        self.write(self.look.paint(f"  {self.look.symbol('…')} {text}", DIM))
        self.status = True

    def _finished(self, result: ToolResult, seconds: float) -> None:
        mark, style = MARKS[result.kind]
        took = "" if result.kind in ("denied", "skipped") else f"  {duration(seconds)}"
        failed = result.kind in ("error", "denied", "unknown")
        width = self.look.width - 4 - len(took)
        named = self._named(result.name, result.call_id, width)
        why = one_line(result.text, max(width - len(named) - 2, 40)) if failed else ""
        shown = f"  {self.look.paint(self.look.symbol(mark), style)} {named}{self.look.paint(took, DIM)}"
        self.line(shown + (f": {self.look.paint(why, style)}" if why else ""))

    def _named(self, name: str, call_id: str, width: int) -> str:
        call = self.calls.get(call_id)
        about = "" if call is None or name in QUIET else telling(call.arguments)
        return one_line(f"{name} {about}", width)

    def _notice(self, symbol: str, text: str) -> None:
        self.line(self.look.paint(f"  {self.look.symbol(symbol)} {one_line(text, self.look.width - 4)}", DIM))

    def _clear_status(self) -> None:
        if self.status:
            self.write("\r\x1b[K")
            self.status = False


def first_sentence(message: User) -> str:
    """Of what Ferrule said to the model, behind a colon; nothing where there is no text."""
    text = " ".join(part.text for part in message.parts if isinstance(part, Text)).removeprefix(MARK).strip()
    return f": {text.split('. ')[0].removesuffix('.')}." if text else ""


def telling(arguments: str) -> str:
    """What a call is about, from its arguments: a path with its line, a command, a pattern, else its first short text."""
    try:
        given = msgspec.json.decode(arguments, type=dict[str, object])
    except msgspec.DecodeError:
        return ""
    texts = {name: value for name, value in given.items() if isinstance(value, str)}
    named = [texts[name] for name in TELLING if name in texts]
    if "path" in texts and len(named) > 1:
        return f"{named[1]} in {named[0]}"
    if "path" in texts and isinstance(line := given.get("line"), int):
        return f"{texts['path']}:{line}"
    return next(iter(named or texts.values()), "")
