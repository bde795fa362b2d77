"""Events of a task for any number of readers, replayable from any record."""

import asyncio
from collections.abc import AsyncIterator

from ferrule.attempt.log import Log
from ferrule.types.result import RecordAdded, TaskEvent


class Feed:
    """Every reader gets the stored records after `since`, then what happens, until the task is closed or its run ended."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.readers: set[asyncio.Queue[TaskEvent | None]] = set()
        self.ended = False
        log.listeners.append(self._tell)

    def _tell(self, event: TaskEvent) -> None:
        for reader in self.readers:
            reader.put_nowait(event)

    def end(self) -> None:
        self.ended = True
        for reader in self.readers:
            reader.put_nowait(None)

    async def events(self, since: int) -> AsyncIterator[TaskEvent]:
        reader: asyncio.Queue[TaskEvent | None] = asyncio.Queue()
        self.readers.add(reader)
        if self.ended:
            reader.put_nowait(None)
        seen = since
        try:
            async for record in self.log.journal.records(since):
                seen = record.seq
                yield RecordAdded(record)
            while (event := await reader.get()) is not None:
                if isinstance(event, RecordAdded):
                    if event.record.seq <= seen:
                        continue
                    seen = event.record.seq
                yield event
        finally:
            self.readers.discard(reader)
