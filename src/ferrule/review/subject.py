"""What is reviewed: a comparison of two trees, which of its files are looked at, and how much of them is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from msgspec import Struct

from ferrule.types.names import unspell
from ferrule.types.records import Reviewed
from ferrule.workspace.checkers.subject import Subject as Checked
from ferrule.workspace.checkers.subject import subject as checked
from ferrule.workspace.diff.model import SUBMODULE, File
from ferrule.workspace.git import changes
from ferrule.workspace.git.changes import Comparison
from ferrule.workspace.git.repository import Git

from .generated import ATTRIBUTES, why_not_by_hand

FILE_CHARACTERS = 24_000
TOTAL_CHARACTERS = 120_000
CONTENT_BYTES = 1_048_576


class Wanted(Struct, frozen=True):
    """What the person asked to have reviewed. `ref` is a commit (kind `commit`) or the base of a comparison."""

    kind: Literal["worktree", "staged", "commit", "range"]
    ref: str | None = None
    paths: tuple[str, ...] = ()


class Shown(Struct, frozen=True):
    """How much of a file's diff the reviewer was given, and why not all of it."""

    path: str
    how: Literal["full", "partial", "skipped"]
    why: str = ""


@dataclass(frozen=True)
class Subject:
    """`text` is the diff as far as it is shown; `checked` is what the checkers are given."""

    comparison: Comparison
    wanted: Wanted
    shown: tuple[Shown, ...]
    text: str
    checked: Checked

    @property
    def title(self) -> str:
        base = (self.comparison.base or "nothing")[:12]
        match self.comparison.kind:
            case "worktree":
                return f"the working tree against {base}"
            case "staged":
                return f"what is staged against {base}"
            case "commit":
                return f"commit {(self.comparison.head or '')[:12]}"
            case _:
                return f"{base}...{(self.comparison.head or '')[:12]}"

    @property
    def record(self) -> Reviewed:
        comparison = self.comparison
        return Reviewed(comparison.kind, comparison.base, comparison.content_id, self.wanted.paths)


async def compare(git: Git, wanted: Wanted) -> Comparison:
    """Raises UsageError for a reference or a path that is not there."""
    paths = tuple(Path(path) for path in wanted.paths)
    match wanted.kind:
        case "worktree":
            return await changes.worktree(git, wanted.ref, paths)
        case "staged":
            return await changes.staged(git, wanted.ref, paths)
        case "commit":
            return await changes.commit(git, wanted.ref or "HEAD", paths)
        case "range":
            return await changes.between(git, wanted.ref or "HEAD", "HEAD", paths)


async def look(git: Git, wanted: Wanted) -> Subject:
    """Raises UsageError as `compare` does."""
    comparison = await compare(git, wanted)
    files = comparison.diff.files
    heads = await git.contents(
        [id for file in files if (id := file.blob("RIGHT")) is not None and not file.symlink], CONTENT_BYTES
    )
    attributes = await git.attributes(comparison.base_tree, [unspell(file.path) for file in files], ATTRIBUTES)
    reasons = {}
    for file in files:
        said, head = attributes.get(unspell(file.path), {}), heads.get(file.blob("RIGHT") or "")
        if (why := why_not_by_hand(file.path, said, head)) is not None:
            reasons[file.path] = why
    shown, text = show(files, reasons)
    return Subject(comparison, wanted, shown, text, await checked(git, comparison, reasons))


def show(files: Sequence[File], reasons: Mapping[str, str]) -> tuple[tuple[Shown, ...], str]:
    """The diff in words, whole hunks only, within the budgets; and what became of each file."""
    shown: list[Shown] = []
    blocks: list[str] = []
    left = TOTAL_CHARACTERS
    for file in files:
        why = reasons.get(file.path) or _unshowable(file)
        if why is not None:
            shown.append(Shown(file.path, "skipped", why))
            continue
        block, whole = file_text(file, min(FILE_CHARACTERS, left))
        if not block:
            shown.append(Shown(file.path, "skipped", "the diff is longer than what is shown at once; read_diff shows it"))
            continue
        left -= len(block)
        blocks.append(block)
        how: Literal["full", "partial"] = "full" if whole else "partial"
        shown.append(Shown(file.path, how, "" if whole else "its diff is long; read_diff shows the rest"))
    return tuple(shown), "\n".join(blocks)


def _unshowable(file: File) -> str | None:
    if SUBMODULE in (file.old_mode, file.new_mode):
        return "a submodule"
    if file.binary:
        return "binary"
    return file.omitted


def file_text(file: File, most: int, first_hunk: int = 0) -> tuple[str, bool]:
    """The file's hunks from `first_hunk` on with the numbers of both sides, and whether none is left out.

    Empty where not even the first hunk fits.
    """
    lines = [_head(file)]
    size = len(lines[0])
    width = len(str(max((hunk.old_start + hunk.old_count + hunk.new_start + hunk.new_count for hunk in file.hunks), default=1)))
    for hunk in file.hunks[first_hunk:]:
        block = [f"@@ hunk {hunk.index + 1} of {len(file.hunks)} @@ {hunk.section}".rstrip()]
        marks = {"context": " ", "added": "+", "deleted": "-"}
        block += [f"{line.old or '':>{width}} {line.new or '':>{width}} {marks[line.kind]}{line.text}" for line in hunk.lines]
        size += sum(map(len, block)) + len(block)
        if size > most:
            return ("\n".join(lines) if len(lines) > 1 else ""), False
        lines += block
    return "\n".join(lines), True


def _head(file: File) -> str:
    renamed = f" (was {file.old_path})" if file.old_path not in (None, file.path) else ""
    mode = f", mode {file.old_mode:o} → {file.new_mode:o}" if file.mode_changed else ""
    return f"=== {file.path}{renamed}: {file.status}{mode}"
