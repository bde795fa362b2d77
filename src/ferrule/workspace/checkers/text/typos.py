"""Misspelled words in added lines, by typos, which knows misspellings rather than words. Every finding is a nit."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import msgspec
from msgspec import Struct

from ferrule.workspace.checkers.base import Changed, Checker, CheckerFailed, CheckFinding, Said, Surroundings
from ferrule.workspace.checkers.program import find, lay_out, output, version

TIMEOUT = 60.0
FOUND = 2
"""The exit code of typos when there are some."""
SHORTEST = 4
OFTEN = 3
"""A word that is added this often is a name."""
LONGEST_LINE = 400
QUOTES = (b'"', b"'", b"`")
DATA = frozenset(
    ".json .lock .svg .csv .tsv .po .pot .ipynb .map .sum .xml .pem .crt .asc .sql .dic .aff .jsonl .ndjson .log .bib".split()  # noqa: SIM905
)
PEOPLE = re.compile(r"^(authors|contributors|credits|thanks|maintainers|codeowners|license|licence|copying)\b", re.IGNORECASE)
CONFIGS = ("typos.toml", "_typos.toml", ".typos.toml")


class _Typo(Struct, frozen=True):
    type: str
    path: str = ""
    line_num: int = 0
    byte_offset: int = 0
    typo: str = ""
    corrections: tuple[str, ...] = ()


def typos() -> Checker:
    return Checker("typos", _wants, _run)


def _wants(file: Changed) -> bool:
    return bool(file.lines) and file.suffix not in DATA and ".min." not in file.name and not PEOPLE.match(file.name)


async def _run(files: tuple[Changed, ...], surroundings: Surroundings) -> Said:
    program = find("typos", dict(surroundings.environment).get("PATH"))
    number = await version(program, surroundings)
    laid = lay_out(files, surroundings.folder / "new")
    config = await _config(surroundings)
    said = await _ask(program, config, surroundings)
    touched = [(laid[name], each) for each in said if (name := str(Path(each.path))) in laid and _counts(laid[name], each)]
    often = Counter(each.typo for _, each in touched)
    known = _vocabulary(files) if touched else frozenset[str]()
    new = [(file, each) for file, each in touched if often[each.typo] < OFTEN and each.typo.lower() not in known]
    return Said(tuple(_finding(file, each) for file, each in new), number)


async def _ask(program: str, config: tuple[str, ...], surroundings: Surroundings) -> list[_Typo]:
    argv = (
        program,
        "--isolated",
        *config,
        "--no-ignore",
        "--hidden",
        "--force-exclude",
        "--no-check-filenames",
        "--format",
        "json",
        ".",
    )
    printed, _ = await output(argv, surroundings.folder / "new", surroundings, TIMEOUT, (0, FOUND))
    try:
        lines = [msgspec.json.decode(line, type=_Typo) for line in printed.splitlines() if line]
    except msgspec.DecodeError as problem:
        raise CheckerFailed(f"typos printed something else than expected: {problem}") from problem
    return [each for each in lines if each.type == "typo"]


async def _config(surroundings: Surroundings) -> tuple[str, ...]:
    """The project's own word list as it was before the change."""
    for name in CONFIGS:
        if (content := await surroundings.base_file(name)) is not None and _readable(content):
            (surroundings.folder / "typos.toml").write_bytes(content)
            return ("--config", "../typos.toml")
    for name in ("Cargo.toml", "pyproject.toml"):
        if (content := await surroundings.base_file(name)) is not None and b"typos" in content and _readable(content):
            (surroundings.folder / name).write_bytes(content)
            return ("--config", f"../{name}")
    return ()


def _readable(content: bytes) -> bool:
    try:
        tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _counts(file: Changed, found: _Typo) -> bool:
    """Whether it is a word of a changed line that somebody meant as English.

    Not so what is short, a part of an address, an abbreviation in capitals, or the whole of a string: that is data.
    """
    if file.touches(found.line_num, found.line_num) is None or not found.corrections or len(found.typo) < SHORTEST:
        return False
    raw = (file.new or b"").split(b"\n")[found.line_num - 1]
    if len(raw) > LONGEST_LINE or (found.typo.isupper() and len(found.typo) <= 6):
        return False
    before, after = raw[: found.byte_offset][-1:], raw[found.byte_offset + len(found.typo.encode()) :][:1]
    if before in QUOTES and before == after:
        return False
    start = raw.rfind(b" ", 0, found.byte_offset) + 1
    end = raw.find(b" ", found.byte_offset)
    around = raw[start : end if end >= 0 else len(raw)]
    return b"://" not in around and b"@" not in around and b"%" not in around


def _vocabulary(files: tuple[Changed, ...]) -> frozenset[str]:
    """Words of the files as they were: what the project already writes so is its name for something, or not this change's."""
    words: set[str] = set()
    for file in files:
        for word in re.findall(r"[A-Za-z]{4,}", (file.old or b"").decode("utf-8", "replace")):
            words.add(word.lower())
            words.update(part.lower() for part in re.findall(r"[A-Z]?[a-z]{3,}", word))
    return frozenset(words)


def _finding(file: Changed, found: _Typo) -> CheckFinding:
    said = f"`{found.typo}` should be {' or '.join(f'`{each}`' for each in found.corrections[:3])}."
    line = found.line_num
    return CheckFinding(file.path, line, line, "typos", "typo", "nit", said, _suggestion(file, found))


def _suggestion(file: Changed, found: _Typo) -> str | None:
    if len(found.corrections) != 1:
        return None
    raw = (file.new or b"").split(b"\n")[found.line_num - 1].removesuffix(b"\r")
    wrong = found.typo.encode()
    if raw[found.byte_offset : found.byte_offset + len(wrong)] != wrong:
        return None
    try:
        return (raw[: found.byte_offset] + found.corrections[0].encode() + raw[found.byte_offset + len(wrong) :]).decode()
    except UnicodeDecodeError:
        return None
