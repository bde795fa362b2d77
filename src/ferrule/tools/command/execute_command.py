"""`execute_command`: one command line in a shell of its own."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from ferrule.process.protocol import Command, Ended
from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.names import spell
from ferrule.types.tools import Action, Effect, ToolOutput, error, ok

from .job import Job, Left
from .jobs import Jobs
from .prompting import SILENCE
from .telling import NO_INPUT, asked, left_behind, status

DEFAULT_TIMEOUT = 120
MAX_TIMEOUT = 600
FIRST_LOOK = 1.0
"""Seconds in which a command that is to run in the background shows whether it starts at all."""


class ExecuteCommand(Struct, frozen=True):
    command: Annotated[str, Meta(description="Command line for `bash -c`.")]
    cwd: Annotated[str | None, Meta(description="Folder to run in; default: the workspace.")] = None
    timeout: Annotated[
        int, Meta(description=f"Seconds to wait for it, 1 to {MAX_TIMEOUT}; then it goes on in the background.")
    ] = DEFAULT_TIMEOUT
    background: Annotated[bool, Meta(description="Do not wait: for servers and watchers.")] = False


def execute_command(jobs: Jobs) -> Tool:
    async def run(params: ExecuteCommand, context: ToolContext) -> ToolOutput:
        return await _run(jobs, params, context)

    return Tool(
        name="execute_command",
        description="Run a command line and return its output and exit code. There is no terminal and no input: use flags that "
        "answer prompts. Every process that it starts is ended with it, so use `background` instead of `&`: you get a handle for "
        "read_command_output and stop_command, and it runs until you stop it or the session is closed. Of long output the "
        "beginning and the end are returned.",
        params=ExecuteCommand,
        effect=Effect.MUTATING,
        actions=_actions,
        run=run,
    )


def _actions(params: ExecuteCommand, place: Place) -> tuple[Action, ...]:
    return (Action("execute", (spell(str(place.resolve(params.cwd or "."))),), params.command),)


async def _run(jobs: Jobs, params: ExecuteCommand, context: ToolContext) -> ToolOutput:
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
    limit = None if params.background else jobs.limit
    job = jobs.start(params.command, Command((shell, "-c", params.command), str(cwd), environment, limit), context)
    try:
        left = await job.wait(FIRST_LOOK if params.background else float(params.timeout))
        if job.ended is None:
            await jobs.detach(job)
            jobs.show_all(job)
            return ok(_going_on(job, left, params))
        if job.output.cut and job.output.digest is not None:
            await jobs.keep(job)
    except BaseException:
        await jobs.drop(job)
        raise
    return _result(job, job.ended)


def _shell(path: str | None) -> str:
    """bash, else sh; never a login shell, which would run the person's profile."""
    for usual in ("/bin/bash", "/usr/bin/bash"):
        if os.access(usual, os.X_OK):
            return usual
    from shutil import which

    return which("bash", path=path) or which("sh", path=path) or "/bin/sh"


def _result(job: Job, ended: Ended) -> ToolOutput:
    lines = [status(ended)]
    if ended.left:
        lines.append(left_behind(ended.left))
    if ended.exit_code != 0 and job.question:
        lines.append(asked(job.question))
    lines += _printed(job, "Output:", "There was no output.")
    failed = ended.error is not None or ended.timed_out or ended.left > 0
    return error("\n".join(lines)) if failed else ok("\n".join(lines))


def _going_on(job: Job, left: Left, params: ExecuteCommand) -> str:
    match left:
        case "question":
            why = (
                f"It has printed nothing for {SILENCE:.0f} s and seems to wait for input (`{job.question}`): {NO_INPUT}. "
                f"It goes on in the background as {job.name}; stop it."
            )
        case "told":
            why = f"The person lets it go on in the background as {job.name}{f' and says: {job.words}' if job.words else '.'}"
        case _ if params.background:
            why = f"It runs in the background as {job.name}."
        case _:
            why = f"It still runs after {params.timeout} s and goes on in the background as {job.name}."
    how = "read_command_output shows what it prints, stop_command ends it."
    return "\n".join(
        [f"{why} {how}" if left != "told" else f"{why}\n{how}", *_printed(job, "Output so far:", "No output so far.")]
    )


def _printed(job: Job, title: str, nothing: str) -> list[str]:
    output, bad = job.output, job.decoder.bad
    where = f"read_command_output with id {job.name} shows all" if job.name else ""
    text = output.text(where)
    lines = [f"{bad} bytes are not UTF-8 and are shown as \N{REPLACEMENT CHARACTER}."] if bad else []
    return [*lines, f"{title}\n{text}" if text else nothing]
