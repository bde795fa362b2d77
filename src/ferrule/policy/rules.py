"""Rules of `--allow` and `--deny`: `KIND` or `KIND:PATTERN`.

Path patterns (`read`, `write`) are globs relative to the workspace, or absolute, or below `~/`: `*` stays within a name, `**`
crosses folders, and `dir/**` means `dir` too. Command patterns (`execute`) are words as in a shell: exactly these words, or, with
a `*` at the end, these words and any further ones. Tools of servers (`mcp`) are `server/tool`; `server/*` are all of one.
"""

# Paths are text here: os.path is several times faster than pathlib on the way of every command.
# ruff: noqa: PTH112, PTH118

import functools
import os.path
import re
import shlex
from typing import Literal, get_args

from msgspec import Struct

from ferrule.types.errors import UsageError
from ferrule.types.tools import ActionKind

from .line import Part
from .words import Word
from .wrappers import LAUNCHERS, base

Match = Literal["no", "maybe", "yes"]
KINDS: tuple[str, ...] = get_args(ActionKind)
RIGHT = "a rule is KIND or KIND:PATTERN, such as `write:src/**`, `execute:git status *` or `execute:pytest`"


class Rule(Struct, frozen=True):
    """`pattern` is None for a whole kind. `words` and `more`: the words of a command, and whether others may follow."""

    kind: ActionKind
    pattern: str | None = None
    words: tuple[str, ...] = ()
    more: bool = False

    def __str__(self) -> str:
        return self.kind if self.pattern is None else f"{self.kind}:{self.pattern}"


def parse_rule(text: str) -> Rule:
    """Raises UsageError that says what is right."""
    kind, colon, pattern = text.partition(":")
    pattern = pattern.strip()
    matching: dict[str, ActionKind] = {name: name for name in get_args(ActionKind)}
    if kind not in matching:
        raise UsageError(f"The rule `{text}` names no kind of action: {RIGHT}. Kinds are {', '.join(KINDS)}.")
    if colon and not pattern:
        raise UsageError(f"The rule `{text}` has no pattern after the colon: {RIGHT}.")
    if not colon:
        return Rule(matching[kind])
    if kind == "execute":
        return _command_rule(text, pattern)
    if kind == "ask":
        raise UsageError(f"The rule `{text}` has a pattern, but questions are allowed or denied as a whole: write `ask`.")
    if kind in ("read", "write") and ".." in pattern.split("/"):
        raise UsageError(f"The rule `{text}` climbs with `..`: write the folder relative to the workspace, or from `/`.")
    if kind == "mcp" and re.fullmatch(r"[^*/\s]+/(\*|[^*]+)", pattern) is None:
        raise UsageError(
            f"The rule `{text}` names no tool of a server: write `mcp:SERVER/TOOL`, or `mcp:SERVER/*` for all of them."
        )
    return Rule(matching[kind], pattern)


def about(rule: Rule, target: str) -> bool:
    """Whether a rule of its kind is about what a `network`, `mcp` or `ask` action names."""
    if rule.pattern is None or rule.pattern == target:
        return True
    return rule.kind == "mcp" and rule.pattern.endswith("/*") and target.startswith(rule.pattern[:-1])


def _command_rule(text: str, pattern: str) -> Rule:
    more = pattern == "*" or pattern.endswith(" *")
    body = pattern[:-1].strip() if more else pattern
    if "*" in re.sub(r"'[^']*'|\"[^\"]*\"|\\.", "", body):
        raise UsageError(f"The rule `{text}` has a `*` in the middle: it may only stand alone at the end, or in quotes.")
    try:
        words = tuple(shlex.split(body))
    except ValueError as problem:
        raise UsageError(f"The rule `{text}` has an open quote ({problem}): {RIGHT}.") from None
    if not words and not more:
        raise UsageError(f"The rule `{text}` names no command: {RIGHT}.")
    return Rule("execute", None) if not words else Rule("execute", pattern, words, more)


def exact_rule(words: tuple[str, ...]) -> str:
    """The rule text that allows exactly these words."""
    return "execute:" + shlex.join(words)


