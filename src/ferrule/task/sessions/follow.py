"""Watching a session that another process writes: what is stored already, and then what it stores, until it lets go."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from ferrule.store.private import state_folder
from ferrule.store.sessions import Sessions
from ferrule.task.holding.session import resumed
from ferrule.types.names import spell
from ferrule.types.records import Record
from ferrule.types.result import RecordAdded

from .replay import Concluded, Played, Player, Stopped, begun

PAUSE = 0.2
"""Seconds between two looks."""


async def follow(environ: Mapping[str, str], written: str, folder: Path, contract: str | None) -> AsyncIterator[Played]:
    """As `replay` of the session that would be continued, and then live; nothing is written, and nobody is held up.

    `Stopped` comes last, once nobody has the session open for writing and everything was told. Raises UsageError, StoreError.
    """
    sessions = Sessions(state_folder(environ))
    id = resumed(sessions, written, spell(str(folder)), contract)
    reader = sessions.reader(id)
    records: list[Record] = [record async for record in reader.records()]
    player = Player(id)
    seq = 0
    yield begun(id, records)
    while True:
        for record in records:
            yield RecordAdded(record)
            seq = record.seq
            if (result := player.take(record)) is not None:
                yield Concluded(result)
        busy = bool(records) or sessions.busy(id)
        records = [record async for record in reader.records(seq)]
        if not busy and not records:
            yield Stopped(seq, player.open)
            return
        if not records:
            await asyncio.sleep(PAUSE)
