"""From the words of a command line to one invocation, or a UsageError that says what would be right."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from ferrule.types.errors import UsageError

from .flags import BY_NAME, COMMANDS, FROM_ELSEWHERE, MANY, MAY_TAKE, MCP, NEEDS, REVIEW, RUN, TAKES, UNDO, FlagSpec


class Given(NamedTuple):
    """A setting from a flag: dotted key, the texts given, the flag."""

    key: str
    texts: tuple[str, ...]
    flag: str


class ReviewOf(NamedTuple):
    """What `ferrule review` is to look at: at most one of `base`, `staged` and `commit`."""

    base: str | None = None
    staged: bool = False
    commit: str | None = None
    fail_on: str | None = None


class UndoOf(NamedTuple):
    """Where `ferrule undo` is to go back to (at most one of `to`, `last` and the invocation's `everything`), and how."""

    to: int | None = None
    last: int | None = None
    files: bool = False
    conversation: bool = False
    listed: bool = False
    dry_run: bool = False
    force: bool = False


class McpOf(NamedTuple):
    """What `ferrule mcp add` and `remove` are told beside the server: `project` means the project's file."""

    transport: str | None = None
    env: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    project: bool = False


class Invocation(NamedTuple):
    """One understood command line. `headless` tells that `-p` was there; `resume` is a session id, a prefix or `latest`."""

    command: str = RUN
    action: str = ""
    words: tuple[str, ...] = ()
    headless: bool = False
    prompt: str | None = None
    resume: str | None = None
    if_busy: Literal["refuse", "wait", "read", "take"] = "refuse"
    no_session: bool = False
    worktree: str | None = None
    folder: Path = Path()
    extra: tuple[Path, ...] = ()
    append_system_prompt: str = ""
    settings: tuple[Given, ...] = ()
    output_format: str = "text"
    everything: bool = False
    receipt: Path | None = None
    journal: Path | None = None
    export_format: str = "markdown"
    output: str | None = None
    focus: str = ""
    filters: str | None = None
    until: int | None = None
    speed: float | None = None
    review: "ReviewOf | None" = None
    force: bool = False
    undo: "UndoOf | None" = None
    mcp: "McpOf | None" = None
    help: bool = False
    version: bool = False


def understand(arguments: Sequence[str]) -> Invocation:
    """Raises UsageError for whatever cannot be meant."""
    given, bare = _split(arguments)
    if "--help" in given or "--version" in given:
        return Invocation(help="--help" in given, version="--version" in given)
    command, action, words = _command(bare, headless="--print" in given)
    for name in given:
        _belongs(BY_NAME[name], command, action)
    prompt, words = _prompt(given, command, words)
    _exclude(given, "--continue", "--resume")
    for flag in ("--continue", "--resume"):
        _exclude(given, flag, "--no-session")
    for flag in ("--continue", "--resume"):
        _exclude(given, flag, "--worktree")
    return Invocation(
        command=command,
        action=action,
        words=words,
        headless="--print" in given,
        prompt=prompt,
        resume="latest" if "--continue" in given else _text(given, "--resume"),
        if_busy=_if_busy(given, command),
        no_session="--no-session" in given,
        worktree=_text(given, "--worktree") or "" if "--worktree" in given else None,
        folder=_folder(given["-C"][-1], "-C") if "-C" in given else _here(),
        extra=tuple(_folder(text, "--add-dir") for text in given.get("--add-dir", ())),
        append_system_prompt=_readable(_text(given, "--append-system-prompt") or ""),
        settings=tuple(Given(BY_NAME[name].key, tuple(texts), name) for name, texts in given.items() if BY_NAME[name].key),
        output_format=_format(_text(given, "--output-format") or "text", command),
        everything="--all" in given,
        receipt=_path(given, "--receipt"),
        journal=_path(given, "--journal"),
        export_format=_text(given, "--format") or "markdown",
        output=_text(given, "--output"),
        focus=_readable(_text(given, "--focus") or ""),
        filters=_text(given, "--filters"),
        until=_whole(given, "--until"),
        speed=_above_zero(given, "--speed"),
        force="--force" in given,
        review=_review(given) if command == REVIEW else None,
        undo=_undo(given) if command == UNDO else None,
        mcp=_mcp(given) if command == MCP else None,
    )


def _split(arguments: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Flags by their long name with the texts given for each, and the words that are no flags."""
    given: dict[str, list[str]] = {}
    words: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return given, words + rest
        if not word.startswith("-") or word == "-":
            words.append(word)
        elif word.startswith("--"):
            name, equals, text = word.partition("=")
            _take(_known(name), text if equals else None, rest, given)
        else:
            _cluster(word, rest, given)
    return given, words


def _cluster(word: str, rest: list[str], given: dict[str, list[str]]) -> None:
    """Short flags in one word: `-cp TEXT`, `-C/dir`."""
    letters = word[1:]
    while letters:
        flag = _known(f"-{letters[0]}", word)
        letters = letters[1:]
        if flag.value:
            _take(flag, letters or None, rest, given)
            return
        _take(flag, None, rest, given)


def _known(name: str, word: str = "") -> FlagSpec:
    if (flag := BY_NAME.get(name)) is not None:
        return flag
    hint = FROM_ELSEWHERE.get(word) or FROM_ELSEWHERE.get(name)
    if hint is not None:
        raise UsageError(f"unknown flag {word or name}; here it is {hint}")
    from difflib import get_close_matches

    near = get_close_matches(word or name, [*BY_NAME], 1, 0.6)
    meant = f"did you mean {near[0]}?" if near else "ferrule --help shows all flags"
    raise UsageError(f"unknown flag {word or name}; {meant}")


def _take(flag: FlagSpec, text: str | None, rest: list[str], given: dict[str, list[str]]) -> None:
    texts = given.setdefault(flag.name, [])
    if not flag.value:
        if text is not None:
            raise UsageError(f"{flag.name} takes no value, but {text!r} was given")
        return
    if text is None and rest and not _is_flag(rest[0]):
        text = rest.pop(0)
    if text is None:
        if flag.name != "--print" and not flag.optional:
            raise UsageError(f"{flag.name} needs a value: {flag.name} {flag.value}")
        return
    if flag.choices and text not in flag.choices:
        raise UsageError(f'{flag.name} must be one of {", ".join(flag.choices)}, not "{text}"')
    texts.append(text)


def _is_flag(word: str) -> bool:
    """Whether a word can only be meant as a flag. A prompt or pattern may begin with a dash."""
    return word == "--" or word.partition("=")[0] in BY_NAME


def _command(words: list[str], headless: bool) -> tuple[str, str, tuple[str, ...]]:
    if words[:1] == [REVIEW]:
        return REVIEW, "", tuple(words[1:])
    if not words or headless:
        return RUN, "", tuple(words)
    command, rest = words[0], words[1:]
    if command not in COMMANDS:
        raise UsageError(_no_command(command, words))
    actions = COMMANDS[command]
    if not actions:
        return command, "", _exactly(command, rest)
    if not rest and "" not in actions:
        raise UsageError(f"ferrule {command} needs one of: {', '.join(actions)}")
    action, rest = (rest[0], rest[1:]) if rest else ("", [])
    if action not in actions:
        known = ", ".join(f"{command} {known}".rstrip() for known in actions)
        raise UsageError(f'"{command} {action}" is no command; known: {known}')
    return command, action, _exactly(f"{command} {action}".rstrip(), rest)


def _exactly(command: str, words: list[str]) -> tuple[str, ...]:
    count = 2 if command in MANY else 1 if command in TAKES else 0
    if len(words) < count:
        raise UsageError(f"{command} needs {NEEDS[TAKES[command]].format(command)}")
    if command in MAY_TAKE:
        count = 1
    if len(words) > count and command not in MANY:
        quote = "; quote it" if TAKES.get(command) == "TEXT" else ""
        raise UsageError(f'{command} does not take "{words[count]}"{quote}')
    return tuple(words)


def _no_command(word: str, words: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, [*COMMANDS], 1, 0.7)
    if near:
        return f'"{word}" is no command; did you mean {near[0]}?'
    import shlex

    return f'"{word}" is no command; to give a task, write: ferrule -p {shlex.quote(" ".join(words))}'


def _belongs(flag: FlagSpec, command: str, action: str) -> None:
    if command in flag.commands and (command in flag.homes or f"{command} {action}" in flag.homes):
        return
    if command == RUN:
        raise UsageError(f"{flag.name} belongs to: {', '.join(f'ferrule {home}' for home in flag.homes)}")
    raise UsageError(f"ferrule {f'{command} {action}'.strip() if flag.actions else command} does not take {flag.name}")


def _prompt(given: dict[str, list[str]], command: str, words: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The prompt is what follows `-p`, or the only word where `-p` stands alone; the words of a review are paths."""
    if command == REVIEW:
        return _text(given, "--print"), words
    if command != RUN:
        return None, words
    texts = [*given.get("--print", ()), *words]
    if len(texts) > 1:
        import shlex

        raise UsageError(f"one prompt is expected, but there are {len(texts)}; quote it: -p {shlex.quote(' '.join(texts))}")
    if texts and not texts[0].strip():
        raise UsageError("the prompt is empty; say what to do: -p PROMPT")
    return (_readable(texts[0]) if texts else None), ()


def _readable(text: str) -> str:
    """Words that are not UTF-8 come as lone surrogates, which can neither be stored nor sent."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _if_busy(given: dict[str, list[str]], command: str) -> Literal["refuse", "wait", "read", "take"]:
    if "--if-busy" not in given:
        return "refuse"
    if not {"--continue", "--resume"} & given.keys():
        raise UsageError("--if-busy says what happens when a session to go on with is open elsewhere; add -c or -r ID")
    match _text(given, "--if-busy"):
        case "wait":
            return "wait"
        case "take":
            return "take"
        case _ if command == REVIEW:
            raise UsageError("ferrule review takes --if-busy wait or take; what a review elsewhere did tells ferrule replay ID")
        case _:
            return "read"


def _review(given: dict[str, list[str]]) -> ReviewOf:
    for one, other in (("--base", "--staged"), ("--base", "--commit"), ("--staged", "--commit")):
        _exclude(given, one, other)
    return ReviewOf(_text(given, "--base"), "--staged" in given, _text(given, "--commit"), _text(given, "--fail-on"))


def _undo(given: dict[str, list[str]]) -> UndoOf:
    for one, other in (("--to", "--last"), ("--to", "--all"), ("--last", "--all"), ("--dry-run", "--force")):
        _exclude(given, one, other)
    for flag in ("--to", "--last", "--all", "--files", "--conversation", "--dry-run", "--force"):
        _exclude(given, "--list", flag)
    return UndoOf(
        to=_whole(given, "--to"),
        last=_whole(given, "--last"),
        files="--files" in given,
        conversation="--conversation" in given,
        listed="--list" in given,
        dry_run="--dry-run" in given,
        force="--force" in given,
    )


def _mcp(given: dict[str, list[str]]) -> McpOf:
    env, headers = tuple(given.get("--env", ())), tuple(given.get("--header", ()))
    return McpOf(_text(given, "--transport"), env, headers, "--project" in given)


def _exclude(given: dict[str, list[str]], one: str, other: str) -> None:
    if one in given and other in given:
        raise UsageError(f"{one} and {other} exclude each other")


def _text(given: dict[str, list[str]], name: str) -> str | None:
    texts = given.get(name)
    if texts and not texts[-1].strip():
        raise UsageError(f"{name} needs a value that is not empty: {name} {BY_NAME[name].value}")
    return texts[-1] if texts else None


def _path(given: dict[str, list[str]], name: str) -> Path | None:
    text = _text(given, name)
    return None if text is None else Path(text).expanduser()


def _whole(given: dict[str, list[str]], name: str) -> int | None:
    text = _text(given, name)
    if text is not None and not (text.isascii() and text.isdigit() and 0 < len(text) < 19 and int(text)):
        raise UsageError(f'{name} must be a whole number of at least 1, not "{text}"')
    return None if text is None else int(text)


def _above_zero(given: dict[str, list[str]], name: str) -> float | None:
    text = _text(given, name)
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise UsageError(f'{name} must be a number above 0, such as 1 (as it was) or 10 (ten times as fast), not "{text}"')
    return number


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise UsageError(f"the current folder cannot be used ({error.strerror}); name another one with -C DIR") from error


def _folder(text: str, flag: str) -> Path:
    try:
        path = Path(text).expanduser().resolve(strict=True)
    except (FileNotFoundError, RuntimeError) as error:
        raise UsageError(f"{flag} {text}: there is no such folder") from error
    except OSError as error:
        raise UsageError(f"{flag} {text}: {error.strerror}") from error
    if not path.is_dir():
        raise UsageError(f"{flag} {text}: this is not a folder")
    return path


def _format(name: str, command: str) -> str:
    if name == "sarif" and command != REVIEW:
        raise UsageError("only ferrule review writes sarif")
    if name == "stream-json" and command not in (RUN, REVIEW, "demo", "replay"):
        raise UsageError(f"ferrule {command} writes text or json, not stream-json")
    if name == "json" and command == "replay":
        raise UsageError("ferrule replay writes text or stream-json, not json")
    return name
