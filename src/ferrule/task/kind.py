"""What makes a task of one kind: its contract, its tools and its prompt. Opening a task needs nothing else to know about it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ferrule.attempt.log import Log
from ferrule.process.protocol import Processes
from ferrule.providers.base import Provider
from ferrule.store.folds import Conversation
from ferrule.tools.base import Place, Tool

from .config.schema import Config
from .contracts import Contract


@dataclass(frozen=True)
class TaskOptions:
    """`prompt` None means to go on as things stand. `resume` is a session id, its beginning, or `latest` (of this folder)."""

    prompt: str | None
    folder: Path
    config: Config
    environ: Mapping[str, str]
    user_folder: Path
    extra: tuple[Path, ...] = ()
    resume: str | None = None
    no_session: bool = False
    append_system_prompt: str = ""


@dataclass(frozen=True)
class Opening:
    """What a kind builds its parts from, once the session is open. `began` is when the session began, in Unix seconds."""

    options: TaskOptions
    place: Place
    log: Log
    processes: Processes
    environment: tuple[tuple[str, str], ...]
    began: float

    @property
    def conversation(self) -> Conversation:
        return self.log.conversation


@dataclass(frozen=True)
class Kind:
    """`provider` None: the model is chosen by configuration, session and keys; otherwise it plays the model itself."""

    contract: Contract
    tools: Callable[[Opening], tuple[Tool, ...]]
    sections: Callable[[Opening], tuple[str, ...]]
    provider: Provider | None = None
