"""The first filling of an index: every file that ripgrep lists."""

from collections.abc import Callable, Iterable
from pathlib import Path

from ferrule.process.protocol import Command, Processes
from ferrule.types.names import spell
from ferrule.workspace.ripgrep import find_ripgrep

PORTION = 1_572_864
"""Bytes of names that are handed over at once."""
Environment = tuple[tuple[str, str], ...]


def arguments(program: str) -> tuple[str, ...]:
    """To be run in the folder; names end with a NUL."""
    options = ("--no-config", "--files", "--null", "--hidden", "--no-require-git", "--no-messages", "--glob=!.git")
    return (program, *options)


async def listed(root: Path, processes: Processes, environment: Environment, take: Callable[[list[str]], None]) -> str:
    """Hands over the paths in portions. What went wrong in words, empty for nothing."""
    program = find_ripgrep(dict(environment).get("PATH"))
    if program is None:
        return "ripgrep (`rg`) was found neither beside Python nor on PATH"
    portions = Portions(take)
    ended = await processes.run(Command(arguments(program), str(root), environment, stderr="null", own=True), portions.feed)
    portions.finish()
    if ended.error or ended.signal is not None:
        return f"listing the files failed: {ended.error or f'ripgrep was ended by signal {ended.signal}'}"
    return ""


class Portions:
    """Cuts what ripgrep prints into names."""

    def __init__(self, take: Callable[[list[str]], None]) -> None:
        self._take = take
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> None:
        self._data.append(data)
        self._size += len(data)
        if self._size >= PORTION:
            self.finish()

    def finish(self) -> None:
        whole, end, rest = b"".join(self._data).rpartition(b"\0")
        self._data, self._size = [rest], len(rest)
        if end:
            self._take(names(whole))


def names(joined: bytes) -> list[str]:
    """The spellings of what stands between NULs, all at once where all is UTF-8 without anything special."""
    try:
        text = joined.decode()
    except UnicodeDecodeError:
        text = "\ufffd"
    return [spell(name) for name in joined.split(b"\0")] if "\ufffd" in text else text.split("\0")


def folders(paths: Iterable[str]) -> set[str]:
    """All folders on the way to these paths."""
    found: set[str] = set()
    for folder in {path[: path.rfind("/") + 1] for path in paths}:
        while folder and folder not in found:
            found.add(folder)
            folder = folder[: folder.rfind("/", 0, -1) + 1]
    return found
