"""Looking at stored sessions: for fronts, which know nothing of the store."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from ferrule.store.index import SessionInfo as SessionInfo
from ferrule.store.private import state_folder
from ferrule.store.sessions import Sessions
from ferrule.types.errors import StoreError
from ferrule.types.names import spell
from ferrule.types.records import Record


class StoredSession(Struct, frozen=True):
    """One session, read from its journal."""

    info: SessionInfo
    records: tuple[Record, ...]


def list_sessions(environ: Mapping[str, str], folder: Path | None) -> tuple[SessionInfo, ...]:
    """Sessions of a project folder, or all; the one written last comes first."""
    return _sessions(environ).list(None if folder is None else spell(str(folder.resolve())))


async def read_session_part(environ: Mapping[str, str], written: str) -> tuple[StoredSession, str]:
    """A session by its id or a prefix; of a damaged one what stands before the damage, and why there is no more.

    Raises UsageError for an unknown or ambiguous one, StoreError where not even the first record can be read.
    """
    found = _sessions(environ)
    id = found.find(written)
    info = next(info for info in found.list() if info.id == id)
    read: list[Record] = []
    try:
        async for record in found.reader(id).records():
            read.append(record)
    except StoreError as error:
        if not read:
            raise
        return StoredSession(info, tuple(read)), str(error)
    return StoredSession(info, tuple(read)), ""


def remove_session(environ: Mapping[str, str], written: str) -> str:
    """Remove a session and what only it kept; returns its full id. Raises UsageError, LeaseHeld while it is in use."""
    found = _sessions(environ)
    id = found.find(written)
    found.remove(id)
    return id


def _sessions(environ: Mapping[str, str]) -> Sessions:
    return Sessions(state_folder(environ))
