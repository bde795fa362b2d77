"""The entries of a journal: one struct a kind, the kind is its tag. A prefix of a journal is a valid journal."""

from typing import Literal

from msgspec import Struct

from .fault import Fault
from .messages import Assistant, AssistantPart, ToolResult, User
from .outcome import Outcome
from .review import Finding
from .tools import Effect, End, FileChange, FileState, GateResult, Question, Todo
from .usage import NOTHING, Limits, Usage


class SessionOpened(Struct, frozen=True, tag="session"):
    """The first record. `folder` is absolute and spelled as in `names`; `format` is the version of the journal's layout."""

    format: int
    ferrule: str
    folder: str
    contract: str


class UserSaid(Struct, frozen=True, tag="user"):
    """`origin`: what the person typed, or a reminder that Ferrule added, or word of an interruption, or a note of a hook, or word
    of background processes that have ended."""

    message: User
    origin: Literal["person", "reminder", "note", "hook", "process"]


class ModelChosen(Struct, frozen=True, tag="model"):
    """From here on calls go to `model` (`dialect/NAME`, or `SERVER/NAME` of the configuration) at `endpoint` (a base URL or a
    script's path). `found`: nobody named it; it was found on this machine."""

    model: str
    endpoint: str
    found: bool = False


class AttemptStarted(Struct, frozen=True, tag="attempt_started"):
    number: int


class PhaseTime(Struct, frozen=True):
    """One phase of an attempt: how often it was entered, and its seconds altogether."""

    name: str
    times: int
    seconds: float


class AttemptEnded(Struct, frozen=True, tag="attempt_ended"):
    """`how`: yielded (the model stopped without a call), ended, waiting, failed, limit, stuck, blocked (by a hook, or no tool
    could be offered), interrupted, shrunk (results were cut instead of asking), overflow (only a compaction makes room).

    `unanswered` is what a last model call used that no `assistant` record tells of: it failed, was refused or came back empty.
    A `retry` that follows says it once more. `phases` in their order, those left out that were not reached.
    """

    number: int
    how: str
    seconds: float
    unanswered: Usage = NOTHING
    phases: tuple[PhaseTime, ...] = ()


class AssistantSaid(Struct, frozen=True, tag="assistant"):
    """A complete answer, stored before any of its calls starts (law 2)."""

    message: Assistant
    usage: Usage
    seconds: float


class Approval(Struct, frozen=True, tag="approval"):
    """A decision about one call; `by` is a rule, a flag or the person; `digest` is sha256 of the call's name and arguments."""

    call_id: str
    digest: str
    decision: Literal["allow", "deny"]
    by: str
    reason: str = ""
    flag: str = ""


class CallStarted(Struct, frozen=True, tag="call_started"):
    """Durable before the effect (law 3). `files` are those that it may write, as they were before (`after` is None).

    `before` has them once more, with all that an undo needs, and the folders above them that were missing.
    """

    call_id: str
    name: str
    effect: Effect
    files: tuple[FileChange, ...] = ()
    before: tuple[FileState, ...] = ()


def inner(id: str) -> str:
    """The id of the call that a call makes: it has records of its own, and no assistant message holds it."""
    return f"{id}.1"


def outermost(id: str) -> str:
    """The id of the call in an assistant message that led to a call."""
    return id.partition(".")[0]


class CallFinished(Struct, frozen=True, tag="call_finished"):
    """Durable after the effect. `ends` is set when the call was an accepted terminal action.

    `after` has the paths of the call's `before` as it left them; empty where nobody looked, because it was broken off.
    """

    result: ToolResult
    seconds: float
    changes: tuple[FileChange, ...] = ()
    gates: tuple[GateResult, ...] = ()
    ends: End | None = None
    after: tuple[FileState, ...] = ()


class Asked(Struct, frozen=True, tag="question"):
    """The call stays open until an `answer` with its id."""

    call_id: str
    question: Question


class Answered(Struct, frozen=True, tag="answer"):
    call_id: str
    text: str


class TodosSet(Struct, frozen=True, tag="todo"):
    todos: tuple[Todo, ...]


class Reviewed(Struct, frozen=True, tag="subject"):
    """What a review is of. `content` is the commit, or the tree of the index or of the working tree; `paths` restrict it."""

    kind: Literal["worktree", "staged", "commit", "range"]
    base: str | None
    content: str
    paths: tuple[str, ...] = ()


class Staged(Struct, frozen=True, tag="staged"):
    """A finding of a review, stored together with the result of the call that staged it."""

    call_id: str
    finding: Finding


class Retried(Struct, frozen=True, tag="retry"):
    """A model call failed and is made again after `delay` seconds; `partial` is what had arrived and is superseded.

    `to` names who is asked instead, where that is somebody else: a model, or a model with its second or a later key.
    """

    fault: Fault
    delay: float
    partial: tuple[AssistantPart, ...]
    usage: Usage
    to: str = ""


class Repaired(Struct, frozen=True, tag="repair"):
    """Something was repaired in the view or on the way in; `what` is one line a change. The journal itself stays as it is.

    `stripped`: the provider refused the reasoning of earlier answers, so that requests from here on leave out all reasoning and
    signatures of the messages before this record.
    """

    by: str
    what: tuple[str, ...]
    stripped: bool = False


