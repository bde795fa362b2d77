"""The paths that are known, and what of them a query finds. Not for several threads at once."""

import heapq
from collections.abc import Callable, Iterable, Sequence, Set

from .matching import Keep, Query, Rank, Shelf, count

SHELF = 16_384
"""Paths of one shelf: matched in about two milliseconds, which is how soon a query can be stopped."""
SPARE = 8
"""Shelves more than needed, and thousands of removed paths in them, before all are made anew."""


class Stopped(Exception):
    """Nobody waits for the answer any more."""


class Index:
    """Paths as in `found.Item`. What is removed stays on its shelf as dead until the shelves are made anew."""

    def __init__(self, shelf: int = SHELF) -> None:
        self._size = shelf
        self._loaded: list[list[str]] = []
        self._known: set[str] = set()
        self._shelves: list[Shelf] = []
        self._fresh: list[str] = []
        self._fresh_shelf: Shelf | None = None
        self._dead: set[str] = set()

    @property
    def known(self) -> set[str]:
        self._unload()
        return self._known

    def load(self, paths: list[str]) -> None:
        """Of a first listing, which names everything once: quick, the work is left to who needs it first."""
        self._loaded.append(paths)

    def add(self, paths: Iterable[str]) -> None:
        fresh = set(paths) - self.known
        self._known |= fresh
        if self._dead:
            revived = self._dead & fresh
            self._dead -= revived
            fresh -= revived
        if fresh:
            self._fresh += fresh
            self._fresh_shelf = None
        if len(self._fresh) >= self._size:
            self._shelves.append(Shelf(self._fresh))
            self._fresh = []
        self._tidy()

    def warm(self) -> None:
        """So that the first query need not wait for what every query needs."""
        for shelf in self._every():
            shelf.forms()

    def remove(self, paths: Iterable[str]) -> None:
        """What is known of these, and what lies below those of them that are folders."""
        gone = self.known.intersection(paths)
        folders = tuple(path for path in gone if path.endswith("/"))
        if folders:
            gone.update(path for path in self.known if path.startswith(folders))
        self._known -= gone
        self._dead |= gone
        self._tidy()

    def children(self, folders: Set[str]) -> dict[str, set[str]]:
        """What lies directly in each of these; the root is the empty text."""
        found: dict[str, set[str]] = {folder: set() for folder in folders}
        for path in self.known:
            if (holds := found.get(parent(path))) is not None:
                holds.add(path)
        return found

    def search(
        self,
        text: str,
        limit: int,
        recent: Sequence[str] = (),
        keep: Keep | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> tuple[list[str], int]:
        """The best paths, and how many match. Those in `recent` come first, in that order where they match equally well."""
        query = Query(text)
        first = self._first(query, recent, limit, keep)
        wanted = limit + len(first)
        matchers = query.matchers(wanted + len(self._dead) if keep is None else None) if query else None
        chosen, ranks, total = set(first), list[Rank](), 0
        for shelf in self._every():
            if stopped():
                raise Stopped
            hits = shelf.search(matchers, wanted, self._dead, keep)
            ranks += hits.best
            total += hits.total
        if keep is None and self._dead:
            total -= count(list(self._dead), matchers)
        rest = [path for _, _, path in heapq.nsmallest(wanted, ranks) if path not in chosen]
        return [*first, *rest][:limit], total

    def _first(self, query: Query, recent: Sequence[str], limit: int, keep: Keep | None) -> list[str]:
        known = [path for path in dict.fromkeys(recent) if path in self.known and (keep is None or keep(path))]
        if not query or not known:
            return known[:limit]
        order = {path: at for at, path in enumerate(known)}
        ranks = Shelf(known).search(query.matchers(), len(known), set(), None).best
        return [path for _, _, path in sorted(ranks, key=lambda rank: (rank[0], order[rank[2]]))][:limit]

    def _unload(self) -> None:
        for paths in self._loaded:
            self._known.update(paths)
            self._shelves.append(Shelf(paths))
        self._loaded = []

    def _every(self) -> list[Shelf]:
        self._unload()
        if self._fresh and self._fresh_shelf is None:
            self._fresh_shelf = Shelf(self._fresh)
        return [*self._shelves, *([self._fresh_shelf] if self._fresh_shelf else [])]

    def _tidy(self) -> None:
        if len(self._dead) <= 1000 * SPARE and len(self._shelves) <= len(self.known) // self._size + SPARE:
            return
        living = sorted(self.known, key=len)
        self._shelves = [Shelf(living[at : at + self._size]) for at in range(0, len(living), self._size)]
        self._fresh, self._fresh_shelf, self._dead = [], None, set()


def parent(path: str) -> str:
    """The folder that a path lies in; the empty text for the root."""
    return path[: path.rfind("/", 0, -1) + 1]
