"""Commands that run other commands: where the inner command stands among their words."""

import re

from msgspec import Struct

from .words import Word, joined, unknown


class Command(Struct, frozen=True):
    """Words that are run as a command. `here`: by this very shell, so that its effects on the shell count."""

    words: tuple[Word, ...]
    here: bool = False
    moved: bool = False


class Code(Struct, frozen=True):
    """Text that is run by a shell. `posix`: by one that is not bash."""

    text: str
    here: bool = False
    posix: bool = False


class Doubt(Struct, frozen=True):
    why: str


Inner = Command | Code | Doubt


class Wrapper(Struct, frozen=True):
    """How a wrapper's own words are told from the command's: option letters without and with a value, long options in full,
    operands before the command, and whether NAME=VALUE words may come first."""

    flags: str = ""
    values: str = ""
    long: tuple[str, ...] = ()
    operands: int = 0
    assigns: bool = False
    opaque: bool = False
    here: bool = False


WRAPPERS: dict[str, Wrapper] = {
    "sudo": Wrapper("AbEHnPSkB", "ugphCT", ("non-interactive", "preserve-env", "set-home", "user"), assigns=True, opaque=True),
    "doas": Wrapper("n", "uC", opaque=True),
    "env": Wrapper("i0v", "u", ("ignore-environment", "null", "unset"), assigns=True),
    "timeout": Wrapper("fpv", "ks", ("foreground", "preserve-status", "verbose", "kill-after", "signal"), operands=1),
    "nice": Wrapper("0123456789", "n", ("adjustment",)),
    "ionice": Wrapper("t", "cn", ("class", "classdata", "ignore")),
    "nohup": Wrapper(),
    "setsid": Wrapper("cfw", "", ("ctty", "fork", "wait")),
    "stdbuf": Wrapper("", "ioe", ("input", "output", "error")),
    "time": Wrapper("pv", "", ("portability", "verbose"), assigns=True, here=True),
    "command": Wrapper("p", here=True),
    "builtin": Wrapper(here=True),
    "exec": Wrapper("cl", "a", here=True),
    "xargs": Wrapper(
        "0rtpxo",
        "adEILnPs",
        ("null", "no-run-if-empty", "verbose", "arg-file", "delimiter", "max-args", "max-procs", "max-lines", "replace"),
    ),
}
SHELLS = {"bash": False, "sh": True, "dash": True}
OTHER_SHELLS = frozenset({"zsh", "ksh", "mksh", "fish", "csh", "tcsh", "ash", "rbash", "pwsh"})
LAUNCHERS = frozenset(
    """
    strace ltrace gdb valgrind perf watch parallel ssh su chroot unshare nsenter flock script at batch systemd-run runuser setpriv
    firejail bwrap docker podman kubectl tmux screen entr fakeroot fd fdfind busybox toybox taskset chrt prlimit numactl expect
    """.split()  # noqa: SIM905 one word a name reads better than a quoted list
)
NAMED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
ONLY_BASH = re.compile(r"\[\[|(?<!\$)\(\(|\$['\"]|<<<|\bfunction\b|\bselect\b|\|&|[{].*(,|\.\.).*[}]", re.DOTALL)


def inner(words: tuple[Word, ...], stdin: Word | None) -> tuple[list[Inner], bool]:
    """What `words` (the first one certain) runs besides itself, and whether it does nothing else. `stdin` is text fed to it."""
    name = base(words[0].value or "")
    if name in WRAPPERS:
        return _wrapped(name, WRAPPERS[name], words), not WRAPPERS[name].opaque
    if name in SHELLS:
        found = _shell(words[1:], stdin, SHELLS[name])
        return found, any(isinstance(each, Code) for each in found)
    if name in OTHER_SHELLS:
        return [Doubt(f"`{name}` reads another language than bash")], False
    match name:
        case "eval":
            return _eval(words[1:]), True
        case "trap":
            return _trap(words[1:]), False
        case "find":
            return _find(words[1:]), False
        case _:
            return [], False


