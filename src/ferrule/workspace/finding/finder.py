"""One service for everybody who looks for files and folders of a project by name: an index that follows what happens on disk."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ferrule.process.protocol import Processes
from ferrule.types.found import Found, Item

from .following import allowed, hidden
from .index import Index, Stopped
from .keeper import Keeper
from .listing import Environment
from .matching import Keep, Query

STALE = 2.0
"""Seconds after which the files are listed anew for a query where changes cannot be followed."""
WAITING = "The folder is still being looked through."


class Finder:
    """Answers from the beginning, with what is known by then."""

    def __init__(self, root: Path, keeper: Keeper) -> None:
        self._root = root
        self._keeper = keeper

    @classmethod
    def open(cls, root: Path, processes: Processes, environment: Environment, follow: bool = True) -> "Finder":
        """Begin to fill an index of what lies below `root`, an absolute path free of links, within a running loop.

        `follow`: a program watches and the index follows; without, it is as old as its beginning, for who asks once.
        """
        return cls(root, Keeper(root, processes, environment, follow))

    async def query(self, text: str, limit: int = 20, recent: Sequence[str] = (), keep: Keep | None = None) -> Found:
        """The best matches for a typed text; of those in `recent`, paths as in `Item`, the matching ones first.

        `keep` restricts what is looked among; it is called in another thread. Cancelling ends the search.
        """
        keeper = self._keeper
        if keeper.deaf and asyncio.get_running_loop().time() > keeper.began + STALE:
            keeper.refresh()
        cancelled = threading.Event()
        search = partial(_search, keeper.index, self._root, text, limit, recent, keep, cancelled.is_set)
        try:
            items, total, known = await keeper.run(search)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        settled = keeper.settled.is_set()
        remarks = (keeper.remark, keeper.deaf, "" if settled else WAITING)
        return Found(items, total, known, settled and not keeper.remark, " ".join(filter(None, remarks)))

    async def files(self) -> list[str]:
        """Every file that is known and that no ignore file of ours means, as in `Item`."""
        index = self._keeper.index
        return await self._keeper.run(partial(_files, index, self._root))

    async def settled(self, seconds: float) -> bool:
        """Wait until everything was looked through, at most so long."""
        return await _within(self._keeper.settled, seconds)

    async def listed(self, seconds: float) -> bool:
        """Wait until every ordinary file is known; links and empty folders may come later."""
        return await _within(self._keeper.listed, seconds)

    async def close(self) -> None:
        await self._keeper.close()


async def _within(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True


def _files(index: Index, root: Path) -> list[str]:
    return sorted(allowed(root, [path for path in index.known if not path.endswith("/")]), key=lambda path: (len(path), path))


def _search(
    index: Index, root: Path, text: str, limit: int, recent: Sequence[str], keep: Keep | None, cancelled: Callable[[], bool]
) -> tuple[tuple[Item, ...], int, int]:
    try:
        paths, total = _allowed(index, root, text, limit, recent, keep, cancelled)
    except Stopped:
        return (), 0, 0
    query = Query(text)
    return tuple(Item(path, query.marks(path)) for path in paths), total, len(index.known)


def _allowed(
    index: Index, root: Path, text: str, limit: int, recent: Sequence[str], keep: Keep | None, cancelled: Callable[[], bool]
) -> tuple[list[str], int]:
    """What ignore files mean at this moment is never an answer, however old the index is."""
    means = hidden(root)
    asked = limit
    while True:
        paths, total = index.search(text, asked, recent, keep, cancelled)
        allowed = [path for path in paths if not means(path)]
        if len(allowed) >= limit or len(paths) < asked:
            return allowed[:limit], total - (len(paths) - len(allowed))
        asked *= 2
