"""Background processes that an earlier run could not record the end of: they have ended with it (law 13)."""

from msgspec.structs import replace

from ferrule.store.folds import Conversation
from ferrule.types.records import Process, ProcessEnd

LOST = "Ferrule was ended while it ran"


def lost(conversation: Conversation) -> tuple[Process, ...]:
    """The missing records, for a session that is opened: none of its processes can run any more."""
    open_ended = (process for process in conversation.processes.values() if process.ended is None)
    return tuple(replace(process, ended=ProcessEnd(error=LOST)) for process in open_ended)