def exact_path(path: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", path)


@functools.lru_cache(maxsize=256)
def path_pattern(pattern: str, root: str, home: str) -> re.Pattern[str]:
    """The absolute paths that a glob means."""
    if pattern == "~" or pattern.startswith("~/"):
        pattern = exact_path(home) + pattern[1:]
    elif not pattern.startswith("/"):
        pattern = exact_path(root).rstrip("/") + "/" + pattern.removeprefix("./")
    return re.compile(_translated(pattern.rstrip("/") or "/"), re.DOTALL)


def _translated(pattern: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        bracket = re.match(r"\[([!^]?)(\]?[^\]/]*)\]", pattern[at:]) if char == "[" else None
        if pattern.startswith("/**/", at):
            out.append("/(?:.*/)?")
            at += 4
        elif pattern[at:] == "/**":
            out.append("(?:/.*)?")
            at += 3
        elif pattern.startswith("**", at):
            out.append(".*")
            at += 2
        elif bracket:
            body = bracket[2].replace("\\", "\\\\").replace("[", "\\[").replace("&&", "&\\&").replace("~", "\\~")
            out.append(f"[{'^/' if bracket[1] else ''}{body}]")
            at += bracket.end()
        else:
            out.append({"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char)))
            at += 1
    return "".join(out)


def path_allowed(rule: Rule, path: str, root: str, home: str) -> bool:
    return rule.pattern is None or path_pattern(rule.pattern, root, home).fullmatch(path) is not None


def path_denied(rule: Rule, path: str, root: str, home: str, prefix: bool = False) -> Match:
    """Maybe: the path is a folder that holds what the rule means, or (`prefix`) the start of a file name pattern."""
    if path_allowed(rule, path, root, home):
        return "yes"
    assert rule.pattern is not None
    fixed = re.split(r"[*?\[]", rule.pattern, maxsplit=1)[0]
    if fixed.startswith("~"):
        fixed = home + fixed[1:]
    fixed = os.path.join(root, fixed)
    if fixed.startswith(path.rstrip("/") + "/") or (prefix and fixed.startswith(path)):
        return "maybe"
    folder = fixed.rpartition("/")[0] or "/"
    if fixed == os.path.join(root, rule.pattern) or not (path == folder or path.startswith(folder.rstrip("/") + "/")):
        return "no"
    return "maybe" if prefix or (os.path.isdir(path) and ("**" in rule.pattern or path == folder)) else "no"


INFLUENTIAL = re.compile(
    r"PATH|LD_.*|DYLD_.*|BASH_.*|ENV|IFS|PS[0-4]|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|CDPATH|HOME|GIT_.*|SSH_.*|.*PAGER|.*EDITOR|VISUAL|"
    r"BROWSER|PYTHON.*|NODE_.*|RUBY.*|PERL.*|JAVA_.*|_JAVA_.*|CLASSPATH|GO.*|CARGO.*|RUST.*|CC|CXX|LESS.*|MAKE.*|NPM_.*|npm_.*|"
    r"UV_.*|PIP_.*|RIPGREP_.*|GREP_.*|TAR_.*|.*_COMMAND|.*_OPTIONS|.*_OPTS|.*_PRELOAD|TMPDIR|TMP|TEMP|GLOBIGNORE|POSIXLY_CORRECT|FIGNORE"
)


def influential(name: str) -> bool:
    """Whether setting a variable may change what a later command does or which one is run."""
    return INFLUENTIAL.fullmatch(name) is not None


def command_allowed(rule: Rule, part: Part) -> bool:
    """Whether the rule names this command. A variable in front that may change its meaning must stand in the rule, too."""
    if rule.pattern is None:
        return True
    if not part.words or any(word.value is None for word in part.words[: len(rule.words)]):
        return False
    words = [word.value for word in part.words]
    spelled = [f"{name}={word.value}" for name, word in part.assignments if part.words]
    variants = [[*spelled, *words]]
    if not any(influential(name) for name, _ in part.assignments):
        variants.append(words)
    return any(_named(rule, variant) for variant in variants)


def _named(rule: Rule, words: list[str | None]) -> bool:
    if rule.more:
        return tuple(words[: len(rule.words)]) == rule.words
    return tuple(words) == rule.words


def command_denied(rule: Rule, part: Part) -> Match:
    """Denials also see through a path in front of the name, git's own options, and commands that start others."""
    if rule.pattern is None:
        return "yes"
    found: set[Match] = {_fits(rule, form) for form in _forms(part)}
    return "yes" if "yes" in found else "maybe" if "maybe" in found else "no"


def _forms(part: Part) -> list[tuple[Word, ...]]:
    if not part.words:
        return []
    words = part.words
    name = words[0].value or ""
    short = (Word(base(name), (base(name),)), *words[1:]) if "/" in name else words
    forms = [words, short]
    if base(name) == "git":
        forms.append((short[0], *after_git_options(words[1:])))
    if base(name) in LAUNCHERS:
        split = [
            Word(piece, (piece,)) if word.value is not None else word for word in words for piece in (word.text.split() or [""])
        ]
        forms.extend(tuple(split[at:]) for at in range(1, min(len(split), 64)))
    return forms


def after_git_options(words: tuple[Word, ...]) -> tuple[Word, ...]:
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env") else 1
    return words[at:]


def _fits(rule: Rule, words: tuple[Word, ...]) -> Match:
    certain = True
    for at, wanted in enumerate(rule.words):
        if at >= len(words):
            return "no"
        word = words[at]
        if word.many:
            return "maybe"
        if word.value is None:
            if word.values is not None and "0" not in word.values and wanted not in word.values:
                return "no"
            certain = False
        elif word.value != wanted:
            return "no"
    if not rule.more and len(words) > len(rule.words):
        return "maybe" if any(word.many for word in words[len(rule.words) :]) else "no"
    return "yes" if certain else "maybe"
