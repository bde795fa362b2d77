"""Runs the person's hooks: those of one event in their order, the strictest verdict wins, every run is recorded."""

import asyncio
import contextlib
import time
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace

from ferrule.attempt.hooks import CompactVerdict, FinalizeVerdict, Notice, ToolVerdict
from ferrule.attempt.log import Log
from ferrule.context.secrets import Mask
from ferrule.process.protocol import Processes
from ferrule.tools.base import Place
from ferrule.types.errors import StoreError
from ferrule.types.messages import Message, Text, ToolCall, ToolResult
from ferrule.types.records import HookRan
from ferrule.types.result import RunResult
from ferrule.types.tools import Effect, ToolOutput

from .answer import LONGEST, Answer, Broken, word
from .hook import Event, Hook

VERSION = 1


@dataclass(frozen=True)
class HookRunner:
    """Implements `Hooks`. `environment` is the complete environment of commands, which start in the workspace's root."""

    hooks: tuple[Hook, ...]
    log: Log
    place: Place
    processes: Processes
    environment: tuple[tuple[str, str], ...]
    mask: Mask

    async def session_start(self, resumed: bool) -> Notice:
        return await self._notice("session_start", {"resumed": resumed})

    async def before_model(self, model: str) -> Notice:
        messages = self.log.conversation.messages
        said = _text(messages[-1]) if messages else ""
        return await self._notice("before_model", {"model": model, "messages": len(messages), "last": said[-LONGEST:]})

    async def _notice(self, event: Event, about: dict[str, Any]) -> Notice:
        notes: list[str] = []
        for hook in self._of(event):
            answer = await self._ask(hook, about)
            if answer.note:
                notes.append(self.mask.text(answer.note))
            if answer.decision == "block":
                return Notice(tuple(notes), f"The hook {hook.shown} blocked it: {self.mask.text(answer.reason)}")
        return Notice(tuple(notes))

    async def before_tool(self, call: ToolCall, effect: Effect) -> ToolVerdict:
        verdict = ToolVerdict(call)
        for hook in self._of("before_tool", call.name):
            answer = await self._ask(hook, {**_call(verdict.call), "effect": effect.value}, call.id)
            if answer.arguments is not None:
                changed = replace(verdict.call, arguments=_json(answer.arguments))
                verdict = replace(verdict, call=changed, changed_by=(*verdict.changed_by, hook.shown))
            if answer.decision == "block":
                return replace(verdict, decision="block", by=hook.shown, reason=_sentence(answer.reason))
            if answer.decision == "ask" and verdict.decision == "pass":
                verdict = replace(verdict, decision="ask", by=hook.shown, reason=_sentence(answer.reason))
        return verdict

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        for hook in self._of("after_tool", call.name):
            match await self._run(hook, {**_call(call), "kind": output.kind, "result": _text(output)}, call.id):
                case Broken(why=why) if hook.closed:
                    left_out = f"The tool ran ({output.kind}), but its result is left out: the hook {hook.shown} failed: {why}"
                    output = replace(output, kind="error", parts=(Text(left_out),))
                case Answer(decision="block", reason=reason):
                    complaint = Text(f"The tool ran ({output.kind}), and the hook {hook.shown} says: {reason}")
                    output = replace(output, kind="error", parts=(*output.parts, complaint))
                case Answer(result=str() as text):
                    output = replace(output, parts=(Text(text),))
        return output

    async def before_compact(self, why: str, tokens: int, focus: str) -> CompactVerdict:
        summary = None
        for hook in self._of("before_compact"):
            answer = await self._ask(hook, {"why": why, "tokens": tokens, "focus": focus})
            if answer.decision == "block":
                return CompactVerdict(cancel=f"The hook {hook.shown} cancelled it: {self.mask.text(answer.reason)}")
            if summary is None and answer.summary is not None:
                summary = self.mask.text(answer.summary)
        return CompactVerdict(summary=summary)

    async def before_finalize(self, call: ToolCall) -> FinalizeVerdict:
        ran: tuple[str, ...] = ()
        for hook in self._of("before_finalize", call.name):
            ran = (*ran, hook.shown)
            answer = await self._ask(hook, _call(call), call.id)
            if answer.decision == "block":
                return FinalizeVerdict(answer.reason, hook.shown, ran)
        return FinalizeVerdict(ran=ran)

    async def after_task(self, result: RunResult) -> None:
        """The outcome stands, so that a journal that cannot be written any more changes nothing here."""
        about = {
            "outcome": result.outcome.value,
            "exit_code": result.exit_code,
            "result": result.result,
            "error": result.error,
            "files_changed": result.files_changed,
        }
        for hook in self._of("after_task"):
            with contextlib.suppress(StoreError):
                await self._ask(hook, about)

    def _of(self, event: Event, tool: str | None = None) -> tuple[Hook, ...]:
        return tuple(hook for hook in self.hooks if hook.event == event and (tool is None or hook.matches(tool)))

    async def _ask(self, hook: Hook, about: dict[str, Any], call_id: str = "") -> Answer:
        """A hook that failed blocks where it fails closed, else it says nothing."""
        answer = await self._run(hook, about, call_id)
        if isinstance(answer, Answer):
            return answer
        return Answer("block", f"it failed: {answer.why}") if hook.closed else Answer()

    async def _run(self, hook: Hook, about: dict[str, Any], call_id: str = "") -> Answer | Broken:
        """One hook, and the record of it."""
        known = {"version": VERSION, "event": hook.event, "session": self.log.journal.session, "folder": str(self.place.root)}
        began = time.monotonic()
        try:
            answer = await self._answer(hook, known | about)
        except asyncio.CancelledError:
            with contextlib.suppress(StoreError):
                await self._record(hook, Broken("it was interrupted"), began, call_id)
            raise
        await self._record(hook, answer, began, call_id)
        return answer

    async def _record(self, hook: Hook, answer: Answer | Broken, began: float, call_id: str) -> None:
        mask, seconds = self.mask.text, round(time.monotonic() - began, 4)
        name = mask(hook.shown)
        match answer:
            case Broken(why=why):
                ran = HookRan(hook.event, name, "failed", seconds, mask(why), call_id, hook.closed)
            case Answer(arguments=arguments, reason=reason):
                changed = None if arguments is None else mask(_json(arguments))
                ran = HookRan(hook.event, name, word(hook.event, answer), seconds, mask(reason), call_id, arguments=changed)
        await self.log.add(ran)

    async def _answer(self, hook: Hook, asked: dict[str, Any]) -> Answer | Broken:
        if hook.python:
            from .function import ask_function

            return await ask_function(hook, asked)
        from .command import ask_command

        return await ask_command(hook, _json(asked).encode(), str(self.place.root), self.environment, self.processes)


def _sentence(reason: str) -> str:
    """More text follows it where it is shown."""
    return f"{reason}." if reason[-1:].isalnum() else reason


def _call(call: ToolCall) -> dict[str, Any]:
    return {"tool": call.name, "call_id": call.id, "arguments": msgspec.json.decode(call.arguments)}


def _text(said: Message | ToolOutput) -> str:
    """The text of all parts; a result's parts are texts too, those of a turn are results."""
    return "\n".join(part.text for part in said.parts if isinstance(part, Text | ToolResult))


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
