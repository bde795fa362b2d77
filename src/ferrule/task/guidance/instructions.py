"""Instructions that hold for every task: AGENTS.md, and the files in rules folders, the person's and the repository's."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from .places import OWN, ROO, Base, Where, Whose
from .reading import Contents, Unusable, read, target

FILES = ("AGENTS.md", "AGENT.md", "CLAUDE.md"), ("AGENTS.local.md", "AGENT.local.md", "CLAUDE.local.md")
"""Of each group the first that is there counts, in every folder."""
FILE_BYTES = 32_000
MOST_RULES = 200
PASSED_OVER = (".bak", ".swp", ".tmp", ".orig", ".rej", ".pyc", ".log", "~")


class Instruction(Struct, frozen=True):
    """One file. `by` names what takes its place, `why` why it is not read; it counts where both are empty."""

    file: Path
    whose: Whose
    contents: Contents | None = None
    by: str = ""
    why: str = ""


class _Candidate(NamedTuple):
    """`relative` is its path below the rules folder."""

    file: Path
    by: str = ""
    why: str = ""
    relative: str = ""


def instructions(where: Where) -> tuple[Instruction, ...]:
    """In the order in which they are told, so that the later one has the last word: the person's, then the nearer the later."""
    found: list[Instruction] = []
    seen: dict[Path, Path] = {}
    for base in (Base(where.user_folder, "person"), *where.chain()):
        for candidate in (*_named(base), *_rules(base, where.mode)):
            found.append(_read(candidate, base, seen, where))
    return tuple(found)


def _read(candidate: _Candidate, base: Base, seen: dict[Path, Path], where: Where) -> Instruction:
    file, by, why, _ = candidate
    if by or why:
        return Instruction(file, base.whose, by=by, why=why)
    try:
        contents = read(file, base.bounds, FILE_BYTES)
    except Unusable as problem:
        return Instruction(file, base.whose, why=str(problem))
    first = seen.setdefault(file.resolve(), file)
    if first != file:
        return Instruction(file, base.whose, by=f"{where.shown(first)}, the same file")
    return Instruction(file, base.whose, contents)


def _named(base: Base) -> Iterator[_Candidate]:
    for group in FILES:
        there = [base.folder / name for name in group if os.path.lexists(base.folder / name)]
        yield from (_Candidate(file, there[0].name if file != there[0] else "") for file in there)


def _rules(base: Base, mode: str) -> Iterator[_Candidate]:
    """Files of ours take the place of those of the same name in a folder that is read for compatibility."""
    for name in ("rules", f"rules-{mode}"):
        if base.whose == "person":
            yield from _below(base.folder / name, base)
            continue
        ours = tuple(_below(base.folder / OWN / name, base))
        names = {each.relative for each in ours if not each.why}
        yield from ours
        for each in _below(base.folder / ROO / name, base):
            yield each._replace(by=str(Path(OWN, name, each.relative))) if each.relative in names else each


def _below(folder: Path, base: Base) -> Iterator[_Candidate]:
    """Its files in the order of their names, folders in it included; and what keeps some of them from being found."""
    if not os.path.lexists(folder):
        return
    try:
        if not target(folder, base.bounds).is_dir():
            yield _Candidate(folder, why="is no folder")
            return
    except Unusable as problem:
        yield _Candidate(folder, why=str(problem))
        return
    failed: list[OSError] = []
    count = 0
    for place, folders, names in os.walk(folder, onerror=failed.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        linked = [name for name in folders if Path(place, name).is_symlink()]
        yield from (_Candidate(Path(place, name), why="is a link to a folder, and is not followed") for name in linked)
        for name in sorted(name for name in names if not name.startswith(".") and not name.endswith(PASSED_OVER)):
            count += 1
            if count > MOST_RULES:
                yield _Candidate(folder, why=f"holds more than {MOST_RULES} files, of which the others are not read")
                return
            file = Path(place, name)
            yield _Candidate(file, relative=str(file.relative_to(folder)))
    yield from (_Candidate(Path(error.filename), why=f"cannot be listed: {error.strerror}") for error in failed)
