"""All sessions of one person: making, finding, opening and removing them."""

import re
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ferrule import __version__
from ferrule.types.errors import LeaseHeld, StoreError, UsageError
from ferrule.types.records import SessionOpened

from .blobs import FileBlobs
from .chain import Row
from .ids import SHAPE, match, new_id
from .index import SessionInfo, read_index, summarize
from .journal import SqliteJournal, create_journal, open_journal, restore_journal
from .lease import FileLease, Former, seize_lease, take_lease
from .private import make_folder, sync_folder
from .reading import FORMAT, JournalReader

DAY = 86_400.0
HEX = re.compile(rb"[0-9a-f]{64,}")


class Sessions:
    """The sessions below one state folder. Nothing is made on disk before the first session is.

    `preimages` are what files held before tools wrote them, for an undo; nothing that a model can ask for is read from there.
    """

    def __init__(self, state: Path) -> None:
        self.state = state
        self.blobs = FileBlobs(state / "blobs")
        self.preimages = FileBlobs(state / "preimages")
        self._folder = state / "sessions"
        self._index = state / "index.db"

    def create(self, folder: str, contract: str) -> SqliteJournal:
        """A new session in a project folder, open for writing, its first record written."""
        self._make_folders()
        try:
            return self._create(SessionOpened(FORMAT, __version__, folder, contract))
        except OSError as error:
            raise StoreError(f"No session can be made in {self.state}: {error.strerror}.") from error

    async def restore(self, id: str, rows: Iterable[Row]) -> None:
        """Make a session of records that were checked. Raises UsageError where there is one with this id, StoreError."""
        self._make_folders()
        lease = take_lease(self._lock(id))
        try:
            journal = restore_journal(self._journal(id), rows, lease)
            sync_folder(self._folder)
            await journal.close()
        except FileExistsError:
            raise UsageError(f"Session {id} is here already. Nothing was imported.") from None
        finally:
            lease.release()

    def open(self, written: str) -> SqliteJournal:
        """Open for writing. Raises UsageError for an unknown or ambiguous id, LeaseHeld, StoreError."""
        id = self.find(written)
        return self._open(id, take_lease(self._lock(id)))

    def take_over(self, written: str) -> tuple[SqliteJournal, Former | None]:
        """As `open`, also while somebody else writes: then with who that was, who can store nothing more from here on.

        Raises LeaseHeld only where another one took it over at the same moment.
        """
        id = self.find(written)
        with suppress(LeaseHeld):
            return self.open(id), None
        try:
            former = Former(self._lock(id))
        except OSError:
            return self.open(id), None
        try:
            return self._open(id, seize_lease(self._lock(id))), former
        except BaseException:
            former.close()
            raise

    def busy(self, id: str) -> bool:
        """Whether somebody has the session open for writing at this moment."""
        try:
            holder = Former(self._lock(id))
        except OSError:
            return False
        try:
            return not holder.gone()
        finally:
            holder.close()

    def reader(self, written: str) -> JournalReader:
        """Open for reading, also while somebody writes. Raises UsageError, StoreError."""
        return self._reader(self.find(written))

    def find(self, written: str) -> str:
        """The full id that `written` means. Raises UsageError."""
        return match(written, self._ids())

    def list(self, folder: str | None = None) -> tuple[SessionInfo, ...]:
        """Sessions of a project folder, or all; the one written last comes first."""
        infos = read_index(self._index, self._folder) if self._folder.exists() else ()
        return tuple(info for info in infos if folder is None or info.folder == folder)

    def latest(self, folder: str, contract: str | None = None) -> SessionInfo | None:
        """The session that `-c` goes on with: the last one of the folder, and of the contract where one is named."""
        return next((info for info in self.list(folder) if contract in (None, info.contract)), None)

    def remove(self, written: str) -> None:
        """Remove a session and the outputs that only it names. Raises LeaseHeld while it is open for writing."""
        id = self.find(written)
        digests = self._digests_or_none(id)
        self._remove(id)
        self._collect(digests)

    def prune(self, days: float, now: float | None = None) -> tuple[str, ...]:
        """Remove what was not written for `days`, and what killed writers left. Open and damaged sessions stay."""
        before = (time.time() if now is None else now) - days * DAY
        removed: list[str] = []
        digests: set[str] = set()
        for info in self.list():
            if info.updated >= before or info.problem:
                continue
            found = self._digests_or_none(info.id)
            try:
                self._remove(info.id)
            except LeaseHeld:
                continue
            removed.append(info.id)
            digests |= found
        self._collect(digests)
        self._remove_unbegun(min(before, time.time() - DAY))
        for blobs in (self.blobs, self.preimages):
            blobs.remove_unfinished(min(before, time.time() - DAY))
        return tuple(removed)

    def _open(self, id: str, lease: FileLease) -> SqliteJournal:
        try:
            return open_journal(self._journal(id), lease)
        except BaseException:
            lease.release()
            raise

    def _make_folders(self) -> None:
        try:
            if not self.state.exists():
                make_folder(self.state)
            make_folder(self._folder)
        except OSError as error:
            raise StoreError(f"No session can be made in {self.state}: {error.strerror}.") from error

    def _create(self, opened: SessionOpened) -> SqliteJournal:
        while True:
            id = new_id(time.time())
            try:
                lease = take_lease(self._lock(id))
            except LeaseHeld:
                continue
            try:
                journal = create_journal(self._journal(id), opened, lease)
                sync_folder(self._folder)
                return journal
            except FileExistsError:
                lease.release()
            except BaseException:
                lease.release()
                raise

    def _remove(self, id: str) -> None:
        lease = take_lease(self._lock(id))
        try:
            path = self._journal(id)
            for name in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal")), self._lock(id)):
                name.unlink(missing_ok=True)
            sync_folder(self._folder)
        except OSError as error:
            raise StoreError(f"Session {id} cannot be removed: {error.strerror}.") from error
        finally:
            lease.release()

    def _remove_unbegun(self, before: float) -> None:
        """Files of sessions whose first record was never written."""
        for id in self._ids():
            path = self._journal(id)
            if path.exists() and path.stat().st_mtime < before and summarize(path) is None:
                with suppress(LeaseHeld):
                    self._remove(id)

    def _digests(self, id: str) -> set[str]:
        """What a session names anywhere that looks like the digest of an output. Raises StoreError."""
        return {
            run[at : at + 64].decode()
            for payload in self._reader(id).payloads()
            for run in HEX.findall(payload)
            for at in range(len(run) - 63)
        }

    def _digests_or_none(self, id: str) -> set[str]:
        """As `_digests`; none of a journal that cannot be read."""
        try:
            return self._digests(id)
        except StoreError:
            return set()

    def _collect(self, digests: set[str]) -> None:
        """Remove those of these outputs and preimages that no session names any more; none while a session cannot be read."""
        stored = digests & {*self.blobs.all(), *self.preimages.all()} if digests else set()
        try:
            for id in self._ids() if stored else ():
                stored -= self._digests(id)
        except StoreError:
            return
        for digest in stored:
            self.blobs.remove(digest)
            self.preimages.remove(digest)

    def _reader(self, id: str) -> JournalReader:
        return JournalReader(self._journal(id), id)

    def _ids(self) -> tuple[str, ...]:
        try:
            names = [path.name for path in self._folder.iterdir()]
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise StoreError(f"{self._folder} cannot be read: {error.strerror}.") from error
        return tuple(id for name in names if name.endswith(".db") and SHAPE.fullmatch(id := name.removesuffix(".db")))

    def _journal(self, id: str) -> Path:
        return self._folder / f"{id}.db"

    def _lock(self, id: str) -> Path:
        return self._folder / f"{id}.lock"
