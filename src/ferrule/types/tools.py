"""What a tool is told, what policy judges about it, and what it gives back."""

from enum import StrEnum
from typing import Literal

from msgspec import Struct

from .messages import Image, ResultKind, Text
from .outcome import Outcome
from .review import Finding


class Effect(StrEnum):
    """What running a call again after a crash would do (law 3). EXTERNAL acts on something that is not on this machine."""

    READ = "read"
    IDEMPOTENT = "idempotent"
    MUTATING = "mutating"
    EXTERNAL = "external"

    @property
    def repeatable(self) -> bool:
        return self in (Effect.READ, Effect.IDEMPOTENT)


ActionKind = Literal["read", "write", "execute", "network", "mcp", "ask"]


class Action(Struct, frozen=True):
    """One thing that a call would do.

    `paths` are absolute, with links resolved; `command` is the whole command line of an `execute`, which policy parses, what a
    `network` reaches, and of an `mcp` the server and its tool, `server/tool`.
    """

    kind: ActionKind
    paths: tuple[str, ...] = ()
    command: str = ""


class Option(Struct, frozen=True):
    """A suggested answer; choosing it may switch to `mode`."""

    text: str
    mode: str | None = None


class Question(Struct, frozen=True):
    text: str
    options: tuple[Option, ...]


class FileChange(Struct, frozen=True):
    """A file written by a call; sha256 hex before and after, None where there was or is no file."""

    path: str
    before: str | None
    after: str | None


class FileState(Struct, frozen=True, omit_defaults=True):
    """What stands at a path, which is spelled as in `FileChange`: a file with its content and mode bits, a link with its target.

    `lost` says why a file's content was not kept for an undo, empty where it was, and where nothing was to be kept.
    """

    path: str
    kind: Literal["nothing", "file", "link", "folder", "other"]
    sha256: str | None = None
    mode: int | None = None
    target: str | None = None
    lost: str = ""


class GateResult(Struct, frozen=True):
    """One check that a terminal action had to pass, and its evidence (a command, its exit code, a digest of its output).

    `changed_tests` are the files by which the command judges and which this run changed itself, filled in when it ends.
    """

    gate: str
    passed: bool
    detail: str = ""
    command: str | None = None
    exit_code: int | None = None
    output_sha256: str | None = None
    seconds: float | None = None
    changed_tests: tuple[str, ...] = ()


class End(Struct, frozen=True):
    """A terminal action was accepted: the task ends."""

    outcome: Outcome
    result: str
    gates: tuple[GateResult, ...] = ()


class Todo(Struct, frozen=True):
    text: str
    status: Literal["pending", "in_progress", "completed"]


class ToolOutput(Struct, frozen=True):
    """What a tool gives back: `parts` for the model, the other fields for the engine.

    `ends` ends the task; `waits` leaves the call open until somebody answers; `gates` are the checks of a terminal action
    that was refused (kind `error`); `todos` replaces the list; `staged` joins
    the findings of the review.
    """

    kind: ResultKind
    parts: tuple[Text | Image, ...]
    ends: End | None = None
    waits: Question | None = None
    changes: tuple[FileChange, ...] = ()
    gates: tuple[GateResult, ...] = ()
    todos: tuple[Todo, ...] | None = None
    staged: tuple[Finding, ...] = ()


def ok(text: str, changes: tuple[FileChange, ...] = ()) -> ToolOutput:
    return ToolOutput("ok", (Text(text),), changes=changes)


def error(text: str) -> ToolOutput:
    return ToolOutput("error", (Text(text),))
