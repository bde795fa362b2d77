"""What every store must do. A store joins by a harness in STORES (and in SHARED, when its sessions outlive their writer)."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.store.blobs import FileBlobs, TemporaryBlobs
from ferrule.store.chain import Chain, Row
from ferrule.store.journal import memory_journal
from ferrule.store.protocol import Blobs, Journal
from ferrule.store.sessions import Sessions
from ferrule.types.errors import LeaseHeld, LeaseLost, StoreError
from ferrule.types.records import Entry, SessionOpened

from .entries import BRANCHES, ENTRIES, answered, finished, law, said, started
from .use import append, close, records


class Store(Protocol):
    def create(self) -> Journal: ...

    def open(self, session: str) -> Journal: ...

    def let_go(self, session: str) -> None:
        """Make the store believe that the session's writer is dead, though it lives."""


class FileStore:
    def __init__(self) -> None:
        self._folder = TemporaryDirectory()
        self.sessions = Sessions(Path(self._folder.name))
        self._open: list[Journal] = []

    def create(self) -> Journal:
        return self._kept(self.sessions.create("/project", "code"))

    def open(self, session: str) -> Journal:
        return self._kept(self.sessions.open(session))

    def let_go(self, session: str) -> None:
        Path(self._folder.name, "sessions", f"{session}.lock").unlink()

    def end(self) -> None:
        for journal in self._open:
            close(journal)
        self._folder.cleanup()

    def _kept(self, journal: Journal) -> Journal:
        self._open.append(journal)
        return journal


class MemoryStore:
    def __init__(self) -> None:
        self._open: list[Journal] = []

    def create(self) -> Journal:
        self._open.append(memory_journal("/project", "code"))
        return self._open[-1]

    def end(self) -> None:
        for journal in self._open:
            close(journal)


STORES = [FileStore, MemoryStore]
SHARED = [FileStore]


@contextmanager
def running(kind: type) -> Iterator[Store]:
    store = kind()
    try:
        yield store
    finally:
        store.end()


stores = pytest.mark.parametrize("kind", STORES)
shared = pytest.mark.parametrize("kind", SHARED)


@stores
def test_new_journal_holds_the_opening_of_its_session(kind: type) -> None:
    with running(kind) as store:
        journal = store.create()
        (opened,) = records(journal)
        assert isinstance(opened.entry, SessionOpened)
        assert (opened.seq, opened.branch, opened.entry.folder, opened.entry.contract) == (1, "main", "/project", "code")
        assert journal.head() == opened.hash


@stores
@law
@given(batches=st.lists(st.tuples(BRANCHES, st.lists(ENTRIES, max_size=4)), max_size=6))
def test_what_is_appended_is_read_back_in_order_with_its_place_in_the_chain(
    kind: type, batches: list[tuple[str, list[Entry]]]
) -> None:
    with running(kind) as store:
        journal = store.create()
        stored = records(journal)
        for branch, entries in batches:
            added = append(journal, *entries, branch=branch)
            assert [record.entry for record in added] == entries
            assert {record.branch for record in added} <= {branch}
            stored += added
        assert records(journal) == stored
        assert [record.seq for record in stored] == list(range(1, len(stored) + 1))
        for branch in {branch for branch, _ in batches}:
            assert records(journal, branch=branch) == [record for record in stored if record.branch == branch]
            assert journal.head(branch) == next((r.hash for r in reversed(stored) if r.branch == branch), "0" * 64)
        for since in range(len(stored) + 2):
            assert records(journal, since) == stored[since:]


@stores
@law
@given(batches=st.lists(st.tuples(BRANCHES, ENTRIES), max_size=8))
def test_hashes_are_recomputed_from_the_records_alone(kind: type, batches: list[tuple[str, Entry]]) -> None:
    with running(kind) as store:
        journal = store.create()
        for branch, entry in batches:
            append(journal, entry, branch=branch)
        chain = Chain(journal.session)
        for record in records(journal):
            (row,) = chain.following((record.entry,), record.branch.encode())
            told = Row(record.seq, row.branch, row.kind, round(record.time * 1_000_000), row.payload, record.hash.encode())
            assert chain.check(told) is None


@stores
def test_entries_of_one_append_are_stored_together_or_not_at_all(kind: type) -> None:
    with running(kind) as store:
        journal = store.create()
        endless = answered("a", text="x")
        with pytest.raises(StoreError, match="assistant"):
            append(journal, said("one"), type(endless)(endless.message, endless.usage, float("inf")))
        assert [record.seq for record in records(journal)] == [1]
        assert [record.seq for record in append(journal, said("one"), answered("a"), started("a"), finished("a"))] == [2, 3, 4, 5]


