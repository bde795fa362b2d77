"""One attempt: model calls and their tool calls until the model yields, the task ends or waits, or something fails.

An attempt never retries itself (law 7): what failed is a field of its result, and `run` decides. It goes through the phases of
`phases.py`; whatever ends it, its record says which of them it reached and how long each took.
"""

import time
from collections.abc import Awaitable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ferrule.context.preflight import Plan
from ferrule.providers.base import Endpoint
from ferrule.types import json
from ferrule.types.errors import StoreError
from ferrule.types.fault import Fault
from ferrule.types.messages import Assistant, Text, ToolCall, User
from ferrule.types.records import AssistantSaid, AttemptEnded, AttemptStarted, Repaired, Shrunk, UserSaid
from ferrule.types.request import Request
from ferrule.types.result import Denial
from ferrule.types.stream import Done, Failed
from ferrule.types.tools import End, Question
from ferrule.types.usage import NOTHING, Usage

from .ledger import Ledger
from .maintenance import maintain
from .model_call import build_request, call_model
from .phases import Phases
from .processes import tell_of_ended
from .setup import Setup
from .stuck import Repetition
from .tool_calls import settle

How = Literal["yielded", "ended", "waiting", "failed", "limit", "stuck", "blocked", "interrupted", "shrunk", "overflow"]


class AttemptResult(Struct, frozen=True):
    """How the attempt ended. `failed` is set when `how` is failed, `message` when it yielded, `why` when something stopped it.

    Of `shrunk` and `overflow` nothing was submitted last: results were cut, so that the next request fits, or it takes a
    compaction. `tokens` is the size that was estimated for the last request, where it got no answer.
    """

    how: How
    message: Assistant | None = None
    failed: Failed | None = None
    ends: End | None = None
    waits: Question | None = None
    why: str = ""
    denials: tuple[Denial, ...] = ()
    tokens: int | None = None

    @property
    def reply(self) -> str:
        """The model's last words, for a person who gets nothing else."""
        if self.ends is not None:
            return self.ends.result
        return self.message.text if self.message is not None else ""


async def attempt(setup: Setup, ledger: Ledger, repetition: Repetition, number: int) -> AttemptResult:
    """Drive the conversation as it stands. Raises LeaseLost, StoreError and cancellation; all else is in the result."""
    began = time.monotonic()
    running = _Attempt(setup, ledger, repetition)

    async def ended(how: How, unanswered: Usage = NOTHING) -> None:
        seconds = round(time.monotonic() - began, 4)
        await setup.log.add(AttemptEnded(number, how, seconds, unanswered, running.phases.times))

    await setup.log.add(AttemptStarted(number))
    try:
        result = await running.run()
    except StoreError:
        raise
    except BaseException as error:
        await _attach(ended("interrupted"), error)
        raise
    try:
        await ended(result.how, running.unanswered)
    except StoreError as failure:
        failure.reply = result.reply
        raise
    return result


async def _attach(closing: Awaitable[None], primary: BaseException) -> None:
    """What closing an attempt does wrong is told beside what ended it, never in its place."""
    try:
        await closing
    except Exception as secondary:
        primary.add_note(f"and the end of the attempt could not be recorded: {secondary}")


