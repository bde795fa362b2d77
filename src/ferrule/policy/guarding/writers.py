"""Which of the places that a command names it may write, where that is known; else all of them."""

# Paths are text here: os.path is several times faster than pathlib on the way of every command.
# ruff: noqa: PTH112, PTH117, PTH118, PTH120

import os.path

from ferrule.policy.line import Part
from ferrule.policy.paths import Spot
from ferrule.policy.rules import after_git_options
from ferrule.policy.safe import TABLE as READERS
from ferrule.policy.wrappers import base

from .globbing import matches

GIT_READS = frozenset(
    """
    add annotate blame branch cat-file check-attr check-ignore commit describe diff diff-index diff-tree for-each-ref grep log
    ls-files ls-tree merge-base name-rev push rev-list rev-parse shortlog show show-ref status tag whatchanged
    """.split()  # noqa: SIM905 one word a name reads better than a quoted list
)
"""What leaves the files that it is told as they are; that it writes into `.git` is what it is for."""
CONFIG_READS = frozenset(
    """
    get list --get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool -l --list
    """.split()  # noqa: SIM905 as above
)

CONFIG_CHANGES = ("--add", "--replace", "--unset", "--remove", "--rename", "-e", "--edit")


def writes(part: Part, named: list[Spot], home: str) -> tuple[list[Spot], str]:
    """Of the `named` places, and of those that a pattern matches; and a pattern that matches too many to be told."""
    name = base(part.name or "")
    if name == "git":
        return _git(part, named, home)
    if name in READERS:
        return named, ""
    found, uncertain = _matched(named, part)
    last = part.words[-1] if part.words else None
    if name == "cp" and last is not None and last.value is not None and not any(_targets(word.text) for word in part.words):
        places = [os.path.join(folder, last.value) for folder in part.folders or (os.sep,)]
        if not any(os.path.isdir(place) for place in places):
            found = [spot for spot in found if spot.text == last.value]
    return found, uncertain


def _matched(found: list[Spot], part: Part) -> tuple[list[Spot], str]:
    every: list[Spot] = []
    uncertain = ""
    for spot in found:
        every.append(spot)
        if not spot.prefix:
            continue
        for folder in (os.sep,) if os.path.isabs(spot.text) else part.folders or ():
            files = matches(spot.text, folder)
            uncertain = uncertain or (spot.text if files is None else "")
            every += [Spot(spot.text, os.path.realpath(file)) for file in files or ()]
    return every, uncertain


def _targets(option: str) -> bool:
    return option.startswith(("-t", "--target-directory"))


def _git(part: Part, named: list[Spot], home: str) -> tuple[list[Spot], str]:
    words = after_git_options(part.words[1:])
    verb = words[0].value if words else None
    texts = [word.text for word in words[1:]]
    if verb == "config":
        return _config(texts, part, named, home)
    if verb in GIT_READS and not any(text.startswith(("-o", "--output")) for text in texts):
        return [], ""
    return _matched(named, part)


def _config(texts: list[str], part: Part, named: list[Spot], home: str) -> tuple[list[Spot], str]:
    plain = [text for text in texts if not text.startswith("-")]
    changes = len(plain) > 1 or any(text.startswith(CONFIG_CHANGES) for text in texts)
    if not changes or CONFIG_READS & set(texts):
        return [], ""
    if "--global" in texts or "--system" in texts:
        return [Spot("git config", os.path.join(home, ".gitconfig") if "--global" in texts else "/etc/gitconfig")], ""
    folders = [_repository(folder) for folder in part.folders or ()]
    return [*named, *(Spot("git config", os.path.join(folder, ".git", "config")) for folder in folders if folder)], ""


def _repository(folder: str) -> str | None:
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder
