"""What the person's own programs may say while a task runs: one method an event, one typed verdict each.

Who calls a method acts on its verdict; who implements `Hooks` records every run of a hook, bounds its time, and raises nothing
but StoreError, LeaseLost and cancellation.
"""

from typing import Literal, Protocol

from msgspec import Struct

from ferrule.types.messages import ToolCall
from ferrule.types.result import RunResult
from ferrule.types.tools import Effect, ToolOutput


class Notice(Struct, frozen=True):
    """Of `session_start` and `before_model`. `notes` are for the model, in their order; `block` says why it must not go on."""

    notes: tuple[str, ...] = ()
    block: str | None = None


class ToolVerdict(Struct, frozen=True):
    """Of `before_tool`; `by` names the hook that said `ask` or `block`.

    `call` is what is to be run: the call as it came, or with the arguments that the hooks in `changed_by` put in their place.
    """

    call: ToolCall
    decision: Literal["pass", "ask", "block"] = "pass"
    reason: str = ""
    by: str = ""
    changed_by: tuple[str, ...] = ()


class CompactVerdict(Struct, frozen=True):
    """Of `before_compact`. `cancel` says why nothing is to be shortened; `summary` takes the place of the model's."""

    cancel: str | None = None
    summary: str | None = None


class FinalizeVerdict(Struct, frozen=True):
    """Of `before_finalize`. `revise` says what is still to be done; the terminal action is refused with it. `ran` names those
    that judged."""

    revise: str | None = None
    by: str = ""
    ran: tuple[str, ...] = ()


PASS = Notice()


class Hooks(Protocol):
    async def session_start(self, resumed: bool) -> Notice:
        """A run begins; nothing was asked yet."""
        ...

    async def before_model(self, model: str) -> Notice:
        """A request is about to be built for the conversation as it stands."""
        ...

    async def before_tool(self, call: ToolCall, effect: Effect) -> ToolVerdict:
        """The arguments are valid; nothing was decided yet."""
        ...

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """The tool has run. What comes back takes the place of `output`; its fields for the engine are those of `output`."""
        ...

    async def before_compact(self, why: str, tokens: int, focus: str) -> CompactVerdict:
        """`tokens` are estimated for the request; `focus` is what the person asked to keep, mostly empty."""
        ...

    async def before_finalize(self, call: ToolCall) -> FinalizeVerdict:
        """A terminal action has passed every other gate."""
        ...

    async def after_task(self, result: RunResult) -> None:
        """The run has ended, its outcome is stored."""
        ...


class NoHooks:
    """Nobody has anything to say."""

    async def session_start(self, resumed: bool) -> Notice:
        return PASS

    async def before_model(self, model: str) -> Notice:
        return PASS

    async def before_tool(self, call: ToolCall, effect: Effect) -> ToolVerdict:
        return ToolVerdict(call)

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        return output

    async def before_compact(self, why: str, tokens: int, focus: str) -> CompactVerdict:
        return CompactVerdict()

    async def before_finalize(self, call: ToolCall) -> FinalizeVerdict:
        return FinalizeVerdict()

    async def after_task(self, result: RunResult) -> None:
        return


NO_HOOKS: Hooks = NoHooks()
