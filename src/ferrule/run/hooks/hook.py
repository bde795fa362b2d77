"""A hook as it is configured."""

from fnmatch import fnmatchcase
from typing import Literal

from msgspec import Struct

Event = Literal["session_start", "before_model", "before_tool", "after_tool", "before_compact", "before_finalize", "after_task"]
OF_TOOLS = frozenset({"before_tool", "after_tool", "before_finalize"})
"""Events that are about a call, so that `match` means something."""

CLOSED = frozenset({"before_tool", "before_finalize"})
"""Events whose hooks fail closed unless they say otherwise."""

SHOWN = 60


class Hook(Struct, frozen=True, omit_defaults=True):
    """`command` is a line for the shell, `python` is `module:function` or a name of the entry point group `ferrule.hooks`.

    `match` holds patterns of tool names with `|` between them; `timeout` in seconds. Of a hook that fails or is silent for too
    long, `open` means that things go on as if it were not there, `closed` that what it was asked about does not go on.
    """

    event: Event
    command: str = ""
    python: str = ""
    name: str = ""
    match: str = "*"
    timeout: float = 30.0
    on_failure: Literal["open", "closed", ""] = ""

    @property
    def shown(self) -> str:
        said = self.name or self.python or self.command
        return said if len(said) <= SHOWN else said[: SHOWN - 1] + "…"

    @property
    def closed(self) -> bool:
        return self.on_failure == "closed" or (not self.on_failure and self.event in CLOSED)

    def matches(self, tool: str) -> bool:
        return any(fnmatchcase(tool, pattern.strip()) for pattern in self.match.split("|"))
