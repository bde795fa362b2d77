"""What builtins leave behind in the shell, and which of them change what later words mean."""

# Paths are text here: os.path is several times faster than pathlib on the way of every command.
# ruff: noqa: PTH118

import os.path
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from .line import State
from .words import Word

if TYPE_CHECKING:
    from tree_sitter import Node

NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
MOVES = frozenset({"cd", "pushd", "popd", "eval", "command", "builtin"})
DECLARES = frozenset({"declare", "typeset", "local", "export", "readonly"})
NAMES_VARIABLES = DECLARES | {"read", "mapfile", "readarray", "getopts", "unset", "let", "wait"}
CHANGES_MEANING = {
    "alias": "it defines an alias",
    "enable": "it changes which builtins there are",
    "bind": "it binds keys to code",
    "complete": "it sets code for completion",
    "fc": "it runs commands of the history",
    "coproc": "it starts a coprocess",
}
NUMERIC_TESTS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
NUMBER = re.compile(r"[-+]?\d+")


class Touched(NamedTuple):
    """Variables that code may set, those that only ever get numbers, those set within the body, and whether it may move."""

    names: set[str]
    numbers: set[str]
    inner: set[str]
    folders: bool


def assigned_names(node: "Node", text: Callable[["Node"], str]) -> Touched:
    """What may have been set after `node` ran any number of times; subshells keep their settings to themselves."""
    names: set[str] = set()
    others: set[str] = set()
    loops: set[str] = set()
    folders = False
    pending = [node]
    while pending:
        current = pending.pop()
        match current.type:
            case "subshell" | "command_substitution" | "process_substitution":
                continue
            case "variable_assignment":
                name = text(current.named_children[0]).partition("[")[0]
                names.add(name)
                value = current.named_children[-1]
                if value.type not in ("number", "arithmetic_expansion") or len(current.named_children) < 2:
                    others.add(name)
            case "for_statement":
                name = text(current.children_by_field_name("variable")[0])
                (loops if current is node else others).add(name)
                names.add(name)
            case "postfix_expression" | "unary_expression" | "binary_expression" | "compound_statement":
                names.update(text(child) for child in current.named_children if NAME.fullmatch(text(child)))
            case "command" | "declaration_command" | "unset_command":
                words = [text(child) for child in current.named_children if child.type != "variable_assignment"]
                first = words[0] if current.type == "command" and words else current.children[0].type
                folders = folders or first in MOVES
                if first in NAMES_VARIABLES or first == "printf":
                    found = {match[0] for word in words for match in [NAME.match(word)] if match}
                    names |= found
                    others |= found
        pending.extend(current.children)
    return Touched(names, names - others - loops, others, folders)


def doubt_about_builtin(words: tuple[Word, ...], state: State) -> str | None:
    """Why a builtin makes the rest of the line uncertain, or hides code in its arguments."""
    name = words[0].value or ""
    texts = [word.value for word in words[1:]]
    if name in CHANGES_MEANING:
        return CHANGES_MEANING[name]
    match name:
        case "set" if not all(text and re.fullmatch(r"[-+][euxf]*o?|pipefail|errexit|nounset|xtrace", text) for text in texts):
            return None if texts[:1] == ["--"] else "it sets an option of the shell that is not understood"
        case "shopt" if not all(text in ("-s", "-u", "-q", "nullglob", "globstar", "dotglob", "failglob") for text in texts):
            return "it sets an option of the shell that is not understood"
        case "hash" if texts:
            return "it changes where commands are found"
        case "mapfile" | "readarray" if any(text is None or text.startswith("-C") for text in texts):
            return f"`{name}` may run code"
        case "[[" | "[" | "test":
            return _doubt_about_test(name, words[1:], state)
        case "let":
            return "`let` evaluates its words"
        case "printf" if texts and (texts[0] is None or texts[0].startswith("-v")):
            names = texts[1:2] if texts[0] == "-v" else [(texts[0] or "")[2:]]
            return None if names and names[0] and NAME.fullmatch(names[0]) else "`printf` may set a variable that is not certain"
    if name in DECLARES and any(text and re.fullmatch(r"-\w*[naAif]\w*", text) for text in texts):
        return None if texts[:1] in (["-a"], ["-A"], ["-f"]) else f"`{name}` gives a variable a meaning that is not understood"
    if name in NAMES_VARIABLES and any(text is None for text in texts):
        return f"it is not certain which variable `{name}` sets"
    return None


def _doubt_about_test(name: str, words: tuple[Word, ...], state: State) -> str | None:
    for at, word in enumerate(words):
        if word.value in ("-v", "-R") or (name != "[[" and word.value is None and at == 0 and len(words) > 2 and word.many):
            operand = words[at + 1].value if at + 1 < len(words) else ""
            if operand is None or (operand and not NAME.fullmatch(operand) and operand not in ("]", "]]")):
                return "a test evaluates a name that is not certain"
        if name == "[[" and word.value in NUMERIC_TESTS:
            sides = (*words[max(at - 1, 0) : at], *words[at + 1 : at + 2])
            if not all(side.values and all(NUMBER.fullmatch(value) for value in side.values) for side in sides):
                return "a test evaluates text as arithmetic"
    return None


def after_builtin(words: tuple[Word, ...], ways: tuple[State, State], before: State) -> tuple[State, State]:
    """What is known after the command succeeded or failed."""
    ok, failed = ways
    name = words[0].value
    match name:
        case "cd":
            return _moved(words[1:], ok), failed
        case "pushd" | "popd":
            return ok.within(None), failed.within(None)
    if name in NAMES_VARIABLES or (name == "printf" and len(words) > 1 and (words[1].value or "-v").startswith("-v")):
        names = {match[0] for word in words[1:] for match in NAME.finditer(word.text)} | ({"REPLY", "MAPFILE"} - DECLARES)
        return ok.forgetting(names, folders=False), failed.forgetting(names, folders=False)
    return ok, failed


def _moved(words: tuple[Word, ...], state: State) -> State:
    operands = [word for word in words if word.value not in ("-L", "--")]
    if not operands or len(operands) > 1 or state.folders is None:
        return state.within(None)
    target = operands[0]
    if target.values is None or target.glob or any(value.startswith(("-", "~")) or not value for value in target.values):
        return state.within(None)
    return state.within(frozenset(os.path.normpath(os.path.join(folder, v)) for folder in state.folders for v in target.values))
