"""Checks `docs/coverage.md`: whatever a row names must exist. Prints the counts of each section; exit 1 on a dangling reference.

A row is `| number | demand | shown by |`. What shows it stands in backticks: a test (`tests/…py::name`, parametrized ones by
their function), a row of the bench (`bench NAME`), a command (`make TARGET`) or a file. A row without any says *missing* or
*later* and why.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCUMENT = "docs/coverage.md"
SHOWN = re.compile(r"`([^`]+)`")
OPEN = re.compile(r"\A\*(missing|later)\*: \S")


def main() -> int:
    faults: list[str] = []
    for section, rows in sections((ROOT / DOCUMENT).read_text("utf-8")):
        counts = Counter(state for number, shown in rows for state in [row_state(number, shown, faults)])
        numbers = [number for number, _ in rows]
        faults += [f"{section}: row {number} stands twice" for number, times in Counter(numbers).items() if times > 1]
        if rows:
            print(
                f"{section}: {len(rows)} rows: "
                + ", ".join(f"{counts[state]} {state}" for state in ("shown", "later", "missing"))
            )
    for fault in faults:
        print(f"{DOCUMENT}: {fault}")
    return 1 if faults else 0


def sections(text: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The title of each section and its rows: number and last cell."""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        yield title.strip(), [row for line in body.splitlines() if (row := cells(line))]


def cells(line: str) -> tuple[str, str] | None:
    """Of a row; None for headings and prose."""
    found = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
    return (found[1], found[-2]) if len(found) == 5 and found[1][:1].isdigit() else None


def row_state(number: str, shown: str, faults: list[str]) -> str:
    """What a row comes to; what it names and does not exist is added to `faults`."""
    if said := OPEN.match(shown):
        return said[1]
    named = SHOWN.findall(shown)
    if not named:
        faults.append(f"row {number} names nothing; write what shows it, or *missing*: or *later*: and why")
    faults += [f"row {number}: {fault}" for one in named if (fault := dangling(one))]
    return "shown"


def dangling(named: str) -> str | None:
    """Why a reference leads nowhere; None where it does lead somewhere."""
    path, colons, name = named.partition("::")
    if colons:
        return None if name in functions(path) else f"there is no test {named}"
    word, _, rest = named.partition(" ")
    match word:
        case "bench":
            return None if rest in bench() else f"the bench has no row {rest}"
        case "make":
            return None if re.search(rf"^{re.escape(rest)}:", makefile(), re.MULTILINE) else f"there is no target {rest}"
        case _:
            return None if (ROOT / named).exists() else f"there is no file {named}"


@cache
def functions(path: str) -> frozenset[str]:
    """Names of the functions that a file defines at its top level, empty where there is no such file."""
    file = ROOT / path
    if not file.is_file():
        return frozenset()
    tree = ast.parse(file.read_bytes())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@cache
def bench() -> frozenset[str]:
    """Names of the rows that `bench/__main__.py` takes out of its modules: `module.row`."""
    named: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / "bench/__main__.py").read_bytes())):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=row) if row in functions(f"bench/{module}.py"):
                named.add(row)
            case _:
                pass
    return frozenset(named)


@cache
def makefile() -> str:
    return (ROOT / "Makefile").read_text("utf-8")


if __name__ == "__main__":
    sys.exit(main())
