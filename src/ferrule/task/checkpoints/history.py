"""What a session did to files, and the points that it can go back to, folded from its records. Nothing is looked at on disk."""

from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from ferrule.store.protocol import MAIN
from ferrule.types.messages import Text, ToolCall, User
from ferrule.types.records import (
    Answered,
    AssistantSaid,
    CallFinished,
    CallStarted,
    Record,
    SessionOpened,
    Undoing,
    Undone,
    UserSaid,
)
from ferrule.types.tools import FileState

NEVER = 2**63
"""The number of a record that will never be: what has no end counts as done after every point."""


class Step(NamedTuple):
    """One change of one path, by a call or an undo that began with record `began` and was over with record `ended`.

    `after` is None where nobody looked: it was broken off, and what it did by then is unknown.
    """

    path: str
    began: int
    ended: int
    before: FileState
    after: FileState | None


class Ran(NamedTuple):
    """A call that may have changed anything (a command), over with record `ended`; `what` is its command line or its name."""

    ended: int
    what: str


class Point(Struct, frozen=True):
    """A place to go back to: what stood after record `to`, before the person spoke or an undo began.

    `text` is what was said, `time` when (Unix seconds). `files` were changed from here to the next point, by `commands` possibly
    more.
    """

    to: int
    time: float
    kind: Literal["prompt", "answer", "undo"]
    text: str
    files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


class History:
    """Fed record by record. `pending` is an undo that was begun and has no end, with the number of its record."""

    def __init__(self) -> None:
        self.folder = ""
        self.contract = ""
        self.last = 0
        self.pending: tuple[int, Undoing] | None = None
        self.records: list[Record] = []
        self._steps: list[Step] = []
        self._ran: list[Ran] = []
        self._points: list[Point] = []
        self._calls: dict[str, ToolCall] = {}
        self._open: dict[str, tuple[int, CallStarted]] = {}

    def add(self, record: Record) -> None:
        self.last = record.seq
        self.records.append(record)
        match record.entry:
            case SessionOpened(folder=folder, contract=contract):
                self.folder, self.contract = folder, contract
            case UserSaid(origin="person", message=message) if record.branch == MAIN:
                self._point(record, "prompt", _words(message))
            case Answered(text=text) if record.branch == MAIN:
                self._point(record, "answer", text)
            case AssistantSaid(message=message):
                self._calls |= {call.id: call for call in message.calls}
            case CallStarted(call_id=id) as started:
                self._open.setdefault(id, (record.seq, started))
            case CallFinished(result=result, after=after) if result.call_id in self._open:
                self._finished(*self._open.pop(result.call_id), record.seq, after)
            case Undoing(to=to) as undoing:
                self._point(record, "undo", f"back to record {to}")
                self.pending = (record.seq, undoing)
            case Undone(after=after) if self.pending is not None:
                began, undoing = self.pending
                self._changed(began, record.seq, undoing.before, after)
                self.pending = None
            case _:
                pass

    @property
    def steps(self) -> tuple[Step, ...]:
        """All changes in order; those of calls without an end come last, as nothing began after them."""
        broken = [step for began, call in self._open.values() for step in _steps(began, NEVER, call.before, ())]
        return (*self._steps, *broken)

    @property
    def ran(self) -> tuple[Ran, ...]:
        """All calls that may have changed anything, those without an end included."""
        return (*self._ran, *(Ran(NEVER, self._told(call)) for _, call in self._open.values() if _unwatched(call)))

    @property
    def points(self) -> tuple[Point, ...]:
        """In order."""
        steps, ran = self.steps, self.ran
        ends = [*(point.to for point in self._points[1:]), NEVER]
        return tuple(_filled(point, end, steps, ran) for point, end in zip(self._points, ends, strict=False))

    def _point(self, record: Record, kind: Literal["prompt", "answer", "undo"], text: str) -> None:
        self._points.append(Point(record.seq - 1, record.time, kind, text))

    def _finished(self, began: int, call: CallStarted, ended: int, after: tuple[FileState, ...]) -> None:
        self._changed(began, ended, call.before, after)
        if _unwatched(call):
            self._ran.append(Ran(ended, self._told(call)))

    def _changed(self, began: int, ended: int, before: tuple[FileState, ...], after: tuple[FileState, ...]) -> None:
        self._steps += _steps(began, ended, before, after)

    def _told(self, started: CallStarted) -> str:
        call = self._calls.get(started.call_id)
        try:
            arguments = msgspec.json.decode(call.arguments, type=dict[str, object]) if call is not None else {}
        except msgspec.MsgspecError:
            arguments = {}
        return str(arguments.get("command") or started.name)


def changed(step: Step) -> bool:
    """Whether it may have written anything: a mode alone counts, an attempt that left all as it was does not."""
    return step.after is None or step.before != msgspec.structs.replace(step.after, lost=step.before.lost)


def _filled(point: Point, end: int, steps: tuple[Step, ...], ran: tuple[Ran, ...]) -> Point:
    """`end`: the record that the next point goes back to."""
    written = (step for step in steps if point.to < step.ended <= end and changed(step))
    files = dict.fromkeys(step.path for step in written if not _of_folder(step))
    commands = tuple(each.what for each in ran if point.to < each.ended <= end)
    return msgspec.structs.replace(point, files=tuple(files), commands=commands)


def _of_folder(step: Step) -> bool:
    return "folder" in (step.before.kind, None if step.after is None else step.after.kind)


def _steps(began: int, ended: int, before: tuple[FileState, ...], after: tuple[FileState, ...]) -> list[Step]:
    left = {state.path: state for state in after}
    return [Step(state.path, began, ended, state, left.get(state.path)) for state in before]


def _unwatched(call: CallStarted) -> bool:
    """As in receipts: it may have changed something, and names no file."""
    return not call.effect.repeatable and not call.before


def _words(message: User) -> str:
    return " ".join(part.text for part in message.parts if isinstance(part, Text))