class Cut(Struct, frozen=True):
    """A result that is sent shortened: the first `head` and the last `tail` characters of its text, a marker between them.

    `coming`: it was cut before it was sent for the first time, and may be cut once more to make room.
    """

    call_id: str
    head: int
    tail: int
    coming: bool = False


class Shrunk(Struct, frozen=True, tag="shrunk"):
    """What requests from here on send in a shorter form (law 8); the journal keeps everything.

    `results` are cut. With `messages` above 0, that many messages from the beginning of the transcript, as it was before this
    record, are sent as the person's own words among them, `todos`, and `summary`. `before` and `after` are estimated tokens of
    the request; `usage` is what making the summary used.
    """

    why: Literal["preflight", "overflow", "timeout", "asked"]
    results: tuple[Cut, ...] = ()
    messages: int = 0
    summary: str = ""
    todos: tuple[Todo, ...] = ()
    before: int = 0
    after: int = 0
    usage: Usage = NOTHING
    seconds: float = 0.0


class Undoing(Struct, frozen=True, tag="undoing"):
    """Durable before an undo touches anything: what stood after record `to` is to stand again, of `files` or `conversation`.

    `before` are the paths as they were found, their content kept, `after` as they are to be.
    """

    to: int
    files: bool = True
    conversation: bool = False
    before: tuple[FileState, ...] = ()
    after: tuple[FileState, ...] = ()


class Undone(Struct, frozen=True, tag="undone"):
    """The end of the undo that record `undoing` began. `after` are its paths as it left them, `changes` those that it changed.

    With `conversation`, requests from here on show the conversation as it was after record `to` (law 8: the records stay).
    """

    undoing: int
    to: int
    conversation: bool = False
    after: tuple[FileState, ...] = ()
    changes: tuple[FileChange, ...] = ()


class HookRan(Struct, frozen=True, tag="hook"):
    """One run of one of the person's hooks. `verdict`: pass, note, change, ask, block, replace, summary, cancel, revise, failed.

    `closed`: what it was asked about did not go on because it failed. `arguments` are those that it put in the place of a call's.
    """

    event: str
    name: str
    verdict: str
    seconds: float
    reason: str = ""
    call_id: str = ""
    closed: bool = False
    arguments: str | None = None


class ProcessEnd(Struct, frozen=True):
    """How a process ended. One of `exit_code` and `signal` is set where its own end was seen; `left` counts what it left behind.

    `stopped`: by the model or the person. `error`: why there is no other end. `output` is the blob of all that it printed, None
    where nothing is kept. `told`: the model knows of it.
    """

    exit_code: int | None = None
    signal: int | None = None
    seconds: float = 0.0
    timed_out: bool = False
    left: int = 0
    stopped: bool = False
    error: str = ""
    output: str | None = None
    told: bool = False


class Process(Struct, frozen=True, tag="process"):
    """A command that can be spoken of by `handle`: the call `call_id` left it in the background, or printed more than was shown.

    With `ended` nothing of it runs any more.
    """

    handle: str
    call_id: str
    command: str
    ended: ProcessEnd | None = None


class DeniedCall(Struct, frozen=True):
    """A call that was not allowed; `digest` and the rest as in its `approval`, the arguments left out."""

    tool: str
    digest: str
    by: str
    reason: str
    flag: str


class Receipt(Struct, frozen=True, tag="receipt"):
    """The evidence of one run. `head` is the hash of the record before this one in its branch.

    `models` were asked; `environment` names the variables that commands were allowed to see beyond the usual ones. `unwatched`
    counts the calls that ran and may have changed something which `changes` does not list (commands). `sandbox` is what confined
    the commands, empty for nothing.
    """

    outcome: Outcome
    terminal_action: str | None
    gates: tuple[GateResult, ...]
    changes: tuple[FileChange, ...]
    usage: Usage
    models: tuple[str, ...]
    environment: tuple[str, ...]
    head: str
    denials: tuple[DeniedCall, ...] = ()
    limits: Limits = Limits()
    unwatched: int = 0
    sandbox: str = ""


class RunEnded(Struct, frozen=True, tag="outcome"):
    """How a run ended. `result` is the model's words or the sentence that says why there are none."""

    outcome: Outcome
    result: str
    error: str | None = None


Entry = (
    SessionOpened
    | UserSaid
    | ModelChosen
    | AttemptStarted
    | AttemptEnded
    | AssistantSaid
    | Approval
    | CallStarted
    | CallFinished
    | Asked
    | Answered
    | TodosSet
    | Reviewed
    | Staged
    | Retried
    | Repaired
    | Shrunk
    | Undoing
    | Undone
    | HookRan
    | Process
    | Receipt
    | RunEnded
)


class Record(Struct, frozen=True):
    """An entry with its place in the chain. `time` is Unix seconds; `hash` covers every other field and the hash before."""

    seq: int
    branch: str
    time: float
    entry: Entry
    hash: str
