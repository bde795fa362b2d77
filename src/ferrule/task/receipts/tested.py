"""Which files that a verification command judges by were changed in the same run: a small rule, told in docs/receipts.md.

It errs towards naming a file: a reader dismisses one too many easily and never learns of one too few.
"""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from msgspec.structs import replace

from ferrule.types.tools import FileChange, GateResult

FOLDERS = frozenset({"test", "tests", "testing", "__tests__", "spec", "specs", "e2e", "testdata", "fixtures", "__snapshots__"})
NAMES = re.compile(r"(?:test|spec)s?(?:[_.-].*)?|.*[_.-](?:test|spec)s?|conftest", re.IGNORECASE)
CAMEL = re.compile(r"(?:Test|Spec)[A-Z0-9].*|.*[a-z0-9](?:Test|Spec)s?")
RUNNERS = frozenset(
    {
        *("makefile", "gnumakefile", "justfile", "taskfile.yml", "cmakelists.txt"),
        *("pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "noxfile.py", "conftest.py", "sitecustomize.py"),
        *("package.json", "phpunit.xml", "cargo.toml", "build.gradle", "build.gradle.kts", "pom.xml", "rakefile", ".rspec"),
    }
)
CONFIGURED = re.compile(r"(?:jest|vitest|karma|playwright|cypress|mocha|ava)\.config\.\w+|\.mocharc\.\w+", re.IGNORECASE)


def marked(gates: Iterable[GateResult], changes: Iterable[FileChange]) -> tuple[GateResult, ...]:
    """The gates; those with a command tell which of the changed files it judges by."""
    paths = [change.path for change in changes]
    return tuple(gate if gate.command is None else replace(gate, changed_tests=judged(gate.command, paths)) for gate in gates)


def judged(command: str, paths: Iterable[str]) -> tuple[str, ...]:
    """Of `paths`, those that the command names (itself or by a folder above it), that look like tests, or that tell a runner what
    to run.
    """
    named = _named(command)
    return tuple(path for path in paths if looks_like_test(path) or _is_named(path, named))


def looks_like_test(path: str) -> bool:
    pure = PurePosixPath(path)
    if any(part.lower() in FOLDERS for part in pure.parts[:-1]):
        return True
    if pure.name.lower() in RUNNERS or CONFIGURED.fullmatch(pure.name):
        return True
    stem = pure.name.partition(".")[0] if pure.name[:1] != "." else pure.name
    whole = pure.name.rpartition(".")[0] or pure.name
    return any(NAMES.fullmatch(each) or CAMEL.fullmatch(each) for each in (stem, whole))


def _named(command: str) -> frozenset[str]:
    """Words of a command line that may be paths; also what follows `=` and what stands before `::`."""
    import shlex

    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    pieces = {piece for word in words for piece in (word, word.partition("=")[2], word.partition("::")[0])}
    paths = {str(PurePosixPath(piece.strip(";&|()<>"))) for piece in pieces if piece.strip(";&|()<>")}
    return frozenset(paths - {".", "/", ".."})


def _is_named(path: str, named: frozenset[str]) -> bool:
    pure = PurePosixPath(path)
    return str(pure) in named or any(str(parent) in named for parent in pure.parents)
