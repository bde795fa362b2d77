"""What a call may do: its actions, judged by rules and approvals; the strictest part wins (law 9)."""

# Paths are text here: os.path is several times faster than pathlib on the way of every command.
# ruff: noqa: PTH112, PTH120

import os.path
import shlex
from collections.abc import Callable
from itertools import combinations
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from ferrule.types.names import unspell
from ferrule.types.tools import Action, ActionKind

from .guarding.ignoring import Ignores, hidden
from .guarding.protected import guards, held, named_by
from .guarding.writers import writes
from .line import Line, Part
from .paths import Spot, inside, spots, target
from .rules import (
    Rule,
    about,
    command_allowed,
    command_denied,
    exact_path,
    exact_rule,
    influential,
    parse_rule,
    path_allowed,
    path_denied,
)
from .safe import only_reads
from .shell import parse
from .wrappers import base

Verdict = Literal["allow", "ask", "deny"]
Approve = Literal["ask", "edits", "all"]

DESTROYS = frozenset({"rm", "mv", "rmdir", "shred", "unlink", "chmod", "chown", "chgrp", "truncate", "rsync"})
MOST_FLAGS = 3


class Policy(Struct, frozen=True):
    """What the person allows. `root` and `extra` are the workspace, absolute and free of links; `home` stands for `~`.

    `read_only`: no tool writes anything, whatever else is allowed. `ignores` gives what the ignore files say right now.
    """

    root: str
    extra: tuple[str, ...] = ()
    approve: Approve = "ask"
    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    home: str = os.sep
    read_only: bool = False
    ignores: Callable[[], Ignores] | None = None

    @property
    def bases(self) -> tuple[str, ...]:
        return (self.root, *self.extra)

    def allows(self, kind: ActionKind) -> bool:
        """Whether a rule allows the whole kind."""
        return any(rule.kind == kind and rule.pattern is None for rule in self.allow)


class Decision(Struct, frozen=True):
    """`reason` is one sentence that names the part; `flag` is the narrowest command line flag that would allow an `ask`."""

    verdict: Verdict
    reason: str = ""
    flag: str = ""


class _Finding(NamedTuple):
    """Why something is not simply allowed, and flags that may change that, the narrowest first."""

    verdict: Verdict
    reason: str
    flags: tuple[str, ...] = ()


def decide(actions: tuple[Action, ...], policy: Policy) -> Decision:
    """The strictest verdict over all actions. The first `execute` path, if any, is the folder that the command starts in."""
    read = tuple((action, _parsed(action, policy)) for action in actions)
    ignored = _ignored(read, policy)
    if ignored is not None:
        return Decision("deny", ignored)
    findings = _judge(read, policy)
    if not findings:
        return Decision("allow")
    denied = next((finding for finding in findings if finding.verdict == "deny"), None)
    if denied:
        return Decision("deny", denied.reason)
    return Decision("ask", findings[0].reason, _flag(read, findings, policy))


_Read = tuple[tuple[Action, Line | None], ...]


def _parsed(action: Action, policy: Policy) -> Line | None:
    if action.kind != "execute":
        return None
    return parse(action.command, action.paths[0] if action.paths else policy.root, policy.home)


def _ignored(read: _Read, policy: Policy) -> str | None:
    """No rule and no approval allows what an ignore file means: the person changes that file."""
    if policy.ignores is None:
        return None
    ignores = policy.ignores()
    for action, line in read:
        for path in action.paths:
            if (why := ignores.ignored(os.fsdecode(unspell(path)))) is not None:
                return f"{_relative(path, policy)} {why}"
        start = action.paths[0] if action.paths else policy.root
        if line is not None and (said := hidden(line, action.command, start, policy.home, ignores)) is not None:
            return said
    return None


def _judge(read: _Read, policy: Policy) -> list[_Finding]:
    findings: list[_Finding] = []
    for action, line in read:
        match action.kind:
            case "write" if policy.read_only:
                findings.append(_Finding("deny", "Nothing is written here: `sandbox.access` is read-only."))
            case "read" | "write":
                for path in action.paths:
                    findings += _file(action.kind, Spot(path, path), policy)
            case "execute":
                findings += _command(line or Line(()), action.command, policy)
                for path in action.paths[:1]:
                    findings += _outside("read", Spot(path, path), policy)
            case "network" | "mcp" | "ask":
                findings += _other(action, policy)
    return findings


