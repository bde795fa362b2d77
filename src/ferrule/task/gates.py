"""The checks in code that a completion must pass, in the contract's order. Each leaves evidence."""

import hashlib
import time
from collections.abc import Awaitable, Callable

from msgspec import Struct

from ferrule.attempt.hooks import NO_HOOKS, Hooks
from ferrule.process.protocol import Command
from ferrule.store.folds import Conversation
from ferrule.tools.base import ToolContext
from ferrule.tools.command.job import Job
from ferrule.tools.command.telling import short
from ferrule.types.tools import GateResult

TAIL_BYTES = 4000
REVISIONS = 3
"""How often hooks may refuse a terminal action; refused once more, the task is unverified."""

FAILED_KINDS = ("error", "denied", "unknown", "skipped", "interrupted")


class Checks(Struct, frozen=True):
    """What the gates judge by. `verify` holds command lines of the person; `timeout` is seconds for each of them.

    `running` gives the background processes, `kept` the handles of those that are to go on.
    """

    conversation: Conversation
    verify: tuple[str, ...]
    require_todos_done: bool
    timeout: float
    hooks: Hooks = NO_HOOKS
    running: Callable[[], tuple[Job, ...]] = lambda: ()
    kept: tuple[str, ...] = ()


class Verdict(Struct, frozen=True):
    """A gate's evidence, and what the model is told when it failed. `final`: it has refused as often as it may."""

    results: tuple[GateResult, ...]
    advice: str = ""
    final: bool = False

    @property
    def passed(self) -> bool:
        return all(result.passed for result in self.results)


Gate = Callable[[Checks, ToolContext], Awaitable[Verdict]]


async def failed_tool(checks: Checks, context: ToolContext) -> Verdict:
    """A call of the same turn that did not succeed has not been seen by the model when it declares completion."""
    failed = [result for result in context.turn.results if result.kind in FAILED_KINDS]
    if not failed:
        return Verdict((GateResult("failed_tool", True, "no failed call in this turn"),))
    named = ", ".join(f"{result.name} ({result.kind})" for result in failed)
    advice = f"In this turn {named} did not succeed. Look at the results, put it right, then complete."
    return Verdict((GateResult("failed_tool", False, named),), advice)


async def open_todos(checks: Checks, context: ToolContext) -> Verdict:
    still_open = [todo.text for todo in checks.conversation.todos if todo.status != "completed"]
    if not checks.require_todos_done or not still_open:
        return Verdict((GateResult("open_todos", True, f"{len(still_open)} open"),))
    listed = "; ".join(still_open)
    advice = f"The todo list has open items: {listed}. Do them, or update the list to say truthfully why not, then complete."
    return Verdict((GateResult("open_todos", False, listed),), advice)


async def running_processes(checks: Checks, context: ToolContext) -> Verdict:
    """What still runs in the background either is stopped or is meant to go on until the session is closed."""
    running = checks.running()
    if not running:
        return Verdict(())
    listed = ", ".join(f"{job.name} ({short(job.line)})" for job in running)
    if all(job.name in checks.kept for job in running):
        return Verdict((GateResult("running_processes", True, f"to go on until the session is closed: {listed}"),))
    advice = (
        f"In the background still run: {listed}. Stop each of them by stop_command, or name it in `keep_running` if it should go "
        "on until the session is closed; then complete."
    )
    return Verdict((GateResult("running_processes", False, listed),), advice)


async def verify(checks: Checks, context: ToolContext) -> Verdict:
    """The person's commands, run by us in the project folder. All run up to the first that fails."""
    results: list[GateResult] = []
    for command in checks.verify:
        result, tail = await _run(command, checks.timeout, context)
        results.append(result)
        if not result.passed:
            failed = f"The verification command `{command}` failed: {result.detail}."
            advice = f"{failed} Its output ends:\n{tail}\nPut it right, then complete."
            return Verdict(tuple(results), advice)
    return Verdict(tuple(results))


async def _run(line: str, timeout: float, context: ToolContext) -> tuple[GateResult, str]:
    digest = hashlib.sha256()
    tail = bytearray()

    def collect(data: bytes) -> None:
        digest.update(data)
        tail.extend(data)
        del tail[:-TAIL_BYTES]

    began = time.monotonic()
    command = Command(("/bin/sh", "-c", line), str(context.place.root), context.environment, timeout)
    ended = await context.processes.run(command, collect)
    if ended.error is not None:
        detail = ended.error
    elif ended.timed_out:
        detail = f"no end within {timeout:g} s"
    elif ended.left:
        detail = f"exit code {ended.exit_code}, but it left {ended.left} processes running, which were ended"
    elif ended.signal is not None:
        detail = f"ended by signal {ended.signal}"
    else:
        detail = f"exit code {ended.exit_code}"
    passed = ended.exit_code == 0 and not ended.timed_out and not ended.left and ended.error is None
    seconds = round(time.monotonic() - began, 3)
    result = GateResult("verify", passed, detail, line, ended.exit_code, digest.hexdigest(), seconds)
    return result, tail.decode("utf-8", "replace").strip() or "(no output)"


async def hooks(checks: Checks, context: ToolContext) -> Verdict:
    """The person's `before_finalize` hooks. They may ask for so many revisions and no more; at the limit nothing is accepted."""
    call = next(call for call in context.turn.calls if call.id == context.call_id)
    judged = await checks.hooks.before_finalize(call)
    if judged.revise is None:
        return Verdict((GateResult("hooks", True, ", ".join(judged.ran)),) if judged.ran else ())
    advice = f"The hook {judged.by} says: {judged.revise}\nDo what it asks for, then complete."
    failed = GateResult("hooks", False, f"{judged.by}: {judged.revise}")
    return Verdict((failed,), advice, final=checks.conversation.revisions >= REVISIONS)


GATES: dict[str, Gate] = {
    "failed_tool": failed_tool,
    "open_todos": open_todos,
    "running_processes": running_processes,
    "verify": verify,
    "hooks": hooks,
}
