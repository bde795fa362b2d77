"""The session that a task is kept in: a new one, the one to go on with, or one that leaves nothing behind."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from ferrule.store.blobs import TemporaryBlobs
from ferrule.store.journal import SqliteJournal, memory_journal
from ferrule.store.private import state_folder
from ferrule.store.protocol import Blobs, Journal
from ferrule.store.sessions import Sessions
from ferrule.types.errors import UsageError
from ferrule.types.names import spell

from .kind import TaskOptions

Closers = list[Callable[[], Awaitable[None]]]


@dataclass
class Session:
    """`close` gives it back; one that is new and in which nothing has `begun` is removed by it."""

    journal: Journal
    blobs: Blobs
    finish: Callable[[], None]
    begun: bool

    async def close(self) -> None:
        await self.journal.close()
        self.finish()


def open_session(options: TaskOptions, folder: Path, contract: str) -> Session:
    """Open for writing. Raises UsageError, LeaseHeld, StoreError."""
    if options.no_session:
        if options.resume is not None:
            raise UsageError("--no-session keeps nothing, so there is nothing to continue. Leave one of the two flags out.")
        blobs = TemporaryBlobs()
        return Session(memory_journal(spell(str(folder)), contract), blobs, blobs.close, True)
    sessions = Sessions(state_folder(options.environ))
    journal: Journal = _kept(sessions, options, spell(str(folder)), contract)
    if point := options.environ.get("FERRULE_FAULT_POINT"):
        from ferrule.store.stopping import StoppingJournal

        journal = StoppingJournal(journal, point)

    def finish() -> None:
        if not session.begun:
            sessions.remove(session.journal.session)

    session = Session(journal, sessions.blobs, finish, options.resume is not None)
    return session


def _kept(sessions: Sessions, options: TaskOptions, folder: str, contract: str) -> SqliteJournal:
    match options.resume:
        case None:
            if options.config.retention_days is not None:
                sessions.prune(options.config.retention_days)
            return sessions.create(folder, contract)
        case "latest":
            latest = sessions.latest(folder, contract)
            if latest is None:
                raise UsageError(
                    f"{folder} has no session to continue. Start one with -p PROMPT; see `ferrule sessions list --all`."
                )
            return sessions.open(latest.id)
        case name:
            return sessions.open(name)
