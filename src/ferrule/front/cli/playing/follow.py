"""`-c` or `-r` with `--if-busy read`, where another process has the session open: watch it there until it ends."""

import asyncio
import sys

from ferrule.front.cli.show.output import standard_error, standard_output
from ferrule.front.cli.show.terminal import look_of
from ferrule.front.cli.show.views import PersonView, StreamView, View
from ferrule.task.open import TaskOptions
from ferrule.task.sessions.follow import follow
from ferrule.task.sessions.replay import Concluded, Stopped
from ferrule.types.errors import LeaseHeld
from ferrule.types.result import RunResult

from .replay import show

ONLY_READ = "The session was only read, since another process had it open: the prompt was given to nobody."
NO_END = "The session was only read; the process that had it open is gone, and its run has no outcome."


def follow_session(options: TaskOptions, output_format: str, contract: str | None) -> int:
    """The exit code of the run that was watched. Raises LeaseHeld where what was asked for is still to be done."""
    out, err = standard_output(), standard_error()
    view: View = StreamView(out)
    if output_format != "stream-json":
        view = PersonView(out, err, look_of(sys.stderr, options.environ), json=output_format == "json")
    result = asyncio.run(_watch(options, view, contract, whole=output_format != "json"))
    if options.prompt is not None:
        raise LeaseHeld(ONLY_READ)
    if result is None:
        raise LeaseHeld(NO_END)
    if output_format == "json":
        view.end(result)
    if out.problem:
        err.text(f"ferrule: the result could not be written to standard output: {out.problem}\n")
        return result.exit_code or 1
    return result.exit_code


async def _watch(options: TaskOptions, view: View, contract: str | None, whole: bool) -> RunResult | None:
    """The result of the last run, None where that has no end. `whole`: the results of the runs before are shown too."""
    last: RunResult | None = None
    try:
        async for played in follow(options.environ, options.resume or "", options.folder, contract):
            match played:
                case Concluded(result=result):
                    last = result
                    if whole:
                        show(played, view)
                case Stopped(open=open):
                    last = None if open else last
                case _:
                    show(played, view)
            if view.abandoned:
                return last
    finally:
        if isinstance(view, PersonView):
            view.progress.finish()
    return last
