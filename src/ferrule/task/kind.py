"""What makes a task of one kind: its contract, its tools and its prompt. Opening a task needs nothing else to know about it."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from ferrule.attempt.hooks import NO_HOOKS, Hooks
from ferrule.attempt.log import Log
from ferrule.context.secrets import Mask
from ferrule.process.protocol import Processes
from ferrule.providers.base import Provider
from ferrule.store.folds import Conversation
from ferrule.tools.base import Place, Tool
from ferrule.tools.command.jobs import Jobs
from ferrule.types.records import Entry, ModelChosen

from .config.schema import Config
from .contracts import Contract
from .holding.finding import Finding

IfBusy = Literal["refuse", "wait", "take"]


class TaskOptions(Struct, frozen=True):
    """`prompt` None means to go on as things stand. `resume` is a session id, its beginning, or `latest` (of this folder).

    `if_busy` says what happens where another process has the session open; `told` then hears, in sentences, what goes on.
    """

    prompt: str | None
    folder: Path
    config: Config
    environ: Mapping[str, str]
    user_folder: Path
    extra: tuple[Path, ...] = ()
    resume: str | None = None
    no_session: bool = False
    append_system_prompt: str = ""
    if_busy: IfBusy = "refuse"
    told: Callable[[str], None] = lambda text: None


class Opening(Struct, frozen=True):
    """What a kind builds its parts from, once the session is open. `began` is when the session began, in Unix seconds."""

    options: TaskOptions
    place: Place
    log: Log
    processes: Processes
    environment: tuple[tuple[str, str], ...]
    began: float
    closers: list[Callable[[], Awaitable[None]]]
    hooks: Hooks = NO_HOOKS
    mask: Mask = Mask(())

    @property
    def conversation(self) -> Conversation:
        return self.log.conversation


class Prepared(Struct, frozen=True):
    """What a kind brings into a task. `records` are stored at its beginning; `prompt` is what is asked when nobody typed one.
    `optional` are those of `sections` that a request may go without. `finding` looks for files by name, `jobs` are its
    commands; `remark` is for the person; `allow` are rules beside those that are configured.
    """

    tools: tuple[Tool, ...]
    sections: tuple[str, ...]
    prompt: str | None = None
    records: tuple[Entry, ...] = ()
    optional: tuple[str, ...] = ()
    finding: Finding | None = None
    remark: str = ""
    allow: tuple[str, ...] = ()
    jobs: Jobs | None = None


class Kind(Struct, frozen=True):
    """`provider` gives what plays the model where it is not chosen by configuration, session and keys; it is told what the
    session used last.

    `prepare` may raise UsageError; what it opens it adds to the opening's `closers`. `secrets` are names and values, beside those
    of the environment and the model, that must not be seen in any output.
    """

    contract: Contract
    prepare: Callable[[Opening], Awaitable[Prepared]]
    provider: Callable[[TaskOptions, ModelChosen | None], Provider | None] = lambda options, last: None
    secrets: Callable[[TaskOptions], tuple[tuple[str, str], ...]] = lambda options: ()
