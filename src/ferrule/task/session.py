"""The session that a task is kept in: a new one, the one to go on with, or one that leaves nothing behind."""

from collections.abc import Awaitable, Callable
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


def open_session(options: TaskOptions, folder: Path, contract: str, closers: Closers) -> tuple[Journal, Blobs]:
    """Open for writing; what has to be closed joins `closers`. Raises UsageError, LeaseHeld, StoreError."""
    if options.no_session:
        return _unkept(options, folder, contract, closers)
    sessions = Sessions(state_folder(options.environ))
    journal: Journal = _kept(sessions, options, spell(str(folder)), contract)
    closers.append(journal.close)
    if point := options.environ.get("FERRULE_FAULT_POINT"):
        from ferrule.store.stopping import StoppingJournal

        journal = StoppingJournal(journal, point)
    return journal, sessions.blobs


def _unkept(options: TaskOptions, folder: Path, contract: str, closers: Closers) -> tuple[Journal, Blobs]:
    if options.resume is not None:
        raise UsageError("--no-session keeps nothing, so there is nothing to continue. Leave one of the two flags out.")
    journal = memory_journal(spell(str(folder)), contract)
    closers.append(journal.close)
    blobs = TemporaryBlobs()

    async def close_blobs() -> None:
        blobs.close()

    closers.append(close_blobs)
    return journal, blobs


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
