"""What a run reports to whoever started it, and what a front sees while it lasts."""

from msgspec import Struct

from .outcome import Outcome
from .records import Record
from .stream import StreamEvent
from .tools import GateResult, Question
from .usage import Limits as Limits
from .usage import Usage


class Denial(Struct, frozen=True):
    """A call that was not allowed, and the flag that would have allowed it."""

    tool: str
    what: str
    reason: str
    flag: str


class RunResult(Struct, frozen=True):
    """The JSON result (design section 7). `models` were asked, `model` would be asked next. `unstored`: the run's journal could
    not be written, so that only this tells of it."""

    schema_version: int
    session_id: str | None
    task_id: str
    outcome: Outcome
    exit_code: int
    result: str
    verification: tuple[GateResult, ...]
    denials: tuple[Denial, ...]
    limits: Limits
    usage: Usage
    cost_usd: float | None
    turns: int
    files_changed: tuple[str, ...]
    receipt: str | None
    model: str
    question: Question | None = None
    error: str | None = None
    unstored: bool = False
    models: tuple[str, ...] = ()


class RecordAdded(Struct, frozen=True, tag="record"):
    """A record became durable."""

    record: Record


class Streaming(Struct, frozen=True, tag="streaming"):
    """A model call yielded something; not stored."""

    event: StreamEvent


class Output(Struct, frozen=True, tag="output"):
    """A running tool call printed something; not stored here."""

    call_id: str
    text: str


TaskEvent = RecordAdded | Streaming | Output
