"""TOML that cannot be read; that includes a key twice."""

import re
import tomllib

from ferrule.workspace.checkers.base import Changed, Checker, each_file

from .problem import PARSE, Problem, introduced

NAMES = ("Pipfile", "poetry.lock", "uv.lock", "Cargo.lock", "pdm.lock")
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def toml_files() -> Checker:
    return Checker("toml", _wants, each_file(introduced("toml", read)))


def _wants(file: Changed) -> bool:
    return file.suffix == ".toml" or file.name in NAMES


def read(content: bytes) -> list[Problem]:
    end = content.rstrip().count(b"\n") + 1
    try:
        tomllib.loads(content.decode())
    except tomllib.TOMLDecodeError as problem:
        said = str(problem)
        place = _PLACE.search(said)
        line = int(place[1]) if place and place[1] else end
        return [Problem(line, PARSE, f"This is not TOML: {_PLACE.sub('', said)}")]
    except UnicodeDecodeError as problem:
        return [Problem(content.count(b"\n", 0, problem.start) + 1, PARSE, "This is not TOML: a byte that is not UTF-8")]
    except RecursionError:
        return []
    return []
