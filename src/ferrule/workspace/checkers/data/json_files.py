"""JSON that cannot be read, and objects with the same key twice."""

import json

from ferrule.workspace.checkers.base import Changed, Checker, each_file

from .problem import PARSE, Problem, introduced

SUFFIXES = (".json", ".geojson", ".webmanifest", ".ipynb")
COMMENTED = (
    "tsconfig",
    "jsconfig",
    "devcontainer",
    ".eslintrc",
    ".jshintrc",
    ".swcrc",
    "babel.config",
    ".babelrc",
    "api-extractor",
)
"""Beginnings of the names of files that their programs read with comments in them."""
COMMENTED_FOLDERS = (".vscode/", ".devcontainer/", ".zed/", ".sublime")


def json_files() -> Checker:
    return Checker("json", _wants, each_file(introduced("json", read)))


def _wants(file: Changed) -> bool:
    commented = file.name.startswith(COMMENTED) or any(folder in file.path for folder in COMMENTED_FOLDERS)
    return file.suffix in SUFFIXES and not commented


def read(content: bytes) -> list[Problem]:
    try:
        json.loads(content.decode("utf-8-sig"))
    except json.JSONDecodeError as problem:
        return [Problem(problem.lineno, PARSE, f"This is not JSON: {problem.msg[0].lower()}{problem.msg[1:]}")]
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        return [Problem(line, PARSE, "This is not JSON: a byte that is not UTF-8")]
    except RecursionError:
        return []
    return _twice(content)


def _twice(content: bytes) -> list[Problem]:
    """Keys that an object already has, by their places in the syntax tree."""
    if b":" not in content or not _any_twice(content):
        return []
    import tree_sitter_json
    from tree_sitter import Language, Query, QueryCursor

    from ferrule.workspace.checkers.code.grammars import parse

    grammar = Language(tree_sitter_json.language())
    matches = QueryCursor(Query(grammar, "(object (pair key: (string) @key)) @object")).matches(parse(content, grammar).root_node)
    seen: set[tuple[int, str]] = set()
    problems: list[Problem] = []
    for _, captures in matches:
        key, holder = captures["key"][0], captures["object"][0]
        name = json.loads(key.text or b'""')
        if (holder.id, name) in seen:
            problems.append(
                Problem(
                    key.start_point.row + 1,
                    "duplicate-key",
                    f"The key {json.dumps(name)} is already in this object",
                    "should-fix",
                )
            )
        seen.add((holder.id, name))
    return problems


def _any_twice(content: bytes) -> bool:
    found = False

    def look(pairs: list[tuple[str, object]]) -> None:
        nonlocal found
        found = found or len({key for key, _ in pairs}) != len(pairs)

    json.loads(content.decode("utf-8-sig"), object_pairs_hook=look)
    return found
