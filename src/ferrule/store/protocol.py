"""What every store offers. The personal store is SQLite, the worker's is PostgreSQL; both pass the same tests."""

from collections.abc import AsyncIterator
from typing import Protocol

from ferrule.types.records import Entry, Record

MAIN = "main"


class Journal(Protocol):
    """One session's append-only record, open for writing under a lease."""

    @property
    def session(self) -> str: ...

    async def append(self, *entries: Entry, branch: str = MAIN) -> tuple[Record, ...]:
        """Store all entries or none, durably, in one transaction.

        Raises LeaseLost when another writer has taken the session over, StoreError when the disk refuses.
        """
        ...

    async def check(self) -> None:
        """Whether appending would find the lease still held; cheap, and nothing is written. Raises LeaseLost, StoreError."""
        ...

    def records(self, since: int = 0, branch: str | None = None) -> AsyncIterator[Record]:
        """Records with `seq > since` in order; of all branches unless one is named."""
        ...

    def head(self, branch: str = MAIN) -> str:
        """The hash of the branch's last record; the empty chain's head is 64 zeros."""
        ...

    async def close(self) -> None:
        """Give the lease back. May be called twice."""
        ...


class Blobs(Protocol):
    """Large outputs, by the sha256 of their bytes."""

    def writer(self) -> "BlobWriter": ...

    def read(self, digest: str, offset: int = 0, limit: int | None = None) -> bytes:
        """Raises StoreError for an unknown digest."""
        ...

    def size(self, digest: str) -> int:
        """In bytes. Raises StoreError for an unknown digest."""
        ...


class BlobWriter(Protocol):
    """Collects one blob; nothing is visible under its digest before `finish`."""

    def write(self, data: bytes) -> None: ...

    def so_far(self, offset: int, limit: int, then: bytes = b"") -> tuple[bytes, int]:
        """A slice of what the blob would be if `then` was written and it was finished now, and its size. Raises StoreError."""
        ...

    def finish(self) -> str:
        """Make the blob durable and return its sha256 as hex."""
        ...

    def discard(self) -> None: ...
