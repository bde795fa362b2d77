"""What is reviewed: a comparison of two trees, which of its files are looked at, and how much of them is shown."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from ferrule.context.secrets import Mask
from ferrule.tools.checks.text import named
from ferrule.types.names import unspell
from ferrule.types.records import Reviewed
from ferrule.workspace.checkers.subject import Subject as Checked
from ferrule.workspace.checkers.subject import subject as checked
from ferrule.workspace.diff.model import SUBMODULE, Diff, File, Hunk, Line, LineKind
from ferrule.workspace.git import changes
from ferrule.workspace.git.changes import Comparison
from ferrule.workspace.git.repository import Git
from ferrule.workspace.ignoring.guard import Guard

from .generated import ATTRIBUTES, why_not_by_hand
from .hiding import secrets_mask

FILE_CHARACTERS = 24_000
TOTAL_CHARACTERS = 120_000
LEAST_CHARACTERS = 2000
"""With less room than this, a file is left to read_diff."""
LINE_CHARACTERS = 2000
"""What is shown of a single line."""
CONTENT_BYTES = 1_048_576
MARKS: dict[LineKind, Literal[" ", "+", "-"]] = {"context": " ", "added": "+", "deleted": "-"}


class Wanted(Struct, frozen=True):
    """What the person asked to have reviewed. `ref` is a commit (kind `commit`) or the base of a comparison, `head` where a
    range ends."""

    kind: Literal["worktree", "staged", "commit", "range"]
    ref: str | None = None
    paths: tuple[str, ...] = ()
    head: str = "HEAD"


class Shown(Struct, frozen=True):
    """How much of a file's diff the reviewer was given, and why not all of it."""

    path: str
    how: Literal["full", "partial", "skipped"]
    why: str = ""


class Place(NamedTuple):
    """A line of a file's change, by its hunk and its place in that, both counted from 0."""

    hunk: int
    line: int

    def __str__(self) -> str:
        """As arguments of `read_diff`, which count from 1."""
        return f"hunk={self.hunk + 1}, line={self.line + 1}"


class Part(Struct, frozen=True):
    """A part of a file's change as text, and where the next one begins; None where nothing follows."""

    text: str
    following: Place | None


@dataclass(frozen=True)
class Subject:
    """`text` is the diff as far as it is shown, without the values of secrets, which `mask` replaces; `rest` tells where the
    part of a file begins that is not shown; `checked` is what the checkers are given; `ignored` are changed files that ignore
    files keep from all of them, the reviewer included.
    """

    comparison: Comparison
    wanted: Wanted
    shown: tuple[Shown, ...]
    text: str
    rest: Mapping[str, Place]
    checked: Checked
    mask: Mask
    ignored: tuple[Shown, ...] = ()

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
            return await changes.between(git, wanted.ref or "HEAD", wanted.head, paths)


async def look(git: Git, wanted: Wanted) -> Subject:
    """Raises UsageError as `compare` does."""
    comparison, ignored = without_ignored(await compare(git, wanted), Guard(await git.top()))
    files = comparison.diff.files
    heads = await git.contents(
        [id for file in files if (id := file.blob("RIGHT")) is not None and not file.symlink], CONTENT_BYTES
    )
    attributes = await git.attributes(comparison.base_tree, [file.path for file in files], ATTRIBUTES)
    reasons = {}
    for file in files:
        said, head = attributes.get(file.path, {}), heads.get(file.blob("RIGHT") or "")
        if (why := why_not_by_hand(file.path, said, head)) is not None:
            reasons[file.path] = why
    shown, text, rest = show(files, reasons)
    to_check = await checked(git, comparison, reasons)
    mask = await asyncio.to_thread(secrets_mask, files, to_check.files)
    return Subject(comparison, wanted, shown, mask.text(text), rest, to_check, mask, ignored)


