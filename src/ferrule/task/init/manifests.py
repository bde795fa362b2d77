"""The commands that a project's manifests name: what builds, checks, tests and runs it."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

Read = Callable[[str], str | None]
"""The text of a file at the top of the project, None where there is none that can be read."""

WANTED = ("build", "compile", "check", "lint", "format", "fmt", "typecheck", "test", "tests", "bench", "run", "dev", "start")
"""Names of targets and scripts that are worth telling, in this order."""


class Told(NamedTuple):
    """A command and the manifest that it was found in."""

    command: str
    manifest: str


def commands(read: Read) -> tuple[Told, ...]:
    """Without those that say the same; a manifest that cannot be parsed names none."""
    found = [told for source in SOURCES for told in source(read)]
    return tuple({told.command: told for told in reversed(found)}[command] for command in dict.fromkeys(t.command for t in found))


def _make(read: Read) -> Iterator[Told]:
    for name in ("GNUmakefile", "makefile", "Makefile"):
        if (text := read(name)) is not None:
            rules = re.findall(r"^([A-Za-z0-9][\w. \t/-]*)::?(?![:=])", text, re.MULTILINE)
            yield from (Told(f"make {target}", name) for target in _wanted(" ".join(rules).split()))
            return


def _just(read: Read) -> Iterator[Told]:
    for name in ("justfile", "Justfile", ".justfile"):
        if (text := read(name)) is not None:
            recipes = re.findall(r"^@?([A-Za-z_][\w-]*)(?:[ \t][^:\n]*)?:(?!=)", text, re.MULTILINE)
            yield from (Told(f"just {recipe}", name) for recipe in _wanted(recipes))
            return


def _package(read: Read) -> Iterator[Told]:
    scripts = _table(_json(read("package.json")), "scripts")
    locks = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun"}
    manager = next((manager for lock, manager in locks.items() if read(lock) is not None), "npm")
    yield from (Told(f"{manager} run {name}", "package.json") for name in _wanted(scripts))


def _python(read: Read) -> Iterator[Told]:
    project = _toml(read("pyproject.toml"))
    tool = _table(project, "tool")
    runner = next((f"{name} run " for name in ("uv", "poetry", "pdm") if name in tool or read(f"{name}.lock") is not None), "")
    listed = json.dumps(project)
    for name, command in (("ruff", "ruff check"), ("black", "black --check ."), ("mypy", "mypy ."), ("pytest", "pytest")):
        if name in tool or re.search(rf'"{name}(?![\w-])[^"]*"', listed):
            yield Told(f"{runner}{command}", "pyproject.toml")
    if read("pytest.ini") is not None:
        yield Told(f"{runner}pytest", "pytest.ini")
    for file, command in (("tox.ini", "tox"), ("noxfile.py", "nox"), (".pre-commit-config.yaml", "pre-commit run --all-files")):
        if read(file) is not None:
            yield Told(command, file)


def _fixed(read: Read) -> Iterator[Told]:
    """Where the manifest alone says how."""
    for manifest, told in FIXED.items():
        if read(manifest) is not None:
            yield from (Told(command, manifest) for command in told)


def _composer(read: Read) -> Iterator[Told]:
    scripts = _table(_json(read("composer.json")), "scripts")
    yield from (Told(f"composer {name}", "composer.json") for name in _wanted(scripts))


FIXED = {
    "Cargo.toml": ("cargo build", "cargo clippy", "cargo fmt --check", "cargo test"),
    "go.mod": ("go build ./...", "go vet ./...", "go test ./..."),
    "pom.xml": ("mvn compile", "mvn test"),
    "gradlew": ("./gradlew build", "./gradlew test"),
    "mix.exs": ("mix compile", "mix format --check-formatted", "mix test"),
    "Package.swift": ("swift build", "swift test"),
    "pubspec.yaml": ("dart analyze", "dart test"),
    "Rakefile": ("rake -T",),
    "CMakeLists.txt": ("cmake -S . -B build", "cmake --build build", "ctest --test-dir build"),
    "meson.build": ("meson setup build", "meson test -C build"),
    "build.zig": ("zig build", "zig build test"),
    "stack.yaml": ("stack build", "stack test"),
}
SOURCES = (_make, _just, _package, _python, _composer, _fixed)


def _wanted(names: "list[str] | Mapping[str, Any]") -> list[str]:
    """Those worth telling, exact names before `test:unit` and the like, which are left to the manifest."""
    return [name for name in WANTED if name in names]


def _json(text: str | None) -> object:
    try:
        return json.loads(text or "null")
    except (ValueError, RecursionError):
        return None


def _toml(text: str | None) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text or "")
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _table(value: object, name: str) -> Mapping[str, Any]:
    inner = value.get(name) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}
