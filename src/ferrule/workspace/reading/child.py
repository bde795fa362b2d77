"""Work on files that may be anybody's, in a process of its own: libraries with parsers in C, decompression, endless loops.

The child is given a task, a path and a number, and prints one line of JSON, `Told`, and behind it the bytes it made.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from ferrule.process.protocol import Command, Processes
from ferrule.types.names import spell, unspell

TIMEOUT = 60.0
MEMORY = 2_147_483_648
MOST_OUTPUT = 67_108_864
EXTRA = "docs"


class Unshowable(Exception):
    """What a file holds cannot be shown; the text says why."""


class Told(Struct, frozen=True):
    """`facts` is a line about the content. One of them is set."""

    facts: str = ""
    error: str = ""


@dataclass(frozen=True)
class Hands:
    """What starts the child, its whole environment, and the workspace, in which it starts.

    `own`: outside of a sandbox, for files that cannot be seen from within.
    """

    processes: Processes
    environment: tuple[tuple[str, str], ...]
    folder: Path
    own: bool = False


async def ask(task: str, path: Path, hands: Hands, number: int = 0, timeout: float = TIMEOUT) -> tuple[str, bytes]:
    """The facts and the bytes that a task made of a file. Raises Unshowable."""
    printed = bytearray()

    def receive(data: bytes) -> None:
        if len(printed) <= MOST_OUTPUT:
            printed.extend(data)

    program = f"from {__name__} import child; child()"
    argv = (sys.executable, "-I", "-c", program, task, spell(str(path)), str(number))
    command = Command(argv, str(hands.folder), hands.environment, timeout, stderr="null", own=hands.own)
    ended = await hands.processes.run(command, receive)
    if ended.timed_out:
        raise Unshowable(f"reading it took more than {timeout:.0f} s")
    line, _, data = bytes(printed).partition(b"\n")
    try:
        told = msgspec.json.decode(line, type=Told)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        how = ended.error or (f"signal {ended.signal}" if ended.signal is not None else f"exit code {ended.exit_code}")
        raise Unshowable(f"the program that reads it broke down ({how})") from problem
    if told.error:
        raise Unshowable(told.error)
    if len(printed) > MOST_OUTPUT:
        raise Unshowable("it holds too much")
    return told.facts, data


def child() -> None:
    """The program of that process."""
    import os
    import resource

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard), hard))
    task, spelled, number = sys.argv[1:]
    try:
        facts, data = _work(task)(Path(os.fsdecode(unspell(spelled))), int(number))
        told = Told(facts)
    except ModuleNotFoundError as problem:
        told, data = Told(error=f"it takes the Python package {problem.name}; install ferrule with the extra `{EXTRA}`"), b""
    except Unshowable as problem:
        told, data = Told(error=str(problem)), b""
    except (MemoryError, RecursionError):
        told, data = Told(error="it takes too much memory"), b""
    except OSError as problem:
        told, data = Told(error=problem.strerror or str(problem)), b""
    except Exception as problem:  # libraries raise what they like at what is malformed
        told, data = Told(error=f"it is malformed ({type(problem).__name__}: {str(problem)[:200]})"), b""
    sys.stdout.buffer.write(msgspec.json.encode(told) + b"\n" + data)
    sys.stdout.buffer.flush()


def _work(task: str) -> Callable[[Path, int], tuple[str, bytes]]:
    match task:
        case "pdf":
            from .pdf import extract
        case "docx":
            from .docx import extract
        case "xlsx":
            from .xlsx import extract
        case "ipynb":
            from .notebook import extract
        case "image":
            from .image import extract
        case "block":
            from ferrule.workspace.outline.parsed import extract
        case "definitions":
            from ferrule.workspace.definitions.extract import extract
        case _:
            raise ValueError(f"no task {task}")
    return extract
