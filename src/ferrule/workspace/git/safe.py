"""How git is run so that nothing runs but git: what its configuration could start is turned off, from whichever file it comes.

The person's own and the system's configuration are not read, but for a few values that decide what a file is and whom a folder
belongs to. A repository's own configuration is always read by git, so what it could start is overridden on top: hooks, the file
system monitor and the filters that it names. External diffs and text conversion are options of each diff.
"""

import re
from collections.abc import Iterable, Mapping

OVERRIDDEN = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.splitIndex", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.quotePath", "true"),
    ("core.safecrlf", "false"),
    ("core.alternateRefsCommand", ""),
    ("core.sshCommand", "false"),
    ("core.askPass", ""),
    ("credential.helper", ""),
    ("protocol.allow", "never"),
    ("diff.suppressBlankEmpty", "false"),
)
_PERSONAL = frozenset({"core.autocrlf", "core.eol", "core.excludesfile", "core.precomposeunicode", "safe.directory"})
_FILTER = re.compile(r"(filter\..+)\.(?:clean|smudge|process|required)\Z", re.DOTALL)
_FIXED = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
_ALWAYS = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}


def asking_environment(source: Mapping[str, str]) -> dict[str, str]:
    """For `git config --list`, which starts nothing and has to see all files of configuration."""
    kept = {name: value for name, value in source.items() if not name.startswith("GIT_") or name == "GIT_INDEX_FILE"}
    kept.pop("LANGUAGE", None)
    return kept | _ALWAYS


def safe_environment(source: Mapping[str, str], configuration: bytes) -> dict[str, str]:
    """For everything else. `configuration` is the answer to `git config --list --show-scope -z`."""
    values = [*_personal(configuration), *OVERRIDDEN, *_filters(configuration)]
    numbered = {"GIT_CONFIG_COUNT": str(len(values))}
    for number, (key, value) in enumerate(values):
        numbered |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return asking_environment(source) | _FIXED | numbered


def _listed(configuration: bytes) -> Iterable[tuple[str, str, str]]:
    """Scope, key and value of each setting. A key without a value is true."""
    fields = configuration.decode("utf-8", "surrogateescape").split("\0")
    for scope, setting in zip(fields[::2], fields[1::2], strict=False):
        key, is_set, value = setting.partition("\n")
        yield scope, key, value if is_set else "true"


def _personal(configuration: bytes) -> list[tuple[str, str]]:
    return [(key, value) for scope, key, value in _listed(configuration) if scope in ("system", "global") and key in _PERSONAL]


def _filters(configuration: bytes) -> list[tuple[str, str]]:
    """Overrides for each filter that the repository names: a filter without commands changes nothing."""
    keys = (key for scope, key, _ in _listed(configuration) if scope not in ("system", "global"))
    names = dict.fromkeys(match[1] for key in keys if (match := _FILTER.match(key)))
    return [
        pair
        for name in names
        for pair in ((f"{name}.clean", ""), (f"{name}.smudge", ""), (f"{name}.process", ""), (f"{name}.required", "false"))
    ]
