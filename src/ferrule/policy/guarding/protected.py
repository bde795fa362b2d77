"""Files that decide what runs, who sees what, and how agents work: writing them needs an approval of its own."""

# Paths are text here: os.path is several times faster than pathlib on the way of every command.
# ruff: noqa: PTH114, PTH118, PTH119, PTH206, PTH208

import fnmatch
import os
import re

from ferrule.policy.rules import Rule

GIT = "how git or Ferrule works"
AGENTS = "how agents work here"
HIDES = "what agents may see"
CI = "what runs in CI"
EDITOR = "what an editor does here"
PROTECTED: dict[str, str] = {
    **dict.fromkeys((".git", ".ferrule"), GIT),
    **dict.fromkeys((".ferruleignore", ".rooignore"), HIDES),
    **dict.fromkeys((".roo", ".roomodes", ".roorules*", ".clinerules*", ".agents", ".claude", ".mcp.json"), AGENTS),
    **dict.fromkeys(("agents.md", "agents.local.md", "agent.md", "claude.md", "claude.local.md"), AGENTS),
    **dict.fromkeys((".github/workflows", ".github/actions", ".forgejo/workflows", ".gitea/workflows"), CI),
    **dict.fromkeys((".gitlab-ci.yml", ".gitlab-ci.yaml", ".gitlab/ci", ".circleci", ".buildkite", ".ci", ".travis.yml"), CI),
    **dict.fromkeys(("jenkinsfile", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".drone.yml", ".woodpecker*"), CI),
    **dict.fromkeys(("appveyor.yml", ".appveyor.yml", ".cirrus.yml"), CI),
    **dict.fromkeys((".vscode", ".idea", ".zed", ".fleet", ".devcontainer", "*.code-workspace", ".editorconfig"), EDITOR),
}
"""Names in lower case, wherever they stand, and what they decide; of a folder, all that it holds."""
_SPLIT = [tuple(name.split("/")) for name in PROTECTED]
_EXACT = {first: [entry for entry in _SPLIT if entry[0] == first] for first, *_ in _SPLIT}
_LIKE = [name for name in PROTECTED if "*" in name]


def guards(path: str, base: str) -> tuple[str, str] | None:
    """The protected file or folder that a path below `base` is or lies in, or that leads to it, and what that decides."""
    names = os.path.relpath(path, base).split(os.sep)
    for at in range(len(names)):
        if (found := _entry(names[at:])) is not None:
            return os.path.join(base, *names[: at + len(found)]), PROTECTED["/".join(found)]
    return _linked(path, base)


def _linked(path: str, base: str) -> tuple[str, str] | None:
    """A protected name at the top may be a link to what has another name."""
    for name in _listed(base):
        found = _entry([name])
        link = os.path.join(base, name)
        if found and os.path.islink(link) and ((real := os.path.realpath(link)) == path or path.startswith(real + os.sep)):
            return real, PROTECTED["/".join(found)]
    return None


def held(folder: str) -> str | None:
    """The name of something protected that lies in a folder, if only by the folder's own name."""
    for name in _listed(folder):
        if _entry([name]) is not None:
            return name
    own = os.path.basename(folder)
    inner = [entry[1] for entry in _EXACT.get(own.lower(), ()) if len(entry) > 1]
    return next((f"{own}/{name}" for name in inner if os.path.lexists(os.path.join(folder, name))), None)


def named_by(rule: Rule) -> bool:
    """Whether a rule spells something protected out: `write:AGENTS.md` does, `write:**` does not."""
    pattern = rule.pattern or "*"
    names = pattern.split("/")
    return not re.search(r"\*|\?", pattern) or any(_entry(names[at:]) is not None for at in range(len(names)))


def _entry(names: list[str]) -> tuple[str, ...] | None:
    """The entry of the table that these names begin with."""
    first = names[0].lower()
    for entry in _EXACT.get(first, ()):
        if tuple(name.lower() for name in names[: len(entry)]) == entry:
            return entry
    return next(((like,) for like in _LIKE if fnmatch.fnmatchcase(first, like)), None)


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