class _Attempt:
    def __init__(self, setup: Setup, ledger: Ledger, repetition: Repetition) -> None:
        self.setup = setup
        self.ledger = ledger
        self.repetition = repetition
        self.phases = Phases()
        self.fitting = setup.fitting
        self.denials: list[Denial] = []
        self.unanswered = NOTHING

    @property
    def endpoint(self) -> Endpoint:
        return self.setup.provider.endpoint

    async def run(self) -> AttemptResult:
        with self.phases.step("workspace"):
            gone = "" if self.setup.place.root.is_dir() else f"The project folder {self.setup.place.root} is gone."
        result = self.result("blocked", why=f"{gone} Nothing more was done.") if gone else await self.work()
        with self.phases.step("maintenance"):
            if failed := maintain(self.setup.chores):
                await self.setup.log.add(Repaired("maintenance", failed))
        return result

    async def work(self) -> AttemptResult:
        await self.check_lease()
        result = await self.finish_open_calls()
        while result is None:
            result = await self.turn()
        return result

    async def check_lease(self) -> None:
        """Also before every model call: whoever has lost the session spends no more on it."""
        with self.phases.step("lease"):
            await self.setup.log.journal.check()

    async def turn(self) -> AttemptResult | None:
        """One model call and the results of its calls; None when the model is to be asked again."""
        spent = self.ledger.exhausted()
        if spent is not None:
            return self.result("limit", why=spent)
        await self.check_lease()
        blocked = await self.offer_tools() or await self.ask_hooks()
        if blocked:
            return self.result("blocked", why=blocked)
        with self.phases.step("history"):
            request, repairs = build_request(self.setup)
            if repairs:
                await self.setup.log.add(*repairs)
        with self.phases.step("preflight"):
            planned = self.fitting.plan(request, self.setup.log.conversation, self.endpoint)
            if planned.cuts:
                cut = Shrunk("preflight", planned.cuts, before=planned.estimate, after=planned.after)
                await self.setup.log.add(cut)
            request = self.fitting.limited(request, planned, self.endpoint)
        match planned:
            case Plan(route="fits", cuts=()):
                return await self.submit(request, planned.after)
            case Plan(route="fits"):
                return None
            case Plan(route="truncate_tool_results", estimate=tokens):
                return self.result("shrunk", tokens=tokens)
            case _:
                return self.result("overflow", tokens=planned.after)

    async def offer_tools(self) -> str:
        """Why the model can't be asked with the tools that it would get; empty where it can."""
        with self.phases.step("tools"):
            offered, reports = self.setup.chains.of(self.endpoint).tools(self.setup.schemas)
            await self.setup.log.add(*reports)
            tools = self.setup.tools
            if any(tools[schema.name].terminal for schema in offered if schema.name in tools):
                return ""
            names = ", ".join(tools) or "none"
            return f"{self.endpoint.name} cannot be offered a tool that ends the task (of: {names}). Nothing was asked."

    async def ask_hooks(self) -> str:
        """What they say joins the conversation; why they forbid to go on, or nothing."""
        with self.phases.step("prompt"):
            await tell_of_ended(self.setup.log)
            notice = await self.setup.hooks.before_model(self.endpoint.name)
            await self.setup.log.add(*(UserSaid(User((Text(note),)), "hook") for note in notice.notes))
            return notice.block or ""

    async def submit(self, request: Request, tokens: int) -> AttemptResult | None:
        """The provider ends the call by itself when the run's time is up: both go by one clock."""
        request = replace(request, seconds=self.ledger.remaining())
        began = time.monotonic()
        with self.phases.step("submit"):
            terminal, repairs = await call_model(self.setup, request)
        self.ledger.add(terminal.usage)
        self.fitting.observe(request, terminal.usage, self.endpoint)
        if isinstance(terminal, Failed):
            self.unanswered = terminal.usage
            self.fitting.learn(terminal.fault, self.endpoint)
            await self.setup.log.add(*repairs)
            return self.result("failed", failed=terminal, tokens=tokens)
        return await self.act_on(terminal, repairs, time.monotonic() - began)

    async def act_on(self, done: Done, repairs: tuple[Repaired, ...], seconds: float) -> AttemptResult | None:
        message = done.message
        self.ledger.turns += 1
        if message.stop == "refusal":
            self.unanswered = done.usage
            said = Failed(Fault("refused", message.text[:500]), message.parts, done.usage)
            return self.result("failed", failed=said)
        if not message.parts:
            self.unanswered = done.usage
            await self.setup.log.add(*repairs)
            return self.result("yielded", message=message)
        try:
            await self.setup.log.add(*repairs, AssistantSaid(message, done.usage, round(seconds, 4)))
            if not message.calls:
                return self.result("yielded", message=message)
            return await self.settle_calls(message.calls)
        except StoreError as failure:
            failure.reply = self.reply(message)
            raise

    def reply(self, message: Assistant) -> str:
        """What an answer tells the person: its text, and the result that a terminal action in it declares."""
        tools = self.setup.tools
        declared = [call.arguments for call in message.calls if call.name in tools and tools[call.name].terminal]
        results = [json.string(json.loads(arguments)[0], "result") for arguments in declared]
        return "\n\n".join(text for text in (message.text, *results) if text.strip())

    async def finish_open_calls(self) -> AttemptResult | None:
        """Calls that a crash left open and that `recover` did not close: they had not begun, or may run again."""
        calls = [call.call for call in self.setup.log.conversation.open_calls]
        return await self.settle_calls(calls) if calls else None

    async def settle_calls(self, calls: Sequence[ToolCall]) -> AttemptResult | None:
        with self.phases.step("tool_loop"):
            settled = await settle(self.setup, calls)
        self.denials += settled.denials
        if settled.ends is not None:
            return self.result("ended", ends=settled.ends)
        if settled.waits is not None:
            return self.result("waiting", waits=settled.waits)
        with self.phases.step("settle"):
            return await self.watch_repetition(calls)

    async def watch_repetition(self, calls: Sequence[ToolCall]) -> AttemptResult | None:
        results = self.setup.log.conversation.last_results
        loop = self.repetition.add(calls, results, self.setup.tools)
        if loop is None:
            return None
        if loop.stop:
            return self.result("stuck", why=loop.why)
        await self.setup.log.add(UserSaid(User((Text(loop.warning),)), "note"))
        return None

    def result(
        self,
        how: How,
        message: Assistant | None = None,
        failed: Failed | None = None,
        ends: End | None = None,
        waits: Question | None = None,
        why: str = "",
        tokens: int | None = None,
    ) -> AttemptResult:
        return AttemptResult(how, message, failed, ends, waits, why, tuple(self.denials), tokens)
