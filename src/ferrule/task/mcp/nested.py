"""A call that `call_tool` makes: in the journal as a call of its own, its hooks asked, its errors included.

Approved it is already: `call_tool` is judged by what it calls.
"""

import asyncio
import contextlib
import time

import msgspec
from msgspec.structs import replace

from ferrule.store.folds import Started
from ferrule.task.kind import Opening
from ferrule.tools.base import Given, Tool, ToolContext
from ferrule.tools.schema import parse
from ferrule.types.errors import ToolError
from ferrule.types.messages import Image, ResultKind, Text, ToolCall, ToolResult
from ferrule.types.records import CallFinished, CallStarted, inner
from ferrule.types.tools import ToolOutput, error

NAME = "call_tool"
INTERRUPTED = "Interrupted while it ran. What it had done by then is unknown: look before doing it again."
LOST = "The session stopped while this call was running. Whether it took effect is unknown, and it was not run again."


class Nesting:
    """The calls that calls of one task make."""

    def __init__(self, opening: Opening) -> None:
        self._log, self._hooks, self._mask = opening.log, opening.hooks, opening.mask

    async def run(self, tool: Tool, given: Given, context: ToolContext) -> ToolOutput:
        """Started and finished durably, whatever happens between (law 3)."""
        call = ToolCall(inner(context.call_id), tool.name, msgspec.json.encode(given.arguments).decode())
        verdict = await self._hooks.before_tool(call, tool.effect)
        if verdict.decision != "pass":
            return ToolOutput("denied", (Text(f"Denied: the hook {verdict.by} says: {verdict.reason} Nothing was run."),))
        if verdict.changed_by:
            changed = parse(tool, verdict.call.arguments)
            if not isinstance(changed, Given):
                return error(
                    f"The hook {', '.join(verdict.changed_by)} changed the arguments, and they cannot be used: {changed}"
                )
            given = changed
        await self._log.add(CallStarted(call.id, tool.name, tool.effect))
        began = time.monotonic()
        try:
            output = await _run(tool, given, replace(context, call_id=call.id))
            output = await self._hooks.after_tool(verdict.call, replace(output, parts=self._masked(output.parts)))
        except asyncio.CancelledError:
            closing = asyncio.ensure_future(self._finish(call, "interrupted", (Text(INTERRUPTED),), began))
            while not closing.done():
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.shield(closing)
            raise
        await self._finish(call, output.kind, self._masked(output.parts), began)
        return output

    async def _finish(self, call: ToolCall, kind: ResultKind, parts: tuple[Text | Image, ...], began: float) -> None:
        seconds = round(time.monotonic() - began, 4)
        await self._log.add(CallFinished(ToolResult(call.id, call.name, kind, parts), seconds))

    def _masked(self, parts: tuple[Text | Image, ...]) -> tuple[Text | Image, ...]:
        return tuple(Text(self._mask.text(part.text)) if isinstance(part, Text) else part for part in parts)


async def lost(opening: Opening) -> tuple[CallFinished, ...]:
    """The missing results of calls that were running when an earlier run was killed (law 4)."""
    broken = {
        inner(each.call.id)
        for each in opening.conversation.open_calls
        if each.call.name == NAME and isinstance(each.state, Started)
    }
    names: dict[str, str] = {}
    if broken:
        async for record in opening.log.journal.records():
            match record.entry:
                case CallStarted(call_id=id, name=name) if id in broken:
                    names[id] = name
                case CallFinished(result=result):
                    names.pop(result.call_id, None)
                case _:
                    pass
    return tuple(CallFinished(ToolResult(id, name, "unknown", (Text(LOST),)), 0.0) for id, name in names.items())


async def _run(tool: Tool, given: Given, context: ToolContext) -> ToolOutput:
    try:
        return await tool.run(given, context)
    except ToolError as refusal:
        return error(str(refusal))
    except Exception as bug:
        # As for every tool: a bug in one costs its call, not the session.
        return error(f"{tool.name} failed inside Ferrule ({type(bug).__name__}: {bug}). Its effect is uncertain; look first.")
