"""What a part of the conversation did to files and what failed in it, from its calls and results: no model is asked."""

import os
from collections.abc import Sequence
from pathlib import Path

from ferrule.attempt.setup import Setup
from ferrule.context.compaction.handover import Facts
from ferrule.tools.schema import parse
from ferrule.types.errors import ToolError
from ferrule.types.messages import Assistant, Message, Results, ToolCall
from ferrule.types.names import unspell
from ferrule.types.tools import Effect


def facts_of(setup: Setup, messages: Sequence[Message]) -> Facts:
    """Files that tools read, files that the session has changed, calls that failed; each once, the last ones last."""
    results = {part.call_id: part for message in messages if isinstance(message, Results) for part in message.parts}
    calls = [call for message in messages if isinstance(message, Assistant) for call in message.calls]
    read: dict[str, None] = {}
    for call in calls:
        if call.id in results and results[call.id].kind == "ok":
            for path in _read_by(setup, call):
                read.pop(path, None)
                read[path] = None
    changed = tuple(change.path for change in setup.log.conversation.changes)
    failures = dict.fromkeys(f"{part.name}: {part.text}" for part in results.values() if part.kind == "error")
    return Facts(tuple(path for path in read if path not in changed), changed, tuple(failures))


def _read_by(setup: Setup, call: ToolCall) -> tuple[str, ...]:
    tool = setup.tools.get(call.name)
    params = None if tool is None or tool.effect is not Effect.READ else parse(tool, call.arguments)
    if tool is None or params is None or isinstance(params, str):
        return ()
    try:
        actions = tool.actions(params, setup.place)
    except (ToolError, OSError, ValueError):
        return ()
    paths = (Path(os.fsdecode(unspell(path))) for action in actions if action.kind == "read" for path in action.paths)
    return tuple(setup.place.shown(path) for path in paths if path.is_file())
