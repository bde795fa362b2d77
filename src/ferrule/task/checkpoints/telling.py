"""What the model finds after an undo: results of calls that stand open at the point, and a note where only one side went back."""

from collections.abc import Iterable, Sequence

from ferrule.store.folds import Conversation, OpenCall, Started, Waiting
from ferrule.types.messages import Text, ToolResult, User
from ferrule.types.records import CallFinished, Undoing, UserSaid

NOT_RUN = "Not run: the person went back to before this call. Call it again if it is still wanted."
BROKEN_OFF = (
    "The person went back to a point where this call was running. Whether its effect stands is unknown: look at the state of "
    "things before you repeat it."
)
FILES_BACK = (
    "[Note] The person undid changes to files, and the conversation goes on from here. These are not as you left them, read them "
    "again before you rely on them: {paths}"
)
FILES_STAY = (
    "[Note] The person went back to this point of the conversation. Files that were changed after it stay as they are; look at "
    "them before you rely on what you remember."
)
NAMED = 50
"""Paths that a note names."""


def closed(open_calls: Iterable[OpenCall]) -> list[CallFinished]:
    """A result for every call that would otherwise run when the session goes on; a question waits on."""
    found = []
    for each in open_calls:
        match each.state:
            case Waiting():
                continue
            case Started():
                result = ToolResult(each.call.id, each.call.name, "unknown", (Text(BROKEN_OFF),))
            case _:
                result = ToolResult(each.call.id, each.call.name, "skipped", (Text(NOT_RUN),))
        found.append(CallFinished(result, 0.0))
    return found


def note(undoing: Undoing, paths: Sequence[str], then: Conversation) -> list[UserSaid]:
    """Where only one side went back; `paths` were restored, `then` is what the model sees from here on.

    None before the first words of the person: a note is no prompt.
    """
    one_sided = undoing.conversation is not undoing.files and (undoing.conversation or bool(paths))
    if not then.person or not one_sided:
        return []
    if undoing.conversation:
        text = FILES_STAY
    else:
        more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
        text = FILES_BACK.format(paths=", ".join(paths[:NAMED]) + more)
    return [UserSaid(User((Text(text),)), "note")]
