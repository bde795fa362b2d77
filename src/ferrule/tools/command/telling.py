"""What the model is told of a command."""

import signal

from ferrule.process.protocol import Ended
from ferrule.types.records import Process, ProcessEnd

TOLD = 1.0
"""Seconds from which on the duration is told."""

NO_INPUT = "there is no terminal and no input here. Use flags or a file that answer it"
SHOWN = 200


def short(command: str) -> str:
    """A command line, quoted, on one line of bounded length."""
    line = " ".join(command.split())
    return f"`{line if len(line) <= SHOWN else line[: SHOWN - 1] + '…'}`"


def status(ended: Ended) -> str:
    """How a command of the foreground ended, as a sentence."""
    if ended.error is not None:
        return f"The command did not run to its end: {ended.error}."
    if ended.timed_out:
        return f"It was ended after {ended.seconds:.0f} s, the person's limit for commands (timeouts.command)."
    return f"{_code(ended.exit_code, ended.signal)}{_took(ended.seconds)}."


def end_of(end: ProcessEnd) -> str:
    """The same of a process with a handle, as what follows its name."""
    took = _took(end.seconds)
    if end.stopped:
        return f"was stopped{took}"
    if end.timed_out:
        return f"was ended{took}, the person's limit for commands (timeouts.command)"
    if end.error:
        return f"has ended{took}: {end.error}"
    code = _code(end.exit_code, end.signal)
    return f"has ended: {code[0].lower()}{code[1:]}{took}"


def left_behind(count: int) -> str:
    some = "1 process" if count == 1 else f"{count} processes"
    return (
        f"It left {some} running in the background, which had to be ended. To let a command run on, start it without `&` and "
        "with `background: true`; or start, use and stop it in one command."
    )


def asked(question: str) -> str:
    return f"It seems to have asked for input (`{question}`): {NO_INPUT}."


def note(processes: tuple[Process, ...]) -> str:
    """Word for the model of processes that have ended since it spoke."""
    lines = ["[Automatic note] Of the background processes:"]
    for process in processes:
        if process.ended is not None:
            output = "its output can be read" if process.ended.output else "nothing is kept of its output"
            lines.append(f"- {process.handle} ({short(process.command)}) {end_of(process.ended)}; {output}.")
    return "\n".join(lines)


def _took(seconds: float) -> str:
    return f" after {seconds:.1f} s" if seconds > TOLD else ""


def _code(code: int | None, number: int | None) -> str:
    if number is not None:
        return f"Ended by {_signal(number)}"
    code = code or 0
    hint = f" (as for {_signal(code - 128)})" if code > 128 and _signal(code - 128).startswith("SIG") else ""
    return f"Exit code {code}{hint}"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
