"""The session that a task is kept in: a new one, the one to go on with, or one that leaves nothing behind."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ferrule.attempt.maintenance import Chore
from ferrule.store.blobs import FileBlobs, TemporaryBlobs
from ferrule.store.journal import SqliteJournal, memory_journal
from ferrule.store.private import state_folder
from ferrule.store.protocol import Blobs, Journal
from ferrule.store.sessions import DAY, Sessions
from ferrule.task.kind import TaskOptions
from ferrule.types.errors import LeaseHeld, UsageError
from ferrule.types.names import spell

from .busy import take_over, wait_for

Closers = list[Callable[[], Awaitable[None]]]


@dataclass
class Session:
    """`close` gives it back; one that is new and in which nothing has `begun` is removed by it.

    `chores` keep the store in order. `preimages` take what files hold before tools write them; None where nothing is kept.
    """

    journal: Journal
    blobs: Blobs
    finish: Callable[[], None]
    begun: bool
    chores: tuple[Chore, ...] = ()
    preimages: Blobs | None = None

    async def close(self) -> None:
        await self.journal.close()
        self.finish()


async def open_session(options: TaskOptions, folder: Path, contract: str) -> Session:
    """Open for writing; where the options say so, wait for whoever has it open, or take it over.

    Raises UsageError, LeaseHeld, StoreError.
    """
    if options.no_session:
        if options.resume is not None:
            raise UsageError("--no-session keeps nothing, so there is nothing to continue. Leave one of the two flags out.")
        blobs = TemporaryBlobs()
        return Session(memory_journal(spell(str(folder)), contract), blobs, blobs.close, True)
    sessions = Sessions(state_folder(options.environ))
    journal: Journal = await _kept(sessions, options, spell(str(folder)), contract)
    if point := options.environ.get("FERRULE_FAULT_POINT"):
        from ferrule.store.stopping import StoppingJournal

        journal = StoppingJournal(journal, point)

    def finish() -> None:
        if not session.begun:
            sessions.remove(session.journal.session)

    stores = {"unfinished outputs": sessions.blobs, "unfinished preimages": sessions.preimages}
    chores = tuple(Chore(what, partial(_remove_unfinished, blobs)) for what, blobs in stores.items())
    session = Session(journal, sessions.blobs, finish, options.resume is not None, chores, sessions.preimages)
    return session


def _remove_unfinished(blobs: FileBlobs) -> None:
    blobs.remove_unfinished(time.time() - DAY)


async def _kept(sessions: Sessions, options: TaskOptions, folder: str, contract: str) -> SqliteJournal:
    if options.resume is None:
        if options.config.retention_days is not None:
            sessions.prune(options.config.retention_days)
        return sessions.create(folder, contract)
    id = resumed(sessions, options.resume, folder, contract)
    match options.if_busy:
        case "refuse":
            try:
                return sessions.open(id)
            except LeaseHeld as held:
                raise LeaseHeld(f"{held} Or say what to do then: --if-busy wait, read or take.") from None
        case "wait":
            return await wait_for(sessions, id, options.config.limits.time, options.told)
        case "take":
            return await take_over(sessions, id, options.told)


def resumed(sessions: Sessions, written: str, folder: str, contract: str | None) -> str:
    """The id of the session to go on with. Raises UsageError."""
    if written != "latest":
        return sessions.find(written)
    latest = sessions.latest(folder, contract)
    if latest is None:
        raise UsageError(f"{folder} has no session to continue. Start one with -p PROMPT; see `ferrule sessions list --all`.")
    return latest.id