def without_ignored(comparison: Comparison, guard: Guard) -> tuple[Comparison, tuple[Shown, ...]]:
    """A comparison in which no file is left that an ignore file means, by its old or its new name, and what became of those."""
    why = {file.path: said for file in comparison.diff.files if (said := _ignored(file, guard)) is not None}
    if not why:
        return comparison, ()
    kept = tuple(file for file in comparison.diff.files if file.path not in why)
    note = f"{len(why)} changed file{' is' if len(why) == 1 else 's are'} ignored and not looked at."
    diff = Diff(kept, (*comparison.diff.notes, note))
    return replace(comparison, diff=diff), tuple(Shown(path, "skipped", said) for path, said in why.items())


def _ignored(file: File, guard: Guard) -> str | None:
    names = dict.fromkeys(name for name in (file.new_path, file.old_path) if name is not None)
    return next((why for name in names if (why := guard.ignored(str(guard.root / os.fsdecode(unspell(name)))))), None)


def show(files: Sequence[File], reasons: Mapping[str, str]) -> tuple[tuple[Shown, ...], str, dict[str, Place]]:
    """The diff in words within the budgets, what became of each file, and where the rest of those begins that did not fit."""
    shown: list[Shown] = []
    blocks: list[str] = []
    rest: dict[str, Place] = {}
    left = TOTAL_CHARACTERS
    for file in files:
        why = reasons.get(file.path) or _unshowable(file)
        if why is not None:
            shown.append(Shown(file.path, "skipped", why))
            continue
        if left < LEAST_CHARACTERS:
            rest[file.path] = Place(0, 0)
            shown.append(Shown(file.path, "skipped", "the diff is longer than what is shown at once; read_diff shows it"))
            continue
        part = file_part(file, min(FILE_CHARACTERS, left))
        left -= len(part.text)
        blocks.append(part.text)
        if part.following is None:
            shown.append(Shown(file.path, "full"))
            continue
        rest[file.path] = part.following
        shown.append(Shown(file.path, "partial", f"its diff is long; read_diff shows the rest ({part.following})"))
    return tuple(shown), "\n".join(blocks), rest


def _unshowable(file: File) -> str | None:
    if SUBMODULE in (file.old_mode, file.new_mode):
        return "a submodule"
    if file.binary:
        return "binary"
    return file.omitted


def file_part(file: File, most: int, start: Place = Place(0, 0)) -> Part:  # noqa: B008 a place is a value
    """The file's change from `start` on with the numbers of both sides, about `most` characters of it and at least one line."""
    rows = [_head(file)]
    size = len(rows[0])
    width = len(str(max((hunk.old_start + hunk.old_count + hunk.new_start + hunk.new_count for hunk in file.hunks), default=1)))
    for hunk in file.hunks[start.hunk :]:
        first = start.line if hunk.index == start.hunk else 0
        head = _hunk_head(hunk, len(file.hunks), first)
        for number, line in enumerate(hunk.lines[first:], first):
            row = _row(line, width)
            block = [head, row] if number == first else [row]
            size += sum(map(len, block)) + len(block)
            if size > most and len(rows) > 1:
                return Part("\n".join(rows), Place(hunk.index, number))
            rows += block
    return Part("\n".join(rows), None)


def _hunk_head(hunk: Hunk, count: int, first: int) -> str:
    begins = f", from its line {first + 1} of {len(hunk.lines)}" if first else ""
    return f"@@ hunk {hunk.index + 1} of {count}{begins} @@ {hunk.section}".rstrip()


def _row(line: Line, width: int) -> str:
    more = len(line.text) - LINE_CHARACTERS
    text = f"{line.text[:LINE_CHARACTERS]}… ({more} more characters)" if more > 0 else line.text
    return f"{line.old or '':>{width}} {line.new or '':>{width}} {MARKS[line.kind]}{text}"


def _head(file: File) -> str:
    renamed = f" (was {named(file.old_path)})" if file.old_path is not None and file.old_path != file.path else ""
    mode = f", mode {file.old_mode:o} → {file.new_mode:o}" if file.mode_changed else ""
    return f"=== {named(file.path)}{renamed}: {file.status}{mode}"
