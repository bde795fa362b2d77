"""One command line from its words to its exit code. Expected failures are one sentence on standard error, never a traceback."""

import os
import sys
from collections.abc import Mapping, Sequence

from ferrule.types.errors import FerruleError, LeaseHeld, UsageError

from .arguments import Invocation, understand
from .flags import REVIEW, RUN

NOTHING_TO_DO = """\
what shall be done? Write for example:
  ferrule -p "fix the failing test"       a task
  git diff | ferrule -p "explain this"    a task with text from a pipe
  ferrule -c -p "now add a test"          go on with the last session of this folder
  ferrule --help                          everything else"""


def run(arguments: Sequence[str]) -> int:
    """Raises KeyboardInterrupt, which the caller turns into an exit code."""
    try:
        invocation = understand(arguments)
    except UsageError as error:
        _complain(error)
        if wanted := _wanted(arguments):
            _report(wanted, error, REVIEW in arguments)
        return error.outcome.exit_code
    try:
        return _dispatch(invocation, dict(os.environ))
    except FerruleError as error:
        _complain(error)
        if invocation.command in (RUN, REVIEW) and invocation.output_format != "text":
            _report(invocation.output_format, error, invocation.command == REVIEW)
        return error.outcome.exit_code


def _dispatch(invocation: Invocation, environ: Mapping[str, str]) -> int:
    from .show.output import deliver

    if invocation.help:
        from .help import HELP

        return deliver(HELP)
    if invocation.version:
        from ferrule import __version__

        return deliver(f"ferrule {__version__}\n")
    match invocation.command:
        case "sessions":
            from .sessions import sessions

            return sessions(invocation, environ)
        case "undo":
            from .undoing.undo import undo_session

            return undo_session(invocation, environ)
        case "replay":
            from .playing.replay import replay_session

            return replay_session(invocation, environ)
        case "trace":
            from .trace import show_trace

            return show_trace(invocation, environ)
        case "receipt":
            from .receipt import verify

            return verify(invocation, environ)
        case "doctor":
            from .doctor import doctor

            return doctor(invocation, environ)
        case "demo":
            from .demo import demo

            return demo(invocation, environ)
        case "config" | "init" | "mcp":
            return _set_up(invocation, environ)
        case "review":
            from .review import review

            return review(invocation, environ)
        case _:
            return _run(invocation, environ)


def _set_up(invocation: Invocation, environ: Mapping[str, str]) -> int:
    if invocation.command == "init":
        from .setting.init import init

        return init(invocation, environ)
    if invocation.command == "mcp":
        from .setting.mcp import mcp

        return mcp(invocation, environ)
    from .setting.config import config

    return config(invocation, environ)


def _run(invocation: Invocation, environ: Mapping[str, str]) -> int:
    from .prompt import gather

    prompt = gather(invocation.prompt, sys.stdin, note, may_wait=invocation.prompt is None and invocation.resume is None)
    if prompt is None and invocation.resume is None:
        raise UsageError(NOTHING_TO_DO)
    if invocation.worktree is None:
        return _perform(invocation, prompt, environ)
    from .setting.worktree import in_worktree

    return in_worktree(invocation, environ, lambda moved: _perform(moved, prompt, environ), note)


def _perform(invocation: Invocation, prompt: str | None, environ: Mapping[str, str]) -> int:
    from ferrule.task.config.layers import user_file

    from .start import configured, start

    config = configured(invocation, environ)
    from ferrule.task.open import TaskOptions

    options = TaskOptions(
        prompt=prompt,
        folder=invocation.folder,
        extra=invocation.extra,
        resume=invocation.resume,
        no_session=invocation.no_session,
        config=config,
        environ=environ,
        user_folder=user_file(environ).parent,
        append_system_prompt=invocation.append_system_prompt,
        if_busy="refuse" if invocation.if_busy == "read" else invocation.if_busy,
        told=note,
    )
    try:
        return start(options, invocation.output_format, invocation.receipt)
    except LeaseHeld:
        if invocation.if_busy != "read":
            raise
    from .playing.follow import follow_session

    return follow_session(options, invocation.output_format, "code")


def note(text: str) -> None:
    """A remark that is neither progress nor a result."""
    from .show.output import standard_error
    from .show.terminal import clean

    standard_error().text(f"ferrule: {clean(text)}\n")


def _complain(error: FerruleError) -> None:
    note(str(error) or type(error).__name__)


def _wanted(arguments: Sequence[str]) -> str | None:
    """The format for programs that a command line asks for, even where the rest of it cannot be understood."""
    flag = "--output-format"
    for word, following in zip(arguments, (*arguments[1:], ""), strict=True):
        name, equals, text = word.partition("=")
        if name == flag and (wanted := text if equals else following) in ("json", "stream-json", "sarif"):
            return wanted
    return None


def _report(output_format: str, error: FerruleError, of_review: bool) -> None:
    from .headless import failed_result
    from .show.output import result_json, result_line, standard_output

    result = failed_result(error.outcome, str(error))
    if of_review:
        from .review import never_began

        standard_output().bytes(never_began(result, output_format))
    elif output_format != "sarif":
        standard_output().bytes(result_json(result) if output_format == "json" else result_line(result))
