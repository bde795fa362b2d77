"""Goes back to a point of a session: files, conversation or both. Written ahead, so that one that was killed comes to its end;
recorded, so that it can be undone like anything else."""

from collections.abc import Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from ferrule.store.folds import Conversation
from ferrule.store.private import state_folder
from ferrule.store.protocol import MAIN, Journal
from ferrule.store.rewinding import in_force
from ferrule.store.sessions import Sessions
from ferrule.task.contracts import CODE
from ferrule.task.holding.session import resumed
from ferrule.types.errors import StoreError, ToolError, UsageError
from ferrule.types.names import spell
from ferrule.types.records import Undoing, Undone
from ferrule.types.tools import FileChange, FileState
from ferrule.workspace.restoring.putting import alike, restore

from .folder import Folder, folder_of
from .history import History, Point
from .plan import Planned, in_order, plan
from .telling import closed, note

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

State = Literal["nothing", "possible", "refused", "done", "unfinished"]


class Wanted(Struct, frozen=True):
    """Where to go back to: record `to`, or before the `last` so many points, or before `all`; `force` goes past conflicts."""

    to: int | None = None
    last: int = 1
    all: bool = False
    files: bool = True
    conversation: bool = True
    force: bool = False


class Undo(Struct, frozen=True):
    """What an undo would do, or what became of it.

    `nothing`: all is as it shall be. `possible`: looked at only. `refused`: `files` with an obstacle stand in the way and nothing
    was done. `unfinished`: these could not be restored, the others were. `commands` ran after the point; what they did stays.
    `messages` leave the view; of a number below 0 as many come back to it. `resumed`: an earlier undo that was broken off comes
    to its end, and nothing else.
    """

    session: str
    to: int
    state: State
    files: tuple[Planned, ...] = ()
    commands: tuple[str, ...] = ()
    conversation: bool = False
    messages: int = 0
    resumed: bool = False


async def points(environ: Mapping[str, str], written: str | None, folder: Path) -> tuple[str, tuple[Point, ...]]:
    """The full id of a session (the last one of `folder` where none is named), and the points that it can go back to.

    Raises UsageError, StoreError.
    """
    sessions = Sessions(state_folder(environ))
    id = _find(sessions, written, folder)
    return id, (await _read(sessions, id)).points


class Previewed(Struct, frozen=True):
    """`differences` are unified diffs from what stands there to what would, in the order of the files, for who looks before."""

    undo: Undo
    differences: tuple[str, ...]


async def preview(environ: Mapping[str, str], written: str | None, folder: Path, wanted: Wanted) -> Previewed:
    """What `undo` would do, also while the session is open elsewhere. Nothing is written. Raises UsageError, StoreError."""
    from .difference import difference

    sessions = Sessions(state_folder(environ))
    id = _find(sessions, written, folder)
    history = await _read(sessions, id)
    place = folder_of(history.folder, sessions.preimages)
    planned = _planned(id, history, place, wanted)
    return Previewed(planned, tuple(difference(each, place) for each in planned.files if not each.impossible))


async def undo(environ: Mapping[str, str], written: str | None, folder: Path, wanted: Wanted) -> Undo:
    """Go back, or say what stands in the way. An undo that was broken off is brought to its end instead.

    Raises UsageError, LeaseHeld while the session is open elsewhere, StoreError.
    """
    sessions = Sessions(state_folder(environ))
    async with _opened(sessions, _find(sessions, written, folder), environ) as journal:
        history = History()
        async for record in journal.records():
            history.add(record)
        place = folder_of(history.folder, sessions.preimages)
        found = _planned(journal.session, history, place, wanted)
        if history.pending is not None:
            return await _Act(journal, history, place, found, wanted).finish(*history.pending)
        if found.state == "nothing" or (found.state == "refused" and not (wanted.force and _forcible(found))):
            return found
        return await _Act(journal, history, place, found, wanted).begin()