def base(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def _wrapped(name: str, wrapper: Wrapper, words: tuple[Word, ...]) -> list[Inner]:
    at = 1
    replace: str | None = None
    while at < len(words):
        text = words[at].value
        if text is None:
            return [Doubt(f"it is not certain what `{name}` runs")]
        if name == "command" and re.fullmatch(r"-p?[vV]", text):
            return []
        if text == "--":
            at += 1
            break
        if not text.startswith("-") or text == "-":
            break
        step = _option(wrapper, text)
        if step is None:
            return [Doubt(f"the option `{text}` of `{name}` is not one that is understood")]
        if name == "xargs":
            replace = _replacement(text, words, at) or replace
        at += step
    at += wrapper.operands
    while wrapper.assigns and at < len(words) and NAMED.match(words[at].text):
        at += 1
    rest = words[at:]
    if not rest:
        return []
    if name == "xargs":
        fed = tuple(unknown(each.text) if replace and replace in each.text else each for each in rest)
        rest = fed if replace else (*rest, unknown("words read by xargs", many=True))
    return [Command(rest, here=wrapper.here)]


def _option(wrapper: Wrapper, text: str) -> int | None:
    """How many words the option takes, None if it is not known."""
    if text.startswith("--"):
        option, equals, _ = text[2:].partition("=")
        if option not in wrapper.long:
            return None
        return 1 if equals or option in FLAGS_ONLY else 2
    for at, letter in enumerate(text[1:], start=1):
        if letter in wrapper.values:
            return 1 if at + 1 < len(text) else 2
        if letter not in wrapper.flags:
            return None
    return 1


FLAGS_ONLY = frozenset(
    """
    non-interactive preserve-env set-home ignore-environment null foreground preserve-status verbose ignore ctty fork wait
    portability no-run-if-empty replace max-lines
    """.split()  # noqa: SIM905 one word a name reads better than a quoted list
)


def _replacement(text: str, words: tuple[Word, ...], at: int) -> str | None:
    if text.startswith("--replace"):
        return text.partition("=")[2] or "{}"
    if text.startswith("--") or "I" not in text:
        return None
    glued = text[text.index("I") + 1 :]
    if glued:
        return glued
    return words[at + 1].value if at + 1 < len(words) else None


def _shell(words: tuple[Word, ...], stdin: Word | None, posix: bool) -> list[Inner]:
    at = 0
    code = False
    while at < len(words):
        text = words[at].value
        if text is None:
            return [Doubt("it is not certain what the shell runs")]
        if text in ("-", "--"):
            at += 1
            break
        if text[:1] not in ("-", "+"):
            break
        if text.startswith("--"):
            if text == "--version":
                return []
            if text not in ("--norc", "--noprofile", "--posix"):
                return [Doubt(f"the option `{text}` of a shell is not one that is understood")]
        elif not re.fullmatch(r"[-+][ceuxvnlfo]+", text):
            return [Doubt(f"the option `{text}` of a shell is not one that is understood")]
        else:
            code = code or "c" in text
            if "o" in text:
                if at + 1 >= len(words) or words[at + 1].value not in ("pipefail", "errexit", "nounset", "xtrace", "noglob"):
                    return [Doubt("an option of a shell is not one that is understood")]
                at += 1
        at += 1
    if code:
        if at >= len(words):
            return []
        text = words[at].value
        return [_code(text, posix)] if text is not None else [Doubt("it is not certain what the shell runs")]
    if at < len(words):
        return []
    if stdin is not None and stdin.value is not None:
        return [_code(stdin.value, posix)]
    return [Doubt("a shell runs what it reads from its input")]


def _code(text: str, posix: bool) -> Inner:
    return Code(text, posix=posix and bool(ONLY_BASH.search(text)))


def _eval(words: tuple[Word, ...]) -> list[Inner]:
    if words and words[0].value == "--":
        words = words[1:]
    texts = [word.value for word in words]
    if any(text is None for text in texts):
        return [Doubt("`eval` runs text that is not certain")]
    return [Code(" ".join(text for text in texts if text is not None), here=True)] if texts else []


def _trap(words: tuple[Word, ...]) -> list[Inner]:
    if words and words[0].value == "--":
        words = words[1:]
    if not words or words[0].value in ("-", "", "-l", "-p"):
        return []
    text = words[0].value
    return [Code(text)] if text is not None else [Doubt("`trap` runs text that is not certain")]


def _find(words: tuple[Word, ...]) -> list[Inner]:
    starts: list[Word] = []
    for word in words:
        if word.text[:1] in ("-", "(", "!"):
            break
        starts.append(word)
    bases = joined("{}", starts or [Word(".", (".",))])
    place = unknown("{}") if bases is None else Word("{}", tuple(each + "/{}" for each in bases.values or ()), exact=False)
    found: list[Inner] = []
    at = 0
    while at < len(words):
        if words[at].value in ("-exec", "-execdir", "-ok", "-okdir"):
            moved = words[at].value in ("-execdir", "-okdir")
            end = at + 1
            while end < len(words) and words[end].value != ";" and not (words[end].value == "+" and words[end - 1].value == "{}"):
                end += 1
            command = tuple(place if word.value == "{}" else _fed(word) for word in words[at + 1 : end])
            found.append(Command(command, moved=moved) if command else Doubt("`find -exec` has no command"))
            at = end
        elif words[at].value is None:
            found.append(Doubt("it is not certain what `find` is told"))
        at += 1
    return found


def _fed(word: Word) -> Word:
    return unknown(word.text) if "{}" in word.text else word
