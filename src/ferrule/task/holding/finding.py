"""Finding files and folders by name: one index a task, begun when somebody first asks, for its tools and its fronts alike."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule.process.protocol import Processes
from ferrule.task.closing import Closer
from ferrule.tools.base import Place
from ferrule.types.found import Found

if TYPE_CHECKING:
    from ferrule.workspace.finding.finder import Finder


class Finding:
    """What it opens it adds to `closers`."""

    def __init__(
        self, place: Place, processes: Processes, environment: tuple[tuple[str, str], ...], closers: list[Closer]
    ) -> None:
        self._place = place
        self._processes = processes
        self._environment = environment
        self._closers = closers
        self._finder: Finder | None = None

    def finder(self) -> "Finder":
        from ferrule.workspace.finding.finder import Finder

        if self._finder is None:
            self._finder = Finder.open(self._place.root, self._processes, self._environment)
            self._closers.append(self._finder.close)
        return self._finder

    async def query(self, text: str, limit: int = 20, recent: Sequence[str] = ()) -> Found:
        """The best matches for what somebody has typed so far. Cancel it at the next key."""
        return await self.finder().query(text, limit, recent)
