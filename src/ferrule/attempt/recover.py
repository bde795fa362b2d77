"""Gives every call that an earlier run left open its result, before anything else is said (law 3)."""

from ferrule.store.folds import NotStarted, Started
from ferrule.types.messages import ResultKind, Text, ToolCall, ToolResult
from ferrule.types.records import CallFinished
from ferrule.types.tools import Effect, FileChange

from .calls.files import files_since
from .setup import Setup

UNKNOWN = (
    "The session stopped while this call was running. Whether it took effect, wholly or in part, is unknown, and it was not "
    "run again. Look at the state of things before you repeat it."
)
NEVER_STARTED = "The session stopped before this call began. Nothing was done. Call it again if it is still wanted."
BROKEN_OFF = "The session stopped while this call was running. It changes nothing by itself: call it again if it is still wanted."
REPEATABLE = (
    "The session stopped while this call was running. It may have taken effect; calling it again does no harm. "
    "Do so if it is still wanted."
)


async def recover(setup: Setup, spoken: bool) -> None:
    """Close what must not be run again. A question stays open.

    Begun and not safe to repeat: `unknown`, always. When the person has spoken since (`spoken`), everything else is closed too,
    since they may want something else; otherwise it stays open and the next attempt decides and runs it.
    """
    entries = []
    for open_call in setup.log.conversation.open_calls:
        match open_call.state:
            case Started(effect=effect, files=files) if not effect.repeatable:
                entries.append(_finished(open_call.call, "unknown", UNKNOWN, files_since(files, setup.place)))
            case NotStarted() if spoken:
                entries.append(_finished(open_call.call, "skipped", NEVER_STARTED))
            case Started(effect=Effect.IDEMPOTENT, files=files) if spoken:
                entries.append(_finished(open_call.call, "unknown", REPEATABLE, files_since(files, setup.place)))
            case Started() if spoken:
                entries.append(_finished(open_call.call, "interrupted", BROKEN_OFF))
    if entries:
        await setup.log.add(*entries)


def _finished(call: ToolCall, kind: ResultKind, text: str, changes: tuple[FileChange, ...] = ()) -> CallFinished:
    return CallFinished(ToolResult(call.id, call.name, kind, (Text(text),)), 0.0, changes)
