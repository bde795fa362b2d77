import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule import __version__
from ferrule.store.database import connect, failure
from ferrule.store.journal import create_journal, open_journal
from ferrule.store.lease import take_lease
from ferrule.store.reading import FORMAT, JournalReader
from ferrule.store.sessions import Sessions
from ferrule.types.errors import LeaseLost, StoreError, UsageError
from ferrule.types.records import SessionOpened

from .entries import law, said
from .processes import writer
from .use import append, close, records

ID = "20261130-142233-x7kq"


@pytest.fixture(scope="module")
def killed() -> tuple[bytes, bytes]:
    """The journal and the write-ahead log of a writer that was killed; some records are in each."""
    with TemporaryDirectory() as folder, writer() as doomed:
        id = doomed.ask("create", folder, "/project").removeprefix("opened ")
        path = Path(folder, "sessions", f"{id}.db")
        doomed.send("loop", 9_000)
        while int(doomed.stdout.readline()) < 600:
            pass
        doomed.kill()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE lease SET session = ?", (ID,))
            connection.commit()
            return path.read_bytes(), path.with_name(path.name + "-wal").read_bytes()


def put(folder: str, journal: bytes, log: bytes) -> Path:
    path = Path(folder, "sessions", f"{ID}.db")
    path.parent.mkdir()
    path.write_bytes(journal)
    path.with_name(path.name + "-wal").write_bytes(log)
    return path


def try_everything(folder: str) -> None:
    """Each use works or fails with a StoreError; a journal that opens, opens for writing too or says why not."""
    sessions = Sessions(Path(folder))
    uses: tuple[Callable[[], object], ...] = (
        lambda: sessions.reader(ID).verify(),
        lambda: records(sessions.reader(ID)),
        lambda: sessions.list(),
        lambda: write_once(sessions),
    )
    for use in uses:
        try:
            use()
        except StoreError as error:
            assert len(str(error)) > 20


def write_once(sessions: Sessions) -> None:
    journal = sessions.open(ID)
    try:
        append(journal, said("x"))
    finally:
        close(journal)


DAMAGE = st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=64))


def damaged(whole: bytes, cut: float | None, spots: list[tuple[float, bytes]]) -> bytes:
    raw = bytearray(whole if cut is None else whole[: int(cut * len(whole))])
    for place, noise in spots:
        at = int(place * len(raw))
        raw[at : at + len(noise)] = noise[: max(len(raw) - at, 0)]
    return bytes(raw)


@law
@given(cut=st.none() | st.floats(0, 1), spots=st.lists(DAMAGE, max_size=4), log_too=st.booleans())
def test_damaged_journal_is_an_error_in_words_and_never_deleted(
    killed: tuple[bytes, bytes], cut: float | None, spots: list[tuple[float, bytes]], log_too: bool
) -> None:
    with TemporaryDirectory() as folder:
        path = put(folder, damaged(killed[0], cut, spots), killed[1] if log_too else b"")
        try_everything(folder)
        assert path.exists()


@law
@given(cut=st.none() | st.floats(0, 1), spots=st.lists(DAMAGE, max_size=4))
def test_torn_log_leaves_a_valid_prefix_or_an_error_in_words(
    killed: tuple[bytes, bytes], cut: float | None, spots: list[tuple[float, bytes]]
) -> None:
    with TemporaryDirectory() as folder:
        path = put(folder, killed[0], damaged(killed[1], cut, spots))
        try_everything(folder)
        assert path.exists()


@pytest.mark.parametrize(
    "content", [b"", b"not a database, but long enough to look at" * 200, b"SQLite format 3\0" + b"\xff" * 8000]
)
def test_file_that_is_no_journal_is_refused(tmp_path: Path, content: bytes) -> None:
    path = put(str(tmp_path), content, b"")
    for open in (Sessions(tmp_path).open, Sessions(tmp_path).reader):
        with pytest.raises(StoreError, match=ID):
            open(ID)
    assert path.read_bytes() == content


def test_other_database_is_refused(tmp_path: Path) -> None:
    path = put(str(tmp_path), b"", b"")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    with pytest.raises(StoreError, match="not a journal of Ferrule"):
        Sessions(tmp_path).open(ID)


@pytest.mark.parametrize("ruin", [Path.unlink, lambda path: path.with_suffix(".new").replace(path)])
def test_writer_whose_file_was_removed_or_replaced_acknowledges_nothing(tmp_path: Path, ruin: Callable[[Path], object]) -> None:
    journal = Sessions(tmp_path).create("/project", "code")
    assert journal.path
    journal.path.with_suffix(".new").write_bytes(journal.path.read_bytes())
    ruin(journal.path)
    with pytest.raises(LeaseLost, match="removed or replaced"):
        append(journal, said("into the void"))
    close(journal)


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_disk_that_refuses_is_an_error_and_the_journal_is_whole_after_reopening(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    journal = sessions.create("/project", "code")
    append(journal, said("small"))
    with file_size_limit(100_000), pytest.raises(StoreError, match="The disk failed"):
        append(journal, said("x" * 200_000))
    with pytest.raises(StoreError, match="The disk failed"):
        append(journal, said("after a failed write nothing is promised"))
    close(journal)
    again = sessions.open(journal.session)
    assert [record.seq for record in append(again, said("y" * 200_000))] == [3]
    assert again.verify() is None
    close(again)


def test_log_that_is_refused_means_a_rollback_journal_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / f"{ID}.db"
    path.with_name(path.name + "-shm").symlink_to(tmp_path / "nowhere" / "x")
    opened = SessionOpened(FORMAT, __version__, "/project", "code")
    journal = create_journal(path, opened, take_lease(tmp_path / f"{ID}.lock"))
    assert journal.mode == "delete"
    append(journal, said("a"))
    assert len(records(JournalReader(path, ID))) == 2
    close(journal)
    again = open_journal(path, take_lease(tmp_path / f"{ID}.lock"))
    assert (again.mode, append(again, said("b"))[0].seq) == ("delete", 3)
    close(again)


def test_journal_uses_the_log_here(tmp_path: Path) -> None:
    journal = Sessions(tmp_path).create("/project", "code")
    assert (journal.mode, journal.locked) == ("wal", True)
    close(journal)


def broken(path: Path, *statements: str, mode: str = "rw") -> sqlite3.Error:
    with closing(connect(path, "ro" if mode == "ro" else "rw")) as connection:
        try:
            for statement in statements:
                connection.execute(statement)
        except sqlite3.Error as error:
            return error
    raise AssertionError(statements)


def test_each_failure_of_sqlite_has_its_sentence(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.touch()
    full = broken(path, "PRAGMA max_page_count=2", "CREATE TABLE a (b)", "CREATE TABLE c (d)")
    read_only = broken(path, "CREATE TABLE e (f)", mode="ro")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        busy = broken(path, "PRAGMA busy_timeout=1", "BEGIN IMMEDIATE")
    said = [str(failure(error, path)) for error in (full, read_only, busy)]
    assert said == [
        f"The disk is full; nothing more can be stored in {path}.",
        f"{path} cannot be written: the file or its folder is read-only.",
        f"{path} is in use by another process and did not become free within 2 s.",
    ]
    with pytest.raises(StoreError, match="there is no such file"):
        JournalReader(tmp_path / "missing.db", "missing")


def test_state_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="No session can be made"):
        Sessions(tmp_path / "file" / "below").create("/project", "code")
    assert Sessions(tmp_path / "nowhere").list() == ()
    with pytest.raises(UsageError):
        Sessions(tmp_path / "nowhere").open(ID)
