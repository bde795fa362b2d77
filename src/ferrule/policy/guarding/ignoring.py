"""What a command names that an ignore file keeps tools away from.

Every word is taken for a path in all ways in which programs read words, and a command that goes down into folders reaches all
that they hold. As with `paths`, a program that may be run can open what it wants.
"""

# Paths are text here: os.path is several times faster than pathlib on the way of every command.
# ruff: noqa: PTH112, PTH117, PTH118, PTH120

import os.path
import re
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from ferrule.policy.line import Line, Part
from ferrule.policy.paths import LONGEST, SPEAKS, URL, not_paths
from ferrule.policy.words import Word
from ferrule.policy.wrappers import base

from .globbing import matches


class Ignores(Protocol):
    """The workspace's ignore files as they are now. Both say why, told so that it follows the path's name, or None."""

    def ignored(self, path: str) -> str | None:
        """Of an absolute path, or of what it leads to."""

    def holds_ignored(self, folder: str) -> str | None:
        """Of something that lies below a folder."""


class Nothing:
    """Where nothing is ignored."""

    def ignored(self, path: str) -> str | None:
        return None

    def holds_ignored(self, folder: str) -> str | None:
        return None


class Reach(NamedTuple):
    """An absolute path that a command may open, and how it was written. `below`: or anything below it."""

    text: str
    path: str
    below: bool = False


class _Reading(NamedTuple):
    """A text that may be a path. `there`: only if something lies there."""

    text: str
    glob: bool = False
    there: bool = False


CODE = re.compile(r"(python|pypy|node|nodejs|deno|bun|ruby|perl|php|lua|tclsh|osascript|Rscript|[gmn]?awk|sed|ed|ex|vim?)[\d.]*")
"""Programs that are told what to open in a language of their own."""
IN_CODE = re.compile(r"[^\s'\"`()\[\]{};,<>|&=:]+")
VERBS = frozenset(
    """
    git make npm pnpm yarn bun cargo go docker podman kubectl just task rake gradle mvn uv poetry pip hatch tox nox gh terraform
    helm systemctl apt apt-get brew mix dotnet swift flutter deno bazel meson ninja
    """.split()  # noqa: SIM905 one word a name reads better than a quoted list
)
"""Programs whose first word is what they are to do, or what they are to make."""
VERB = re.compile(r"[A-Za-z][\w:-]*")
RUNS = frozenset({"run", "run-script", "exec"})

DOWN = {
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep"), re.compile(r"-\w*[rR]\w*|--(dereference-)?recursive")),
    **dict.fromkeys(("cp", "scp"), re.compile(r"-\w*[rRa]\w*|--recursive|--archive")),
    "rm": re.compile(r"-\w*[rR]\w*|--recursive"),
    **dict.fromkeys(("chmod", "chown", "chgrp"), re.compile(r"-\w*R\w*|--recursive")),
    "diff": re.compile(r"-\w*r\w*|--recursive"),
    "zip": re.compile(r"-\w*r\w*|--recurse-paths"),
    "find": re.compile(r"-(exec|execdir|ok|okdir|delete|fprint\w*|fls|files0-from)"),
    **dict.fromkeys(
        ("rg", "ag", "ack", "ugrep", "mv", "ln", "rsync", "tar", "bsdtar", "7z", "cpio", "pax", "shred"), re.compile(r"")
    ),
}
"""Commands that go down into folders, by a word that makes them do so; those with an empty pattern always do."""
HERE = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack", "ugrep", "find", "git"})
"""Those that go down from where they are when no folder is named."""


def hidden(line: Line, command: str, start: str, home: str, ignores: Ignores) -> str | None:
    """A sentence about the first path that a command which begins in `start` may not touch, if there is any."""
    options = frozenset(name for name in ("dotglob", "globstar") if name in command)
    if "GLOBIGNORE" in command:
        options |= {"dotglob"}
    for part in line.parts:
        down = _goes_down(part)
        for reach in _Reader(part, command, start, home, options).reaches():
            if (why := ignores.ignored(reach.path)) is not None:
                return f"{reach.text} {why}"
            if (down or reach.below) and os.path.isdir(reach.path) and (why := ignores.holds_ignored(reach.path)) is not None:
                return f"{part.name} goes down into {reach.text}, which {why} Name the files; search_files leaves such out."
    return None


