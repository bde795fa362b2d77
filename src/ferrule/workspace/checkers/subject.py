"""What is to be checked: the changed files with their contents, and what checkers may ask about the repository around them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from ferrule.types.names import spell
from ferrule.workspace.diff.anchors import changed_lines
from ferrule.workspace.diff.model import SYMLINK, File
from ferrule.workspace.git.changes import Comparison
from ferrule.workspace.git.repository import Git

from .base import LARGEST, Changed

_LISTING = 64_000_000


@dataclass(frozen=True)
class Subject:
    """`base_file` gives a file of the side before the change, `exists` tells whether the side after it has a file or folder.

    Both take paths as in `Changed` and work as long as the repository is open. `notes` are for the person.
    """

    files: tuple[Changed, ...]
    base_file: Callable[[str], Awaitable[bytes | None]]
    exists: Callable[[str], Awaitable[bool]]
    notes: tuple[str, ...] = ()


async def subject(git: Git, comparison: Comparison, skip: Mapping[str, str] | None = None) -> Subject:
    """The subject of a comparison. `skip` has reasons, by `File.path`, why the content of a file is not to be judged."""
    files = [file for file in comparison.diff.files if not file.submodule]
    wanted = [blob for file in files for blob in (file.blob("LEFT"), file.blob("RIGHT")) if blob and not file.symlink]
    contents = await git.contents(wanted, LARGEST)
    sizes = await _sizes(git, [file.blob("RIGHT") for file in files if file.blob("RIGHT") not in contents])
    changed = tuple(_changed(file, contents, sizes, skip or {}) for file in files)
    around = _Around(git, comparison)
    return Subject(changed, around.base_file, around.exists, comparison.diff.notes)


def _changed(file: File, contents: dict[str, bytes], sizes: dict[str, int], skip: Mapping[str, str]) -> Changed:
    old, new = file.blob("LEFT"), file.blob("RIGHT")
    content = contents.get(new or "")
    size = len(content) if content is not None else sizes.get(new or "", 0)
    return Changed(
        path=file.path,
        new=content,
        old=contents.get(old or "") if file.status != "copied" else None,
        lines=tuple(sorted(changed_lines(file))),
        old_path=file.old_path,
        mode=file.new_mode,
        old_mode=file.old_mode if file.status != "copied" else 0,
        size=size,
        skip=_reason(file, size, skip),
    )


def _reason(file: File, size: int, skip: Mapping[str, str]) -> str | None:
    if file.path in skip:
        return skip[file.path]
    if file.new_mode == 0:
        return "deleted"
    if file.new_mode == SYMLINK:
        return "a symbolic link"
    if file.binary:
        return "binary"
    if size > LARGEST:
        return f"larger than {LARGEST} bytes"
    return file.omitted


async def _sizes(git: Git, blobs: list[str | None]) -> dict[str, int]:
    ids = [blob for blob in blobs if blob]
    if not ids:
        return {}
    feed = "".join(f"{each}\n" for each in ids).encode()
    printed = await git.output(["cat-file", "--batch-check", "--buffer"], feed=feed, limit=200 * len(ids))
    fields = (line.split() for line in printed.decode().splitlines())
    return {each[0]: int(each[2]) for each in fields if len(each) == 3 and each[1] == "blob"}


class _Around:
    """The two trees of a comparison. The listing of the new one is read when somebody first asks."""

    def __init__(self, git: Git, comparison: Comparison) -> None:
        self._git = git
        self._comparison = comparison
        self._names: frozenset[str] | None = None

    async def base_file(self, path: str) -> bytes | None:
        return await self._git.file_at(self._comparison.base_tree, path, LARGEST)

    async def exists(self, path: str) -> bool:
        if path in ("", "."):
            return True
        if self._names is None:
            listed = await self._git.output(["ls-tree", "-r", "-t", "-z", "--name-only", self._comparison.tree], limit=_LISTING)
            self._names = frozenset(spell(name) for name in listed.split(b"\0"))
        return path in self._names
