"""Which files a command names, and whether they lie in the workspace.

This is a guard against leaving the workspace by accident or by a plain command, not a sandbox: a program that may be run can
open what it wants.
"""

# Paths are text here: os.path is several times faster than pathlib on the way of every command.
# ruff: noqa: PTH117, PTH118

import os.path
import re
from typing import NamedTuple

from .line import Part, Redirect
from .words import Word
from .wrappers import base

LONGEST = 4096
DEVICES = re.compile(r"/dev/(null|zero|full|u?random|stdin|stdout|stderr|fd/\d+)")
PROGRAMS = re.compile(r"(/usr(/local)?)?/s?bin/[^/]+")
URL = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]+://")
CLIMBS = re.compile(r"(?:^|/)\.\.(?:/|$)")
DOT_GLOB = re.compile(r"(?:^|/)\.+[*?\[!@+(]")
IN_OPTION = re.compile(r"/|~|\.\.(?:/|$)")
PIECE = re.compile(r"[=:@](?=/|~|\.\.(?:/|$))|=")
SED_FILE = re.compile(r"[wWrR]\s+((?:/|~|\.\.)[^\s;}]*)")

SPEAKS = frozenset(
    """
    echo printf true false : exit return break continue sleep kill wait seq date shift set trap umask ulimit type hash jobs
    export declare local readonly typeset unset read getopts expr
    """.split()  # noqa: SIM905 one word a name reads better than a quoted list
)
"""Commands that open no file which they are told."""

PATTERN_FIRST = {
    "grep": "ABCmdD",
    "egrep": "ABCmdD",
    "fgrep": "ABCmdD",
    "rg": "ABCmgtTEjMr",
    "sed": "l",
    "awk": "vF",
    "gawk": "vF",
    "mawk": "vF",
    "jq": "",
}
"""Commands whose first operand is a pattern or a program, with their option letters that take a value."""


class Spot(NamedTuple):
    """A place that a command names. `path` is absolute, links resolved, None when not certain; `prefix`: only its start."""

    text: str
    path: str | None
    prefix: bool = False


def spots(part: Part, home: str) -> list[Spot]:
    """Every place that the words of a command name."""
    if not part.words:
        return []
    name = base(part.words[0].value or "")
    found: list[Spot] = []
    first = part.words[0].value
    if first is not None and "/" in first and not PROGRAMS.fullmatch(os.path.normpath(first)):
        found.extend(_located(first, part.folders, home, False))
    if name in SPEAKS:
        return found
    skipped = not_paths(name, part.words)
    for at, word in enumerate(part.words[1:], start=1):
        if at in skipped:
            if name == "sed":
                found.extend(
                    spot for text in SED_FILE.findall(word.value or "") for spot in _located(text, part.folders, home, False)
                )
            continue
        if word.values is None:
            if name not in ("[", "[[", "test", "cd"):
                found.append(Spot(word.text, None))
            continue
        for value in word.values:
            for piece in _pieces(value):
                found.extend(_located(piece, part.folders, home, word.glob))
    if name == "cd" and part.folders is not None:
        found.extend(_cd(part, home))
    return found


def target(redirect: Redirect, part: Part, home: str) -> list[Spot]:
    """The files that a redirection opens."""
    word = redirect.target
    if word.values is None:
        return [Spot(word.text, None)]
    return [spot for value in word.values for spot in _located(value, part.folders, home, word.glob)]


def inside(path: str, bases: tuple[str, ...]) -> bool:
    return any(path == each or path.startswith(each.rstrip("/") + "/") for each in bases)


def _cd(part: Part, home: str) -> list[Spot]:
    operands = [word for word in part.words[1:] if not (word.value or "").startswith("-") or word.value == "-"]
    if not operands:
        return [Spot("~", os.path.realpath(home))]
    return [Spot(word.text, None) for word in operands if word.values is None or word.value == "-"]


def _pieces(value: str) -> list[str]:
    """The parts of a word that may be a path: the word itself, what follows `=`, and roots after `:` or `@`."""
    if len(value) > LONGEST or URL.match(value):
        return []
    pieces: list[str] = []
    if not value.startswith("-"):
        pieces.append(value)
    elif not value.startswith("--"):
        found = IN_OPTION.search(value)
        if found:
            pieces.append(value[found.start() :])
    for found in PIECE.finditer(value):
        piece = value[found.end() :]
        if piece and not URL.match(piece) and not value[: found.end()].endswith("://"):
            pieces.append(piece.removeprefix("//"))
    return pieces


def _located(text: str, folders: tuple[str, ...] | None, home: str, glob: bool) -> list[Spot]:
    if not text or DEVICES.fullmatch(text):
        return []
    if text.startswith("file:"):
        text = re.sub(r"^file:(//[^/]*)?", "", text)
    shown = text
    if text.startswith("~"):
        user, slash, rest = text.partition("/")
        if user != "~":
            return [Spot(shown, None)]
        text = home + slash + rest
    if glob and re.search(r"[*?\[]", text):
        start = re.split(r"[*?\[!@+]", text, maxsplit=1)[0]
        if CLIMBS.search(text[len(start) :]) or DOT_GLOB.search(text):
            return [Spot(shown, None)]
        text = start
    else:
        glob = False
    if not os.path.isabs(text) and folders is None:
        return [Spot(shown, None)]
    bases = ("/",) if os.path.isabs(text) else folders or ()
    try:
        return [Spot(shown, _real(os.path.join(each, text), glob), glob) for each in bases]
    except (OSError, ValueError):
        return [Spot(shown, None)]


def _real(path: str, glob: bool) -> str:
    if not glob:
        return os.path.realpath(path)
    folder, slash, rest = path.rpartition("/")
    return os.path.realpath(folder + slash).rstrip("/") + "/" + rest


def not_paths(name: str, words: tuple[Word, ...]) -> set[int]:
    """Positions of patterns, programs and messages."""
    skipped: set[int] = set()
    if name == "git":
        for at, word in enumerate(words[:-1]):
            if word.value in ("-m", "--message") or re.fullmatch(r"-[a-z]{1,2}m", word.value or ""):
                skipped.add(at + 1)
        return skipped | {at for at, word in enumerate(words) if word.text.startswith("--message=")}
    if name not in PATTERN_FIRST:
        return skipped
    given = False
    first: int | None = None
    at = 1
    while at < len(words):
        value = words[at].value
        if value in ("-e", "--regexp", "--expression"):
            skipped.add(at + 1)
            given = True
            at += 1
        elif value in ("-f", "--file"):
            given = True
            at += 1
        elif value is not None and re.fullmatch(rf"-\w*[{PATTERN_FIRST[name]}]", value) and PATTERN_FIRST[name]:
            at += 1
        elif (value is None or not value.startswith("-") or value == "-") and first is None:
            first = at
        at += 1
    if first is not None and not given:
        skipped.add(first)
    return skipped