def _goes_down(part: Part) -> bool:
    name = base(part.name or "")
    texts = [word.value or "" for word in part.words[1:]]
    if name == "git":
        return "grep" in texts[:3]
    sign = DOWN.get(name)
    return sign is not None and (not sign.pattern or any(sign.fullmatch(text) for text in texts))


def _values(word: Word) -> Iterator[tuple[str, bool]]:
    """What a word may be, and whether that is a pattern. A `0` that is not certain may stand for any number."""
    for value in word.values or ():
        yield value, word.glob
        if not word.exact and "0" in value:
            yield value.replace("0", "*"), True


class _Reader:
    """Reads one simple command. What is not certain about its words is judged elsewhere. Where the folder is not known, that in
    which it all began stands for it."""

    def __init__(self, part: Part, command: str, start: str, home: str, options: frozenset[str]) -> None:
        self.part = part
        self.folders = (start,) if part.folders is None else part.folders
        self.command = command
        self.home = home
        self.options = options
        self.name = base(part.name or "")

    def reaches(self) -> Iterator[Reach]:
        """Every path that the command may open, by its redirections and its words."""
        for redirect in self.part.redirects:
            for value, glob in _values(redirect.target):
                yield from self.placed(redirect.target.text, _Reading(value, glob))
        somewhere = False
        for word in self.operands():
            for reading in self.readings(word):
                for reach in self.placed(word.text, reading):
                    somewhere = somewhere or os.path.lexists(reach.path)
                    yield reach
        if self.name in HERE and not somewhere and _goes_down(self.part):
            yield from (Reach(folder, folder) for folder in self.folders)
        if CODE.fullmatch(self.name):
            text = self.command if "<<" in self.command else self.part.text
            for token in dict.fromkeys(IN_CODE.findall(text)):
                yield from self.placed(token, _Reading(token, there=True))

    def operands(self) -> Iterator[Word]:
        """The words that may be paths, the program's own among them where it is one."""
        words = self.part.words
        if words and "/" in (words[0].value or ""):
            yield words[0]
        if self.name in SPEAKS:
            return
        skipped = not_paths(self.name, words) | self.verbs()
        yield from (word for at, word in enumerate(words) if at > 0 and at not in skipped)

    def verbs(self) -> set[int]:
        """Positions of words that say what is to be done; behind `env` or `time` the program is a later word."""
        words = self.part.words
        skipped: set[int] = set()
        for at in range(len(words) if self.part.transparent else min(len(words), 1)):
            if base(words[at].value or "") not in VERBS:
                continue
            for later in words[at + 1 : at + 3]:
                if not VERB.fullmatch(later.value or ""):
                    break
                skipped.add(words.index(later, at + 1))
                if later.value not in RUNS:
                    break
        return skipped

    def readings(self, word: Word) -> Iterator[_Reading]:
        """The texts that a program may take for a path: the word, and what stands in it behind an option's letter or a sign."""
        for value, glob in _values(word):
            if len(value) > LONGEST or URL.match(value):
                continue
            if not value.startswith("-"):
                yield _Reading(value, glob)
            elif not value.startswith("--"):
                yield _Reading(value[2:], there=True)
            _, equals, tail = value.partition("=")
            if equals:
                yield _Reading(tail, glob)
            for piece in re.split(r"[:=,@]", value):
                if piece not in ("", value):
                    yield _Reading(piece, there=self.name != "git" or piece.startswith("-"))

    def placed(self, shown: str, reading: _Reading) -> Iterator[Reach]:
        """The path in each folder that the command may run in, and the files that a pattern matches there."""
        text = re.sub(r"^file:(//[^/]*)?", "", reading.text)
        if text == "~" or text.startswith("~/"):
            text = self.home + text[1:]
        if not text or "\0" in text or len(text) > LONGEST:
            return
        for folder in (os.sep,) if os.path.isabs(text) else self.folders:
            path = os.path.join(folder, text)
            if not reading.there or os.path.lexists(path):
                yield Reach(shown, path)
            if reading.glob:
                found = matches(text, folder, self.options)
                yield from (Reach(f"Something that {shown} matches", each) for each in found or ())
                if found is None:
                    yield Reach(shown, os.path.dirname(re.split(r"[*?\[!@+(]", path, maxsplit=1)[0]), below=True)