@stores
def test_unknown_branch_has_the_empty_head(kind: type) -> None:
    with running(kind) as store:
        assert store.create().head("nowhere") == "0" * 64


@stores
def test_nothing_is_stored_after_close(kind: type) -> None:
    with running(kind) as store:
        journal = store.create()
        close(journal)
        close(journal)
        with pytest.raises(StoreError, match="closed"):
            append(journal, said("late"))


@shared
def test_reopened_session_goes_on_where_it_ended(kind: type) -> None:
    with running(kind) as store:
        first = store.create()
        before = [*records(first), *append(first, said("a")), *append(first, said("b"), branch="sub")]
        close(first)
        second = store.open(first.session)
        assert records(second) == before
        assert (second.head(), second.head("sub")) == (before[1].hash, before[2].hash)
        assert append(second, said("c"))[0].seq == 4


@shared
def test_open_session_is_refused_to_a_second_writer_until_it_is_closed(kind: type) -> None:
    with running(kind) as store:
        first = store.create()
        with pytest.raises(LeaseHeld, match=first.session):
            store.open(first.session)
        append(first, said("undisturbed"))
        close(first)
        assert append(store.open(first.session), said("next"))[0].seq == 3


@shared
def test_superseded_writer_stores_nothing_and_is_told(kind: type) -> None:
    with running(kind) as store:
        stale = store.create()
        store.let_go(stale.session)
        current = store.open(stale.session)
        for _ in range(2):
            with pytest.raises(LeaseLost, match="taken over"):
                append(stale, said("a"), said("b"))
        assert [record.seq for record in append(current, said("c"))] == [2]
        assert len(records(current)) == 2


@shared
def test_check_tells_a_superseded_or_closed_writer_and_stores_nothing(kind: type) -> None:
    with running(kind) as store:
        stale = store.create()
        asyncio.run(stale.check())
        store.let_go(stale.session)
        current = store.open(stale.session)
        with pytest.raises(LeaseLost, match="taken over"):
            asyncio.run(stale.check())
        asyncio.run(current.check())
        assert len(records(current)) == 1
        close(current)
        with pytest.raises(StoreError, match="closed"):
            asyncio.run(current.check())


BLOBS: dict[str, Callable[[Path], Blobs]] = {
    "files": lambda folder: FileBlobs(folder / "blobs"),
    "temporary": lambda folder: TemporaryBlobs(),
}


@pytest.fixture(params=BLOBS)
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Blobs]:
    made = BLOBS[request.param](tmp_path)
    yield made
    if isinstance(made, TemporaryBlobs):
        made.close()


CONTENTS = [b"", b"x", b"line\n" * 50_000, bytes(range(256)) * 9_000]


@pytest.mark.parametrize("content", CONTENTS, ids=len)
@pytest.mark.parametrize("step", [1000, 65_536, 10_000_000])
def test_blob_is_read_back_whole_and_in_slices(blobs: Blobs, content: bytes, step: int) -> None:
    import hashlib

    other = blobs.writer()
    other.write(b"another, finished later")
    writer = blobs.writer()
    for at in range(0, len(content), step):
        writer.write(content[at : at + step])
    digest = writer.finish()
    other_digest = other.finish()
    assert digest == hashlib.sha256(content).hexdigest()
    assert blobs.read(digest) == content
    assert blobs.read(digest, 3, 70_000) == content[3:70_003]
    assert blobs.read(digest, len(content) + 5, 10) == b""
    assert blobs.read(other_digest) == b"another, finished later"


def test_blob_is_unknown_before_it_is_finished_and_after_it_was_discarded(blobs: Blobs) -> None:
    import hashlib

    content = b"y" * 200_000
    writer = blobs.writer()
    writer.write(content)
    with pytest.raises(StoreError, match="No output"):
        blobs.read(hashlib.sha256(content).hexdigest())
    writer.discard()
    writer.discard()
    with pytest.raises(StoreError, match="No output"):
        blobs.read(hashlib.sha256(content).hexdigest())


def test_same_content_stored_twice_is_one_blob(blobs: Blobs) -> None:
    digests = set()
    for _ in range(2):
        writer = blobs.writer()
        writer.write(b"z" * 100_000)
        digests.add(writer.finish())
    (digest,) = digests
    assert blobs.read(digest) == b"z" * 100_000


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "0" * 63, "G" * 64])
def test_what_is_no_digest_is_an_unknown_blob(blobs: Blobs, digest: str) -> None:
    with pytest.raises(StoreError, match="No output"):
        blobs.read(digest)
