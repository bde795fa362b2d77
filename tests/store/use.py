"""The asynchronous ends of a journal, from plain tests."""

import asyncio
from collections.abc import AsyncIterator
from typing import Protocol

from ferrule.store.protocol import Journal
from ferrule.types.records import Entry, Record


class Readable(Protocol):
    def records(self, since: int = 0, branch: str | None = None) -> AsyncIterator[Record]: ...


def append(journal: Journal, *entries: Entry, branch: str = "main") -> tuple[Record, ...]:
    return asyncio.run(journal.append(*entries, branch=branch))


def records(journal: Readable, since: int = 0, branch: str | None = None) -> list[Record]:
    async def read() -> list[Record]:
        return [record async for record in journal.records(since, branch)]

    return asyncio.run(read())


def close(journal: Journal) -> None:
    asyncio.run(journal.close())