def _other(action: Action, policy: Policy) -> list[_Finding]:
    for rule in policy.deny:
        if rule.kind == action.kind and about(rule, action.command):
            return [_Finding("deny", f"The rule `{rule}` denies it.")]
    named = any(rule.kind == action.kind and about(rule, action.command) for rule in policy.allow)
    if action.kind == "ask" or named or policy.approve == "all":
        return []
    spelled = f"{action.kind}:{action.command}" if action.command else action.kind
    narrow = () if action.kind == "mcp" and "*" in spelled else (_allow(spelled),)
    doing = f"Calling {action.command}" if action.kind == "mcp" else f"Reaching {action.command or 'the network'}"
    return [_Finding("ask", f"{doing} needs approval.", (*narrow, "--approve all"))]


def _file(kind: Literal["read", "write"], spot: Spot, policy: Policy) -> list[_Finding]:
    """One file that is certain, read or written by a tool or a redirection."""
    findings = [*_denied_path((kind,), spot, policy), *_outside(kind, spot, policy)]
    if kind == "read" or findings:
        return findings
    assert spot.path is not None
    path = spot.path
    named = any(rule.kind == "write" and path_allowed(rule, path, policy.root, policy.home) for rule in policy.allow)
    if not named and policy.approve == "ask" and inside(path, policy.bases):
        rule = "write:" + exact_path(_relative(path, policy))
        return [_Finding("ask", f"Writing {spot.text} needs approval.", (_allow(rule), "--approve edits", "--approve all"))]
    return _protected(spot, policy)


def _denied_path(kinds: tuple[ActionKind, ...], spot: Spot, policy: Policy) -> list[_Finding]:
    findings: list[_Finding] = []
    for rule in policy.deny:
        if rule.kind not in kinds:
            continue
        if rule.pattern is None and len(kinds) > 1:
            continue
        match = "maybe" if spot.path is None else path_denied(rule, spot.path, policy.root, policy.home, spot.prefix)
        if match == "yes":
            findings.append(_Finding("deny", f"The rule `{rule}` denies {spot.text}."))
        elif match == "maybe":
            findings.append(_Finding("ask", f"{spot.text} may hold what the rule `{rule}` denies."))
    return findings


def _outside(kind: Literal["read", "write"], spot: Spot, policy: Policy, command: bool = False) -> list[_Finding]:
    """Paths outside the workspace always ask, unless a rule names them."""
    if command and policy.allows("execute"):
        return []
    if spot.path is None:
        flags = ("--allow execute",) if command else ()
        return [_Finding("ask", f"It is not certain that `{spot.text}` stays in the workspace.", flags)]
    path = spot.path
    if inside(path, policy.bases) or any(
        rule.kind == kind and path_allowed(rule, path, policy.root, policy.home) for rule in policy.allow
    ):
        return []
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    rule = _allow(f"{kind}:{exact_path(path)}")
    narrow: tuple[str, ...]
    if inside(policy.root, (path,)) or folder in ("/", policy.home):
        narrow = (rule,)
    else:
        narrow = (f"--add-dir {shlex.quote(folder)}", rule)
    return [_Finding("ask", f"{spot.text} lies outside the workspace.", (*narrow, "--allow execute") if command else narrow)]


def _protected(spot: Spot, policy: Policy, holds: bool = False) -> list[_Finding]:
    """What decides how things run asks always, unless a rule names it. `holds`: a folder above it counts, too."""
    path = spot.path
    if path is None:
        return []
    home = next((each for each in policy.bases if inside(path, (each,))), None)
    found = guards(path, home) if home else None
    if found is None:
        above = held(path) if holds else None
        return [_Finding("ask", f"{spot.text} holds {above}.", ("--allow execute",))] if above else []
    guarded, what = found
    for rule in policy.allow:
        if rule.kind == "write" and named_by(rule) and path_allowed(rule, path, policy.root, policy.home):
            return []
    whole = "" if guarded == path and not os.path.isdir(path) else "/**"
    flag = _allow("write:" + exact_path(_relative(guarded, policy)) + whole)
    return [_Finding("ask", f"{spot.text} decides {what}.", (flag,))]


def _command(line: Line, command: str, policy: Policy) -> list[_Finding]:
    findings: list[_Finding] = []
    rules = [rule for rule in policy.deny if rule.kind == "execute"]
    for doubt in line.doubts:
        if rules or not policy.allows("execute"):
            flags = () if rules else ("--allow execute",)
            findings.append(_Finding("ask", f"The command is not fully understood: {doubt}.", flags))
    if not line.parts:
        findings += [_Finding("deny", f"The rule `{rule}` denies it.") for rule in rules if rule.pattern is None]
    for part in line.parts:
        findings += _part(part, rules, policy, alone=len(line.parts) == 1)
    return findings


