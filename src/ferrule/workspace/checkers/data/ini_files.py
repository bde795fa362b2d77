"""INI files that configparser, which Python's tools read theirs with, cannot read."""

import configparser

from ferrule.workspace.checkers.base import Changed, Checker, each_file

from .problem import PARSE, Problem, introduced

NAMES = ("setup.cfg", "tox.ini", "pytest.ini", "mypy.ini", ".coveragerc", ".flake8", ".pylintrc", ".pypirc", "alembic.ini")
"""Files known to be read by configparser. `.ini` and `.cfg` alone may be of other programs, which read them otherwise."""


def ini_files() -> Checker:
    return Checker("ini", _wants, each_file(introduced("ini", read)))


def _wants(file: Changed) -> bool:
    return file.name in NAMES


def read(content: bytes) -> list[Problem]:
    parser = configparser.RawConfigParser(strict=True, allow_no_value=True)
    try:
        parser.read_string(content.decode("utf-8-sig", "replace"))
    except configparser.DuplicateOptionError as problem:
        text = f"The option `{problem.option}` is already in section `{problem.section}`"
        return [Problem(problem.lineno or 1, "duplicate-key", text)]
    except configparser.DuplicateSectionError as problem:
        return [Problem(problem.lineno or 1, "duplicate-section", f"The section `{problem.section}` is already in this file")]
    except configparser.MissingSectionHeaderError as problem:
        return [Problem(problem.lineno, PARSE, "An option stands before the first section")]
    except configparser.ParsingError as problem:
        line = problem.errors[0][0] if problem.errors else 1
        return [Problem(line, PARSE, "This line is neither a section nor an option")]
    return []
