"""Commands that only read, and may run without asking inside the workspace.

An entry lists what is allowed, not what is forbidden: every other option makes the command ask. Left out on purpose:

- `git status`, `diff`, `log`, `show`: the repository's own configuration can make them start programs (`core.fsmonitor`, a
  textconv, clean filters, `gpg.program`), and no flag turns all of that off. `--allow "execute:git status *"` is one rule.
- `env`, `printenv`: they print what was passed to them. `tee`, `xxd`, `tree -o`, `uniq IN OUT`, `sort -o`: they write.
- `rg --pre`, `rg --hostname-bin`, `rg -z`, `find -exec`, `sort --compress-program`: they start programs.
"""

import re

from msgspec import Struct

from .effects import NAME
from .line import Part
from .rules import influential
from .words import Word


class Reads(Struct, frozen=True):
    """Option letters without and with a value, long options (those with `=` take a value), and how many operands there may be."""

    flags: str = ""
    values: str = ""
    long: tuple[str, ...] = ()
    most: int = 10_000


GREP = (
    *("color", "colour", "count", "ignore-case", "line-number", "files-with-matches", "files-without-match", "word-regexp"),
    *("invert-match", "recursive", "only-matching", "no-filename", "with-filename", "fixed-strings", "extended-regexp", "quiet"),
    *("color=", "colour=", "include=", "exclude=", "exclude-dir=", "max-count=", "context=", "after-context=", "before-context="),
    *("regexp=", "perl-regexp", "no-messages"),
)
RG = (
    *GREP,
    *(
        "hidden",
        "no-ignore",
        "files",
        "glob=",
        "iglob=",
        "type=",
        "type-not=",
        "multiline",
        "smart-case",
        "no-heading",
        "heading",
    ),
    *(
        "stats",
        "json",
        "sort=",
        "max-depth=",
        "max-columns=",
        "trim",
        "vimgrep",
        "type-list",
        "no-config",
        "pcre2",
        "case-sensitive",
    ),
)

TABLE: dict[str, Reads] = {
    "ls": Reads(
        "1aAlhRrtSdFpiksnogGLHcuUXvm", long=("all", "almost-all", "human-readable", "recursive", "color=", "color", "size")
    ),
    "cat": Reads("AbeEnstTuv", long=("number", "show-all")),
    "tac": Reads(),
    "head": Reads("qv0123456789", "nc", ("lines=", "bytes=", "quiet")),
    "tail": Reads("qv0123456789", "nc", ("lines=", "bytes=", "quiet")),
    "wc": Reads("clmLw", long=("lines", "words", "bytes", "chars")),
    "nl": Reads("p", "bhfivnsw"),
    "cut": Reads("sz", "bcdf", ("delimiter=", "fields=", "characters=", "complement")),
    "tr": Reads("cCdst"),
    "sort": Reads("bdfghiMnRrVcCmsuz", "kt", ("reverse", "unique", "numeric-sort", "key=", "field-separator=")),
    "uniq": Reads("cdDiuz", "fsw", ("count", "repeated", "unique"), most=1),
    "grep": Reads("EFGPivwxcLlqosbHhnrRaIUZzy0123456789", "emABCdD", GREP),
    "egrep": Reads("ivwxcLlqosbHhnrRaI", "emABC", GREP),
    "fgrep": Reads("ivwxcLlqosbHhnrRaI", "emABC", GREP),
    "rg": Reads("isSvwxclLqoHhInNUuFPpabS0", "egtTmABCMdjr", RG),
    "basename": Reads("az", "s", ("suffix=",)),
    "dirname": Reads("z"),
    "realpath": Reads("emLPqsz", long=("relative-to=", "relative-base=")),
    "readlink": Reads("femnqsvz"),
    "stat": Reads("Lft", "c", ("format=", "printf=")),
    "du": Reads("0abchHkLlmPSsx", "dt", ("max-depth=", "human-readable", "summarize")),
    "df": Reads("ahHikPT"),
    "diff": Reads("abBcdeEiNnpqrstuwy", "UCxI", ("brief", "unified=", "color=", "color", "recursive", "side-by-side", "unified")),
    "cmp": Reads("bls", "in"),
    "comm": Reads("123z"),
    "md5sum": Reads("bt"),
    "sha1sum": Reads("bt"),
    "sha256sum": Reads("bt"),
    "od": Reads("abcdfiloxv", "AjNtw"),
    "fold": Reads("bs", "w"),
    "rev": Reads(),
    "seq": Reads("w", "fs"),
    "pwd": Reads("LP"),
    "whoami": Reads(most=0),
    "id": Reads("ugGnr", most=0),
    "uname": Reads("asnrvmpio", most=0),
    "which": Reads("a"),
    "type": Reads("afPpt"),
    "echo": Reads("neE"),
    "true": Reads(),
    "false": Reads(),
    ":": Reads(),
    "sleep": Reads(),
    "exit": Reads(),
    "cd": Reads("L", most=1),
}
FIND = frozenset(
    """
    -name -iname -path -ipath -wholename -regex -iregex -type -maxdepth -mindepth -not ! -o -or -a -and ( ) -newer -size -mtime
    -mmin -atime -ctime -empty -print -print0 -prune -perm -user -group -printf -ls -true -false -readable -writable -executable
    -xdev -mount -depth -quit -links -regextype -P
    """.split()  # noqa: SIM905 one word a name reads better than a quoted list
)
GIT: dict[str, Reads] = {
    "rev-parse": Reads("q", long=("show-toplevel", "abbrev-ref", "short", "verify", "git-dir", "is-inside-work-tree", "short=")),
    "merge-base": Reads("a", long=("all", "is-ancestor")),
    "rev-list": Reads("n", long=("count", "max-count=", "all")),
}


