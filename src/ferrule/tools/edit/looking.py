"""New problems in edited files, as the editing tools tell them."""

from typing import TYPE_CHECKING, Literal

from ferrule.tools.base import Place, ToolContext
from ferrule.workspace.diagnostics.edited import Edited

if TYPE_CHECKING:
    from ferrule.workspace.diagnostics.watch import Watch


class Looking:
    """Looks at edited files from the first of them on; one for a session. What it starts, `close` ends."""

    def __init__(
        self, setting: Literal["off", "checks", "servers"], place: Place, environment: tuple[tuple[str, str], ...]
    ) -> None:
        self._setting = setting
        self._place = place
        self._environment = environment
        self._watch: Watch | None = None

    async def look(self, edited: tuple[Edited, ...], context: ToolContext) -> str:
        """What follows the result of an edit, empty where nothing is new."""
        from ferrule.workspace.diagnostics.watch import Watch

        if self._setting == "off":
            return ""
        if self._watch is None:
            self._watch = Watch(self._place.root, self._environment, self._setting)
        said = await self._watch.look(edited, context.processes)
        return f"\n\n{said}" if said else ""

    async def close(self) -> None:
        """May be called again."""
        if self._watch is not None:
            await self._watch.close()
