"""Writes AGENTS.md: what a look at the project shows. The same project gives the same text."""

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from ferrule.task.guidance.reading import Unusable, read
from ferrule.types.errors import ToolError, UsageError
from ferrule.types.names import spell
from ferrule.workspace.walk import Entry, walk
from ferrule.workspace.writing import ABSENT, put, see

from .languages import language
from .manifests import Told, commands

FILE = "AGENTS.md"
MOST_FILES = 200_000
MOST_FOLDERS = 40
MANIFEST_BYTES = 1_000_000


class Written(Struct, frozen=True):
    """`told` is what the file says, in a few words."""

    file: Path
    told: str
    notes: tuple[str, ...] = ()


def write_instructions(folder: Path, force: bool = False) -> Written:
    """Raises UsageError where there is one already, without `force`, and where it cannot be written."""
    file = folder / FILE
    if os.path.lexists(file) and not force:
        raise UsageError(f"{file} is there already and stays as it is; --force writes it anew")
    entries = walk(folder, most=MOST_FILES)
    found = commands(lambda name: _text(folder / name, folder))
    text = _render(folder.resolve().name, entries, found, folder)
    try:
        put(file.resolve() if force else file, lambda: (text.encode(),), see(file) if force else ABSENT)
    except ToolError as error:
        raise UsageError(f"{file} cannot be written: {error}") from error
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
    notes = []
    if (folder / "CLAUDE.md").exists():
        notes.append(f"CLAUDE.md is not read beside {FILE}; move what it says into it.")
    if len(entries) == MOST_FILES:
        notes.append(f"Only the first {MOST_FILES} files were looked at.")
    kinds = len(_languages(entries))
    return Written(file, f"{_count(kinds, 'language')}, {_count(len(found), 'command')}", tuple(notes))


def _render(name: str, entries: list[Entry], found: tuple[Told, ...], folder: Path) -> str:
    languages = _languages(entries)
    parts = [f"# {spell(name)}"]
    parts.append("Written in " + _listed(f"{each} ({_count(number, 'file')})" for each, number in languages.most_common(6)) + ".")
    if not languages:
        parts.pop()
    rows = [f"- `{told.command}` ({told.manifest})" for told in found]
    parts.append("## Commands\n\n" + ("\n".join(rows) or "No manifest names any. Say here how the project is built and tested."))
    if layout := _layout(entries, folder):
        parts.append("## Layout\n\n" + "\n".join(layout))
    parts.append("## Conventions\n\nSay here what nobody can see from outside: style, what must not be touched, how to commit.")
    return "\n\n".join(parts) + "\n"


def _languages(entries: Iterable[Entry]) -> "Counter[str]":
    """How many files each has; the same number in the order of the names."""
    counted = Counter(kind for entry in entries if not entry.folder and (kind := language(entry.path.name)))
    return Counter(dict(sorted(counted.items())))


def _layout(entries: list[Entry], folder: Path) -> list[str]:
    """The folders at the top that hold files, hidden ones left out, each with how many and in what language most of them are."""
    inside: dict[str, list[Entry]] = {}
    for entry in entries:
        parts = entry.path.relative_to(folder).parts
        if len(parts) > 1 and not entry.folder and not parts[0].startswith("."):
            inside.setdefault(parts[0], []).append(entry)
    lines = []
    for name, files in sorted(inside.items()):
        (most, *_) = _languages(files).most_common(1) or [("", 0)]
        about = f", mostly {most[0]}" if most[0] else ""
        lines.append(f"- `{spell(name)}/`: {_count(len(files), 'file')}{about}")
    more = [f"- and {len(lines) - MOST_FOLDERS} more folders"] if len(lines) > MOST_FOLDERS else []
    return [*lines[:MOST_FOLDERS], *more]


def _text(file: Path, folder: Path) -> str | None:
    if not os.path.lexists(file):
        return None
    try:
        return read(file, (folder.resolve(),), MANIFEST_BYTES).text
    except Unusable:
        return None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _listed(items: Iterable[str]) -> str:
    *first, last = list(items) or [""]
    return f"{', '.join(first)} and {last}" if first else last
