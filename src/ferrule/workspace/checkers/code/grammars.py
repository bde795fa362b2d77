"""tree-sitter grammars by file name, each loaded when a file needs it."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ferrule.workspace.checkers.base import Changed, Missing

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

LANGUAGES: dict[str, tuple[str, ...]] = {
    "JavaScript": (".js", ".mjs", ".cjs", ".jsx"),
    "TypeScript": (".ts", ".mts", ".cts"),
    "TSX": (".tsx",),
    "Go": (".go",),
    "Rust": (".rs",),
    "Java": (".java",),
    "C": (".c",),
    "C++": (".cc", ".cpp", ".cxx", ".hpp", ".hh"),
    "shell": (".sh", ".bash"),
    "Ruby": (".rb", ".rake", ".gemspec"),
    "PHP": (".php",),
    "CSS": (".css",),
}
"""Python is ruff's. Not here: HTML, whose grammar takes nearly everything, and `.h`, which may be of three languages."""

SLICE = 2_000_000
"""Microseconds that one file may be parsed."""


def language(file: Changed) -> str | None:
    """The name of the language that a file is written in, by its suffix or, for shell, its first line."""
    for name, suffixes in LANGUAGES.items():
        if file.suffix in suffixes:
            return name
    first = (file.new or b"")[:100].split(b"\n", 1)[0]
    if file.suffix == "" and first.startswith(b"#!") and first.split()[-1].rpartition(b"/")[2] in (b"sh", b"bash"):
        return "shell"
    return None


def load(name: str) -> "Language":
    """The grammar of a language of `LANGUAGES`. Raises Missing."""
    try:
        from tree_sitter import Language

        return Language(_loader(name)())
    except ImportError as problem:
        raise Missing(f"the tree-sitter grammar of {name} is not installed ({problem.name})") from problem


def _loader(name: str) -> Callable[[], object]:
    match name:
        case "JavaScript":
            from tree_sitter_javascript import language
        case "TypeScript":
            from tree_sitter_typescript import language_typescript as language
        case "TSX":
            from tree_sitter_typescript import language_tsx as language
        case "Go":
            from tree_sitter_go import language
        case "Rust":
            from tree_sitter_rust import language
        case "Java":
            from tree_sitter_java import language
        case "C":
            from tree_sitter_c import language
        case "C++":
            from tree_sitter_cpp import language
        case "shell":
            from tree_sitter_bash import language
        case "Ruby":
            from tree_sitter_ruby import language
        case "PHP":
            from tree_sitter_php import language_php as language
        case "CSS":
            from tree_sitter_css import language
        case _:
            raise ValueError(f"no grammar for {name}")
    return language


def parse(content: bytes, grammar: "Language") -> "Tree":
    """Raises TimeoutError for a file that takes too long. May end the process: scanners of grammars are C."""
    import time

    from tree_sitter import Parser

    end = time.monotonic() + SLICE / 1e6

    def read(offset: int, point: object) -> bytes:
        return content[offset : offset + 65536]

    tree = Parser(grammar).parse(read, progress_callback=lambda offset, failed: time.monotonic() > end)
    if tree is None:
        raise TimeoutError("a file took too long to parse")
    return tree


def faults(tree: "Tree") -> Iterator["Node"]:
    """Nodes that the parser could not read or had to invent, outermost first."""
    cursor = tree.walk()
    while True:
        node = cursor.node
        descend = False
        if node is not None and (node.is_error or node.is_missing):
            yield node
        elif node is not None and node.has_error:
            descend = cursor.goto_first_child()
        if descend:
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
