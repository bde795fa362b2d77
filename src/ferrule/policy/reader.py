"""From syntax nodes to words: quoting, expansions and arithmetic."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from .line import State
from .words import Builder, Word, ansi_c, number, unknown

if TYPE_CHECKING:
    from tree_sitter import Node

PLAIN = re.compile(r"\$\{([A-Za-z_]\w*)\}", re.ASCII)
COUNT = re.compile(r"\$\{#[A-Za-z_]\w*(\[[@*0-9]+\])?\}", re.ASCII)
EDITED = re.compile(r"\$\{([A-Za-z_]\w*|[0-9@*]+)(\[[@*0-9]+\])?(:?[-+=?]|##?|%%?|//?|\^\^?|,,?|:\d+(:\d+)?\}|\})", re.ASCII)
NUMBERS = frozenset("?#$!")
STRAY = re.compile(r"(?<!\\)(?:\\\\)*[`$()<>|&;\"'\s]")
LEADING = b" \t\n"
ENTERS = frozenset({"command_substitution", "process_substitution"})


class Reader:
    """Reads words of one source text. `enter` is told of every substitution, `doubt` of everything that is not certain."""

    def __init__(self, source: bytes, home: str, enter: Callable[["Node", State], None], doubt: Callable[[str], None]) -> None:
        self.source = source
        self.home = home
        self.enter = enter
        self.doubt = doubt

    def text(self, node: "Node") -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")

    def words(self, node: "Node", state: State) -> list[Word]:
        """The words that one node becomes: more than one by brace expansion."""
        builder = Builder(self.text(node).strip(), self.home)
        self._piece(node, state, builder)
        return builder.words()

    def word(self, node: "Node", state: State) -> Word:
        """For places where the shell takes one word only."""
        found = self.words(node, state)
        return found[0] if len(found) == 1 else unknown(self.text(node))

    def _piece(self, node: "Node", state: State, builder: Builder) -> None:
        match node.type:
            case "word" | "number" | "variable_name" | "special_variable_name" | "brace_expression" | "test_operator":
                self._bare(node, state, builder)
            case "raw_string":
                builder.literal(self.text(node)[1:-1])
            case "ansi_c_string":
                decoded = ansi_c(self.text(node)[2:-1])
                if decoded is None:
                    self.doubt("an escape in $'…' has no certain meaning")
                builder.literal(decoded or "")
            case "string":
                self._string(node, state, builder)
            case "translated_string":
                for child in node.named_children:
                    self._piece(child, state, builder)
            case "concatenation":
                self._joined(node, state, builder)
            case "command_substitution":
                self.enter(node, state)
                builder.expand(None, in_quotes=False)
            case "process_substitution":
                self.enter(node, state)
                builder.expand(Word(self.text(node), ("/dev/fd/63",), exact=False), in_quotes=True)
            case _:
                self._expansion(node, state, builder, in_quotes=False)

    def _bare(self, node: "Node", state: State, builder: Builder) -> None:
        raw = self.text(node)
        self.descend(node, state)
        if STRAY.search(raw.replace("\\\n", "")):
            self.doubt(f"`{raw}` is not a plain word")
        builder.bare(raw)

    def _joined(self, node: "Node", state: State, builder: Builder) -> None:
        end = node.start_byte
        for child in node.children:
            if child.start_byte != end:
                self.doubt("the pieces of a word stand apart")
            if child.is_named:
                self._piece(child, state, builder)
            else:
                if child.type != "$" or child.end_byte != node.end_byte:
                    self.doubt(f"`{self.text(child)}` stands in a word")
                builder.literal(self.text(child))
            end = child.end_byte

    def _string(self, node: "Node", state: State, builder: Builder) -> None:
        """What stands between the children of a string belongs to its text."""
        inside = self.source[: node.end_byte - 1]
        end = node.start_byte + 1
        if self.source[node.start_byte : end] != b'"' or self.source[node.end_byte - 1 : node.end_byte] != b'"':
            self.doubt("a string has no clear limits")
        for child in node.named_children:
            start = child.start_byte
            if child.type != "string_content":
                while start < child.end_byte and inside[start : start + 1] in LEADING and inside[start : start + 1]:
                    start += 1
            builder.literal(_unescape(inside[end:start]))
            end = child.end_byte
            match child.type:
                case "string_content":
                    builder.literal(_unescape(inside[child.start_byte : child.end_byte]))
                case "command_substitution":
                    self.enter(child, state)
                    builder.expand(None, in_quotes=True)
                case _:
                    self._expansion(child, state, builder, in_quotes=True)
        builder.literal(_unescape(inside[end:]))

    def _expansion(self, node: "Node", state: State, builder: Builder, in_quotes: bool) -> None:
        text = self.text(node).strip()
        match node.type:
            case "simple_expansion":
                builder.expand(self.variable(text[1:], state), in_quotes and text != "$@")
            case "arithmetic_expansion":
                self.arithmetic(node, state)
                builder.expand(number(text), in_quotes)
            case "expansion":
                builder.expand(self._parameter(node, text, state), in_quotes and "@" not in text)
            case _:
                self.doubt(f"`{text}` is not understood")
                builder.expand(None, in_quotes)

    def variable(self, name: str, state: State) -> Word | None:
        if name in state.variables:
            return state.variables[name]
        if name == "HOME":
            return Word(self.home, (self.home,))
        if name == "PWD" and state.folders is not None:
            return Word("$PWD", tuple(sorted(state.folders)), exact=len(state.folders) == 1)
        return number("$" + name) if name in NUMBERS else None

    def _parameter(self, node: "Node", text: str, state: State) -> Word | None:
        plain = PLAIN.fullmatch(text)
        if plain:
            return self.variable(plain[1], state)
        if COUNT.fullmatch(text):
            return number(text)
        if not EDITED.match(text):
            self.doubt(f"`{text}` may run code or name another variable")
        edited = EDITED.match(text)
        if edited and "=" in (edited[3] or ""):
            self.doubt(f"`{text}` sets a variable")
        self.descend(node, state)
        return None

    def descend(self, node: "Node", state: State) -> None:
        """Enter every substitution below a node whose own value does not matter."""
        pending = list(reversed(node.children))
        while pending:
            child = pending.pop()
            if child.type in ENTERS:
                self.enter(child, state)
            elif child.type in ("expansion", "arithmetic_expansion", "string", "concatenation", "simple_expansion", "raw_string"):
                self.words(child, state)
            else:
                pending.extend(reversed(child.children))

    def arithmetic(self, node: "Node", state: State) -> None:
        """Bash evaluates the values of variables in arithmetic as arithmetic, and runs `$(…)` in their subscripts."""
        pending = list(node.named_children)
        while pending:
            child = pending.pop()
            if child.type in ENTERS:
                self.enter(child, state)
                self.doubt("arithmetic evaluates the output of a command")
                continue
            if child.type in ("variable_name", "word"):
                self._counted(self.text(child), state)
            elif child.type == "simple_expansion":
                self._counted(self.text(child).strip()[1:], state)
            elif child.type in ("expansion", "string", "raw_string", "ansi_c_string", "concatenation", "subscript"):
                self.descend(child, state)
                if not COUNT.fullmatch(self.text(child)) and not PLAIN.fullmatch(self.text(child)):
                    self.doubt(f"`{self.text(child)}` stands in arithmetic")
                else:
                    self._counted(self.text(child).strip("${}"), state)
            else:
                pending.extend(child.named_children)

    def _counted(self, name: str, state: State) -> None:
        if name.startswith("#") or name in NUMBERS or name.isdecimal() or name not in state.variables:
            if name.isdecimal() or name in NUMBERS or name.startswith("#") or re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
                return
            self.doubt(f"arithmetic uses `{name}`")
            return
        value = state.variables[name]
        if value is None or not all(re.fullmatch(r"-?\d+", each) for each in value.values or ("",)):
            self.doubt(f"arithmetic uses `{name}`, which may hold more than a number")


def _unescape(raw: bytes) -> str:
    text = raw.decode("utf-8", "surrogateescape")
    return re.sub(r"\\(\n|[$`\"\\])", lambda match: "" if match[1] == "\n" else match[1], text)
