"""`execute_command`: one command line in a shell of its own."""

import os
import signal
from typing import Annotated

from msgspec import Meta, Struct

from ferrule.process.protocol import Command, Ended
from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.names import spell
from ferrule.types.tools import Action, Effect, ToolOutput, error, ok

from .output import Decoder, Output

DEFAULT_TIMEOUT = 120
MAX_TIMEOUT = 600
TOLD = 1.0
"""Seconds from which on the duration is told."""


class ExecuteCommand(Struct, frozen=True):
    command: Annotated[str, Meta(description="Command line for `bash -c`.")]
    cwd: Annotated[str | None, Meta(description="Folder to run in; default: the workspace.")] = None
    timeout: Annotated[int, Meta(description=f"Seconds until it is ended, 1 to {MAX_TIMEOUT}.")] = DEFAULT_TIMEOUT


def execute_command() -> Tool:
    return Tool(
        name="execute_command",
        description="Run a command line and return its output and exit code. There is no terminal and no input: use flags that "
        "answer prompts. Every process that it starts is ended with it, so nothing can run in the background. Of long output "
        "the beginning and the end are returned.",
        params=ExecuteCommand,
        effect=Effect.MUTATING,
        actions=_actions,
        run=_run,
    )


def _actions(params: ExecuteCommand, place: Place) -> tuple[Action, ...]:
    return (Action("execute", (spell(str(place.resolve(params.cwd or "."))),), params.command),)


async def _run(params: ExecuteCommand, context: ToolContext) -> ToolOutput:
    if not params.command.strip():
        raise ToolError("`command` is empty.")
    if "\0" in params.command:
        raise ToolError("`command` must not contain a NUL character.")
    if not 1 <= params.timeout <= MAX_TIMEOUT:
        raise ToolError(f"`timeout` must be between 1 and {MAX_TIMEOUT} seconds, got {params.timeout}.")
    cwd = context.place.resolve(params.cwd or ".")
    if not cwd.is_dir():
        raise ToolError(f"`cwd` {context.place.shown(cwd)} is not a folder.")
    shell = _shell(dict(context.environment).get("PATH"))
    environment = tuple(sorted({**dict(context.environment), "PWD": str(cwd)}.items()))
    command = Command((shell, "-c", params.command), str(cwd), environment, float(params.timeout))
    decoder, output = Decoder(), Output(context.blobs)

    def receive(data: bytes, final: bool = False) -> None:
        if text := decoder.feed(data, final):
            output.feed(text)
            context.on_output(text)

    try:
        ended = await context.processes.run(command, receive)
        receive(b"", final=True)
        output.finish()
    except BaseException:
        output.discard()
        raise
    return _result(ended, output.text(), decoder.bad, params.timeout)


def _shell(path: str | None) -> str:
    """bash, else sh; never a login shell, which would run the person's profile."""
    for usual in ("/bin/bash", "/usr/bin/bash"):
        if os.access(usual, os.X_OK):
            return usual
    from shutil import which

    return which("bash", path=path) or which("sh", path=path) or "/bin/sh"


def _result(ended: Ended, text: str, bad: int, timeout: int) -> ToolOutput:
    lines = [_status(ended, timeout)]
    if ended.left:
        some = "1 process" if ended.left == 1 else f"{ended.left} processes"
        lines.append(
            f"It left {some} running in the background, which had to be ended: background processes are not available here "
            "(they will be, with handles). Run it in the foreground with a time limit, or start, use and stop it in one command."
        )
    if bad:
        lines.append(f"{bad} bytes are not UTF-8 and are shown as \N{REPLACEMENT CHARACTER}.")
    lines.append(f"Output:\n{text}" if text else "There was no output.")
    failed = ended.error is not None or ended.timed_out or ended.left > 0
    return error("\n".join(lines)) if failed else ok("\n".join(lines))


def _status(ended: Ended, timeout: int) -> str:
    took = f" after {ended.seconds:.1f} s" if ended.seconds > TOLD else ""
    if ended.error is not None:
        return f"The command did not run to its end: {ended.error}."
    if ended.timed_out:
        return f"Timed out after {timeout} s and was ended. `timeout` may be up to {MAX_TIMEOUT} if it needs longer."
    if ended.signal is not None:
        return f"Ended by {_signal(ended.signal)}{took}."
    code = ended.exit_code or 0
    hint = f" (as for {_signal(code - 128)})" if code > 128 and _signal(code - 128).startswith("SIG") else ""
    return f"Exit code {code}{hint}{took}."


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
