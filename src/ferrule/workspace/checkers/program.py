"""Programs that come in wheels: finding them, giving them files, reading what they print."""

import os
from pathlib import Path
from typing import Any

import msgspec

from ferrule.process.protocol import Command
from ferrule.types.names import unspell

from .base import Changed, CheckerFailed, Missing, Surroundings

MOST_OUTPUT = 16_777_216
VERSION_TIMEOUT = 10.0


def find(name: str, path: str | None) -> str:
    """The program that was installed with the running Python's packages, else the one on `path`. Raises Missing."""
    import shutil
    import sysconfig

    beside = Path(sysconfig.get_path("scripts")) / name
    if os.access(beside, os.X_OK):
        return str(beside)
    if found := shutil.which(name, path=path):
        return found
    raise Missing(f"{name} was found neither beside Python nor on PATH")


async def version(program: str, surroundings: Surroundings) -> str:
    """The last word of what `--version` prints."""
    said, _ = await output((program, "--version"), surroundings.folder, surroundings, VERSION_TIMEOUT)
    words = said.decode(errors="replace").split()
    return words[-1] if words else "?"


async def output(
    argv: tuple[str, ...],
    cwd: Path,
    surroundings: Surroundings,
    timeout: float,
    codes: tuple[int, ...] = (0,),
    *,
    stderr: bool = False,
) -> tuple[bytes, int]:
    """What a program printed and its exit code, which is one of `codes`. `stderr`: with what it wrote there.

    Raises CheckerFailed, and TimeoutError after `timeout` seconds.
    """
    printed = bytearray()

    def receive(data: bytes) -> None:
        if len(printed) <= MOST_OUTPUT:
            printed.extend(data)

    lent = (str(surroundings.folder),)
    command = Command(argv, str(cwd), surroundings.environment, timeout, stderr="output" if stderr else "null", lent=lent)
    ended = await surroundings.processes.run(command, receive)
    name = Path(argv[0]).name
    if ended.timed_out:
        raise TimeoutError(f"{name} took more than {timeout:.0f} s")
    if ended.error is not None:
        raise CheckerFailed(f"{name}: {ended.error}")
    if len(printed) > MOST_OUTPUT:
        raise CheckerFailed(f"{name} printed more than {MOST_OUTPUT} bytes")
    if ended.exit_code not in codes:
        how = f"signal {ended.signal}" if ended.signal is not None else f"exit code {ended.exit_code}"
        raise CheckerFailed(f"{name} ended with {how}")
    return bytes(printed), ended.exit_code


def decoded(data: bytes, type: Any, name: str) -> Any:
    """`data` as JSON of `type`. Raises CheckerFailed."""
    try:
        return msgspec.json.decode(data, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise CheckerFailed(f"{name} printed something else than expected: {problem}") from problem


def lay_out(files: tuple[Changed, ...], folder: Path) -> dict[str, Changed]:
    """Write the new contents below `folder` and give the files by the relative paths written.

    A path keeps its own name, on which the rules of a project may depend, unless the name could not be printed and read back as
    it is, leads out of the folder, or is that of a configuration file, which a program might obey.
    """
    laid: dict[str, Changed] = {}
    for index, file in enumerate(files):
        name = file.path if _plain(file) else f"unusual-name-{index}/{index}{file.suffix if file.suffix.isalnum() else ''}"
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.new or b"")
        laid[name] = file
    return laid


def _plain(file: Changed) -> bool:
    parts = file.path.split("/")
    usual = file.path.isprintable() and unspell(file.path) == file.path.encode(errors="replace") and "\\" not in file.path
    return usual and all(part not in ("", ".", "..", ".git") and len(part.encode()) < 255 for part in parts)
