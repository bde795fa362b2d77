"""What a tool is: a value with a name, a parameter struct, an effect class and two functions."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from ferrule.process.protocol import Processes
from ferrule.store.protocol import Blobs
from ferrule.types.errors import Hidden, ToolError
from ferrule.types.messages import ToolCall, ToolResult
from ferrule.types.names import spell, unspell
from ferrule.types.tools import Action, Effect, ToolOutput
from ferrule.workspace.ignoring.guard import Guard


class Place(Struct, frozen=True):
    """Where tools work. `root` and `extra` are absolute and free of links; paths in arguments are relative to `root`.

    `show_ignored`: what ignore files keep tools away from is named in listings all the same.
    """

    root: Path
    extra: tuple[Path, ...] = ()
    show_ignored: bool = False

    def locate(self, path: str) -> Path:
        """The absolute path with every link resolved; the file need not exist.

        Takes names as `shown` spells them. Raises ToolError for what cannot be a path: a NUL in it, links in a circle.
        """
        try:
            return self._absolute(path).resolve()
        except (OSError, ValueError, RuntimeError) as problem:
            raise ToolError(f"{path!r} is not a usable path: {problem}") from problem

    def resolve(self, path: str) -> Path:
        """As `locate`, for what a tool is to touch. Raises Hidden for what an ignore file means, whichever way it is reached."""
        located = self.locate(path)
        guard = self.guard()
        why = guard.ignored(str(self._absolute(path))) or guard.ignored(str(located))
        if why is not None:
            raise Hidden(f"{path} {why}", str(located))
        return located

    def _absolute(self, path: str) -> Path:
        return self.root / Path(os.fsdecode(unspell(path))).expanduser()

    def guard(self) -> Guard:
        """What ignore files keep tools away from, as they are right now."""
        return Guard(self.root)

    def holds(self, path: Path) -> bool:
        """Whether a resolved path lies in the workspace."""
        return any(path == base or base in path.parents for base in (self.root, *self.extra))

    def shown(self, path: Path) -> str:
        """How a path is named to the model: relative to `root` where it lies below it, spelled as in `types.names`."""
        return spell(str(path.relative_to(self.root) if path.is_relative_to(self.root) else path))


class Turn(Struct, frozen=True):
    """The other calls of the same assistant message and their results, for tools that judge the turn."""

    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()


class ToolContext(Struct, frozen=True):
    """What a running tool may use. `environment` is the complete environment of its child processes."""

    place: Place
    processes: Processes
    blobs: Blobs
    environment: tuple[tuple[str, str], ...]
    call_id: str = ""
    on_output: Callable[[str], None] = lambda text: None
    turn: Turn = field(default_factory=Turn)


class Given(Struct, frozen=True):
    """The arguments of a tool whose parameters somebody else describes, as they came."""

    arguments: dict[str, Any]


class Tool(Struct, frozen=True):
    """`actions` is pure apart from resolving paths; `run` returns an output or raises ToolError, whose text the model sees.

    `terminal`: its call is judged after all other calls of its turn. `sequential`: although it only reads, it never runs beside
    other calls.
    `description` is one paragraph for the model; parameter fields carry their own text in `msgspec.Meta(description=…)`.
    `foreign`: the JSON Schema, as text, of parameters that somebody else describes and checks; `params` is `Given` then.
    """

    name: str
    description: str
    params: type[Struct]
    effect: Effect
    actions: Callable[[Any, Place], tuple[Action, ...]]
    run: Callable[[Any, ToolContext], Awaitable[ToolOutput]]
    terminal: bool = False
    sequential: bool = False
    foreign: str | None = None


def no_actions(params: Any, place: Place) -> tuple[Action, ...]:
    """Of tools that touch nothing outside the task."""
    return ()
