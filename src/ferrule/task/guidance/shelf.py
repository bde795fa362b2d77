"""What is used by name: skills and slash commands. Only the beginning of each file is read until somebody uses it."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct

from .frontmatter import divide, text_of
from .places import Base, Where, Whose
from .reading import Unusable, read, target

HEAD = 65_536
"""Bytes of a file in which its frontmatter must end."""
MOST = 200
"""Entries of one folder that are looked at."""
DESCRIPTION = 1_024
SKILL_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
COMMAND_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\Z")

Kind = Literal["skills", "commands"]


class Item(Struct, frozen=True):
    """A skill or a command. `hint` tells what may follow its name; `mode` and `model` are what its author wants it used with.

    `bounds` as in `Base`. `by` names what takes its place, empty where it counts.
    """

    kind: Kind
    name: str
    file: Path
    whose: Whose
    description: str = ""
    hint: str = ""
    mode: str = ""
    model: str = ""
    bounds: tuple[Path, ...] = ()
    by: str = ""


class Trouble(NamedTuple):
    """What was not read, and why, told so that it follows the path."""

    path: Path
    why: str


class Unread(NamedTuple):
    """A folder of skills or commands that is not opened, because `project` is not trusted."""

    shelf: Path
    project: Path


def stock(where: Where, kind: Kind, troubles: list[Trouble], untrusted: list[Unread]) -> Iterator[Item]:
    """All of a kind, the strongest first; the later ones of the same name are marked. A folder that is not trusted is not
    opened."""
    taken: dict[str, str] = {}
    for base, shelf in where.shelves(kind):
        if not os.path.lexists(shelf):
            continue
        if base.whose == "project" and not where.trusted(base.folder):
            untrusted.append(Unread(shelf, base.folder))
            continue
        for path in _entries(shelf, base, kind, troubles):
            try:
                item = (_skill if kind == "skills" else _command)(path, base, where)
            except Unusable as problem:
                troubles.append(Trouble(path, str(problem)))
                continue
            if item is not None:
                by = taken.setdefault(item.name, where.shown(item.file))
                yield item if by == where.shown(item.file) else Item(kind, item.name, item.file, item.whose, by=by)


def body(item: Item, most: int) -> tuple[str, bool]:
    """Its text without the frontmatter, as it is right now, and whether it was cut after `most` bytes. Raises Unusable."""
    contents = read(item.file, item.bounds, most)
    return divide(contents.text)[1].strip(), contents.cut


def _entries(shelf: Path, base: Base, kind: Kind, troubles: list[Trouble]) -> list[Path]:
    try:
        names = sorted(path.name for path in target(shelf, base.bounds).iterdir() if not path.name.startswith("."))
    except Unusable as problem:
        troubles.append(Trouble(shelf, str(problem)))
        return []
    except OSError as error:
        troubles.append(Trouble(shelf, f"cannot be listed: {error.strerror}"))
        return []
    if kind == "skills":
        found = [shelf / name / "SKILL.md" for name in names if os.path.lexists(shelf / name / "SKILL.md")]
    else:
        found = [shelf / name for name in names if name.endswith(".md")]
    if len(found) > MOST:
        troubles.append(Trouble(shelf, f"holds {len(found)} {kind}, of which the first {MOST} are read"))
    return found[:MOST]


def _skill(file: Path, base: Base, where: Where) -> Item | None:
    """None for one that is for other modes only. Raises Unusable."""
    fields, _ = divide(read(file, base.bounds, HEAD).text)
    name = text_of(fields, "name") or file.parent.name
    if name != file.parent.name:
        raise Unusable(f'calls itself "{name}", but stands in a folder of another name')
    if not SKILL_NAME.match(name) or len(name) > 64:
        raise Unusable("is not named with small letters, digits and single dashes, 64 at most")
    description = text_of(fields, "description")
    if not description:
        raise Unusable("has no description in its frontmatter")
    wanted = fields.get("modeSlugs", fields.get("mode", ()))
    modes = (wanted,) if isinstance(wanted, str) else wanted
    if modes and where.mode not in modes:
        return None
    return Item("skills", name, file, base.whose, _short(description), bounds=base.bounds)


def _command(file: Path, base: Base, where: Where) -> Item:
    """Raises Unusable."""
    name = file.name.removesuffix(".md")
    if not COMMAND_NAME.match(name):
        raise Unusable("cannot be typed as a command: its name is letters, digits, `.`, `_` and `-`")
    fields, _ = divide(read(file, base.bounds, HEAD).text)
    description, hint, mode, model = (
        _short(text_of(fields, field)) for field in ("description", "argument-hint", "mode", "model")
    )
    return Item("commands", name, file, base.whose, description, hint, mode, model, base.bounds)


def _short(text: str) -> str:
    return text if len(text) <= DESCRIPTION else f"{text[: DESCRIPTION - 1]}…"