class _Act:
    """One undo that is carried out."""

    def __init__(self, journal: Journal, history: History, place: Folder, planned: Undo, wanted: Wanted) -> None:
        self.journal = journal
        self.place = place
        self.planned = planned
        self.wanted = wanted
        self.records = [record for record in history.records if record.branch == MAIN]

    async def begin(self) -> Undo:
        """Keep what stands there, write ahead, go on as after a crash. What was not said beforehand stops it."""
        chosen = [each for each in self.planned.files if not each.impossible]
        before = [self.place.keep(each.path) for each in chosen]
        for each, now in zip(chosen, before, strict=True):
            if not alike(each.found, now):
                raise StoreError(f"{each.path} changed at this very moment. Nothing was undone; try again.")
            if now.lost and not self.wanted.force:
                raise UsageError(f"What {each.path} holds could not be brought back: {now.lost}. --force undoes it all the same.")
        undoing = Undoing(
            to=self.planned.to,
            files=self.wanted.files,
            conversation=self.planned.conversation,
            before=tuple(before),
            after=tuple(each.wanted for each in chosen),
        )
        done = closed(self._conversation().open_calls)
        *_, record = await self.journal.append(*done, undoing)
        return await self.finish(record.seq, undoing)

    async def finish(self, seq: int, undoing: Undoing) -> Undo:
        """Restore what is not restored yet. Where that fails it stays open, unless the person forces it to its end."""
        pairs = in_order(Planned(old.path, old, new) for old, new in zip(undoing.before, undoing.after, strict=True))
        files = [self._restored(each) for each in pairs]
        if any(each.obstacle for each in files) and not self.wanted.force:
            return self._told("unfinished", files)
        after = tuple(self.place.look(state.path) for state in undoing.before)
        changes = tuple(_changes(undoing.before, after))
        undone = Undone(seq, undoing.to, undoing.conversation, after, changes)
        then = self._conversation(undoing.to if undoing.conversation else None)
        words = note(undoing, [change.path for change in changes], then)
        await self.journal.append(undone, *(closed(then.open_calls) if undoing.conversation else ()), *words)
        return self._told("done", files)

    def _restored(self, each: Planned) -> Planned:
        if astray := self.place.astray(each.path):
            return Planned(each.path, each.found, each.wanted, astray)
        try:
            restore(self.place.path(each.path), each.found, each.wanted, lambda: self.place.content(each.wanted))
        except (ToolError, StoreError) as problem:
            return Planned(each.path, each.found, each.wanted, str(problem))
        except OSError as problem:
            return Planned(each.path, each.found, each.wanted, problem.strerror or str(problem))
        return each

    def _told(self, state: State, files: list[Planned]) -> Undo:
        left = [each for each in self.planned.files if each.impossible]
        told = self.planned
        return Undo(told.session, told.to, state, (*files, *left), told.commands, told.conversation, told.messages, told.resumed)

    def _conversation(self, to: int | None = None) -> Conversation:
        """As it stands, or as it was after record `to`."""
        folded = Conversation()
        for record in self.records if to is None else in_force(self.records, to):
            folded.add(record)
        return folded


def _forcible(found: Undo) -> bool:
    """Whether anything would happen if the person insists."""
    return found.conversation or any(not each.impossible for each in found.files)


def _planned(id: str, history: History, place: Folder, wanted: Wanted) -> Undo:
    if history.pending is not None:
        _, undoing = history.pending
        rest = in_order(Planned(old.path, old, new) for old, new in zip(undoing.before, undoing.after, strict=True))
        return Undo(id, undoing.to, "possible", rest, conversation=undoing.conversation, resumed=True)
    if history.contract != CODE.kind:
        raise UsageError(f"Session {id} is a task of the kind {history.contract}, which changes no files: nothing can be undone.")
    to = _point(id, history, wanted)
    files = plan(history.steps, history.ran, to, place) if wanted.files else ()
    gone = _messages_after(history, to) if wanted.conversation else None
    commands = tuple(ran.what for ran in history.ran if ran.ended > to) if wanted.files else ()
    state: State = "possible" if files or gone is not None else "nothing"
    if any(each.obstacle for each in files):
        state = "refused"
    return Undo(id, to, state, files, commands, gone is not None, gone or 0)


def _point(id: str, history: History, wanted: Wanted) -> int:
    """The record to go back to. Raises UsageError."""
    points = history.points
    if wanted.to is not None:
        if wanted.to >= history.last:
            raise UsageError(f"Session {id} has {history.last} records; --to takes the number of an earlier one.")
        return wanted.to
    if not points:
        raise UsageError(f"Session {id} holds nothing that could be undone.")
    if wanted.last > len(points):
        raise UsageError(f"Session {id} can go back by {len(points)} at most; ferrule undo {id} --list shows the points.")
    return points[0 if wanted.all else -wanted.last].to


def _messages_after(history: History, to: int) -> int | None:
    """How many messages leave the view (below 0, come back to it), None where the conversation is as it was."""
    records = [record for record in history.records if record.branch == MAIN]
    now, then = Conversation(), Conversation()
    for record in records:
        now.add(record)
    for record in in_force(records, to):
        then.add(record)
    if now.messages == then.messages and now.open_calls == then.open_calls:
        return None
    return len(now.messages) - len(then.messages)


def _changes(before: tuple[FileState, ...], after: tuple[FileState, ...]) -> "list[FileChange]":
    """Of files; folders have no content."""
    pairs = [(old, new) for old, new in zip(before, after, strict=True) if "folder" not in (old.kind, new.kind)]
    return [FileChange(old.path, old.sha256, new.sha256) for old, new in pairs if not alike(old, new)]


def _find(sessions: Sessions, written: str | None, folder: Path) -> str:
    return sessions.find(written) if written is not None else resumed(sessions, "latest", spell(str(folder.resolve())), CODE.kind)


async def _read(sessions: Sessions, id: str) -> History:
    history = History()
    async for record in sessions.reader(id).records():
        history.add(record)
    return history


@asynccontextmanager
async def _opened(sessions: Sessions, id: str, environ: Mapping[str, str]) -> "AsyncIterator[Journal]":
    journal: Journal = sessions.open(id)
    if point := environ.get("FERRULE_FAULT_POINT"):
        from ferrule.store.stopping import StoppingJournal

        journal = StoppingJournal(journal, point)
    try:
        yield journal
    finally:
        await journal.close()