def _part(part: Part, rules: list[Rule], policy: Policy, alone: bool) -> list[_Finding]:
    findings: list[_Finding] = []
    shown = _short(part.text)
    for rule in rules:
        match = command_denied(rule, part)
        if match == "yes":
            findings.append(_Finding("deny", f"The rule `{rule}` denies `{shown}`."))
        elif match == "maybe":
            findings.append(_Finding("ask", f"The rule `{rule}` may deny `{shown}`."))
    reads = only_reads(part)
    allowed = any(rule.kind == "execute" and command_allowed(rule, part) for rule in policy.allow)
    if not (part.transparent and not _weighty(part)) and not reads and policy.approve != "all" and not allowed:
        findings.append(_Finding("ask", f"Running `{shown}` needs approval.", _approvals(part)))
    kinds: tuple[ActionKind, ...] = ("read",) if reads else ("read", "write")
    named = spots(part, policy.home)
    for spot in named:
        findings += _denied_path(kinds, spot, policy)
        findings += _outside("read" if reads else "write", spot, policy, command=True)
    if not reads:
        findings += _guarded(part, named, policy)
    for redirect in part.redirects:
        for spot in target(redirect, part, policy.home):
            if spot.path is None or spot.prefix:
                findings.append(_Finding("ask", f"It is not certain which file `{shown}` opens as `{spot.text}`."))
            else:
                findings += _file(redirect.kind, spot, policy)
    return findings


def _guarded(part: Part, named: list[Spot], policy: Policy) -> list[_Finding]:
    """Of what a command may write, that which needs an approval of its own, and that which lies outside though not named."""
    holds = _destroys(part) and not policy.allows("execute")
    findings: list[_Finding] = []
    written, uncertain = writes(part, named, policy.home)
    for spot in written:
        findings += _protected(spot, policy, holds)
        findings += [] if spot in named else _outside("write", spot, policy, command=True)
    if uncertain and not policy.allows("execute"):
        findings.append(_Finding("ask", f"`{uncertain}` matches more files than can be looked at.", ("--allow execute",)))
    return findings


def _destroys(part: Part) -> bool:
    """Whether a command takes a folder with all that is in it."""
    name = base(part.name or "")
    texts = {word.value for word in part.words}
    return name in DESTROYS or (name == "find" and "-delete" in texts and not texts & {"-name", "-iname", "-path", "-regex"})


def _weighty(part: Part) -> bool:
    """Whether a wrapper sets a variable that matters to what it starts."""
    names = [name for name, _ in part.assignments]
    names += [word.text.partition("=")[0] for word in part.words[1:] if "=" in word.text and part.name in ("env", "time")]
    return any(influential(name) for name in names)


def _approvals(part: Part) -> tuple[str, ...]:
    words = [word.value for word in part.words]
    spelled = [f"{name}={word.value}" for name, word in part.assignments if influential(name)]
    certain = tuple(word for word in words if word is not None)
    if not words or len(certain) < len(words) or any(word.value is None for _, word in part.assignments):
        return ("--approve all",)
    return (_allow(exact_rule((*spelled, *certain))), "--approve all")


def _flag(read: _Read, findings: list[_Finding], policy: Policy) -> str:
    """The fewest and narrowest flags that allow it all, found by trying them; empty when there are none."""
    if any(not finding.flags for finding in findings):
        return ""
    rank: dict[str, int] = {}
    for finding in findings:
        for flag in finding.flags:
            rank.setdefault(flag, len(rank))
    broad = ("--approve edits", "--approve all", "--allow execute", "--allow network")
    flags = sorted(rank, key=lambda flag: (broad.index(flag) + 1 if flag in broad else 0, rank[flag]))
    flags = [*[flag for flag in flags if flag not in broad][:6], *[flag for flag in flags if flag in broad]]
    for count in range(1, MOST_FLAGS + 1):
        for chosen in combinations(flags, count):
            if not _judge(read, _with(policy, chosen)):
                return " ".join(chosen)
    return ""


def _with(policy: Policy, flags: tuple[str, ...]) -> Policy:
    for flag in flags:
        name, value = shlex.split(flag)
        match name:
            case "--add-dir":
                policy = replace(policy, extra=(*policy.extra, value))
            case "--allow":
                policy = replace(policy, allow=(*policy.allow, parse_rule(value)))
            case _:
                policy = replace(policy, approve=value)
    return policy


def _allow(rule: str) -> str:
    return "--allow " + shlex.quote(rule)


def _relative(path: str, policy: Policy) -> str:
    return os.path.relpath(path, policy.root) if inside(path, (policy.root,)) else path


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:79] + "…"