def only_reads(part: Part) -> bool:
    """Whether a command is in the table, with options that are in its entry, every word certain or a file name pattern."""
    if not part.words or part.name is None:
        return not part.words and not any(influential(name) for name, _ in part.assignments)
    if any(influential(name) for name, _ in part.assignments):
        return False
    words = part.words[1:]
    match part.name:
        case "echo" | "true" | "false" | ":" | "exit":
            return True
        case "printf":
            return bool(words) and words[0].value is not None and not words[0].value.startswith("-")
        case "[" | "[[" | "test":
            return all(word.value not in ("-v", "-R") for word in words)
        case "export" | "declare" | "local" | "readonly" | "typeset" | "unset":
            return _declares(words)
        case "command":
            return bool(words) and words[0].value in ("-v", "-V")
        case "set":
            return True
        case "break" | "continue" | "shift" | "wait":
            return not words
        case "read":
            return all(word.value is not None and (word.value == "-r" or NAME.fullmatch(word.value)) for word in words)
        case "find":
            return all(word.values is not None and (word.text[:1] not in "-!()" or word.value in FIND) for word in words)
        case "sed":
            return len(words) >= 2 and words[0].value == "-n" and bool(re.fullmatch(r"[\d,$]+p", words[1].value or ""))
        case "git":
            return bool(words) and words[0].value in GIT and _listed(GIT[words[0].value], words[1:])
        case name:
            return name in TABLE and _listed(TABLE[name], words)


def _declares(words: tuple[Word, ...]) -> bool:
    return all(word.value is not None and not influential(word.value.partition("=")[0]) for word in words)


def _listed(entry: Reads, words: tuple[Word, ...]) -> bool:
    operands = 0
    at = 0
    options = True
    while at < len(words):
        word = words[at]
        if word.values is None:
            return False
        if options and word.value == "--":
            options = False
        elif options and any(value.startswith("-") and value != "-" for value in word.values):
            step = _option(entry, word.value)
            if step is None:
                return False
            at += step
        elif word.glob and options and any(value[:1] in "*?[" for value in word.values):
            return entry.most > 1 and _after_dashes(words, at)
        else:
            operands += 1
        at += 1
    return operands <= entry.most


def _after_dashes(words: tuple[Word, ...], at: int) -> bool:
    """A pattern such as `*` may match a file that is named like an option."""
    return any(word.value == "--" for word in words[:at])


def _option(entry: Reads, text: str | None) -> int | None:
    """How many further words the option takes, None when it is not in the entry."""
    if text is None:
        return None
    if text.startswith("--"):
        name, equals, _ = text[2:].partition("=")
        if equals:
            return 0 if name + "=" in entry.long else None
        return 0 if name in entry.long else 1 if name + "=" in entry.long else None
    for at, letter in enumerate(text[1:], start=1):
        if letter in entry.values:
            return 0 if at + 1 < len(text) else 1
        if letter not in entry.flags:
            return None
    return 0
