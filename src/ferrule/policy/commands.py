"""Simple commands: their words, assignments and redirections, and the commands that they run in turn."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .effects import after_builtin, doubt_about_builtin
from .line import Part, Redirect, State
from .reader import Reader
from .words import Word, known, unknown
from .wrappers import Code, Command, Doubt, Inner, inner

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST = 60
MOST_PARTS = 2_000
RESERVED = frozenset(
    """
    if then elif else fi for while until do done case esac in function select coproc } ! ]]
    """.split()  # noqa: SIM905 one word a name reads better than a quoted list
)
BACKTICKS = re.compile(r"`.*[\\`].*`", re.DOTALL)
IN_SUBSCRIPT = re.compile(r"\[[^\]]*(\$[({]|`)")

Ways = tuple[State, State]
"""What is known after success and after failure."""


class Found:
    """The parts and doubts of a line and of all code inside it. `code` reads such code."""

    def __init__(self, home: str, code: Callable[["Found", str, State, int], State]) -> None:
        self.home = home
        self.parts: list[Part] = []
        self.doubts: list[str] = []
        self._code = code

    def doubt(self, why: str) -> None:
        self.doubts.append(why)

    def code(self, text: str, state: State, depth: int) -> State:
        return self._code(self, text, state, depth)

    def emit(self, part: Part) -> None:
        if len(self.parts) < MOST_PARTS:
            self.parts.append(part)
        elif len(self.doubts) < MOST_PARTS:
            self.doubt(f"it has more than {MOST_PARTS} commands")


class Commands:
    """Reads simple commands of one source text, `depth` levels below the line. `block` reads the statements of a substitution."""

    def __init__(self, found: Found, source: bytes, depth: int) -> None:
        self.found = found
        self.depth = depth
        self.reader = Reader(source, found.home, self.enter, found.doubt)

    def block(self, children: Sequence["Node"], state: State) -> State:
        raise NotImplementedError

    def enter(self, node: "Node", state: State) -> None:
        if self.depth >= DEEPEST:
            self.found.doubt("it is nested too deeply")
            return
        if BACKTICKS.fullmatch(self.reader.text(node).strip()):
            self.found.doubt("backticks hold a backslash or other backticks")
        self.depth += 1
        self.block(node.children, state)
        self.depth -= 1

    def redirect(self, node: "Node", state: State) -> tuple[Redirect | None, Word | None]:
        """The file that is opened, and the text that is fed, if either is there."""
        match node.type:
            case "herestring_redirect":
                return None, self.reader.word(node.named_children[-1], state)
            case "heredoc_redirect":
                for child in node.named_children:
                    if child.type in ("file_redirect", "herestring_redirect"):
                        redirect, _ = self.redirect(child, state)
                        if redirect:
                            self.found.emit(Part((), self.reader.text(child), redirects=(redirect,), folders=listed(state)))
                return None, self._heredoc(node, state)
        operator = next(child.type for child in node.children if not child.is_named)
        targets = node.children_by_field_name("destination")
        if operator in (">&-", "<&-"):
            return None, None
        if len(targets) != 1:
            self.found.doubt("a redirection is not understood")
            return Redirect("write", unknown(self.reader.text(node))), None
        target = self.reader.word(targets[0], state)
        if operator in (">&", "<&") and target.value is not None and re.fullmatch(r"\d+-?|-", target.value):
            return None, None
        return Redirect("read" if operator == "<" else "write", target), None

    def _heredoc(self, node: "Node", state: State) -> Word | None:
        body = next((child for child in node.named_children if child.type == "heredoc_body"), None)
        start = next((child for child in node.named_children if child.type == "heredoc_start"), None)
        if body is None or start is None:
            return known("")
        text = self.reader.text(body)
        if re.search(r"[\\'\"]", self.reader.text(start)):
            return known(text)
        self.reader.descend(body, state)
        if "\\\n" in text:
            self.found.doubt("a here-document joins lines, which may hide its end")
        bare = text
        for child in body.named_children:
            if child.type not in ("heredoc_content",):
                bare = bare.replace(self.reader.text(child).strip(), "", 1)
        if re.search(r"(?<!\\)(?:\\\\)*(`|\$[\w({@*#?!$-])", bare):
            self.found.doubt("a here-document holds a substitution that is not understood")
        return known(text) if bare == text and "\\" not in text and "$" not in text else None

    def command(self, node: "Node", state: State, redirects: tuple["Node", ...]) -> Ways:
        words: list[Word] = []
        assigned: list[tuple[str, Word]] = []
        own: list[Node] = []
        for child in node.named_children:
            match child.type:
                case "command_name":
                    words.extend(word for each in child.named_children for word in self.reader.words(each, state))
                case "variable_assignment":
                    assigned.append(self.assignment(child, state))
                case "file_redirect" | "herestring_redirect" | "heredoc_redirect":
                    own.append(child)
                case "comment":
                    pass
                case "subshell":
                    self.block([child], state)
                    self.found.doubt("a group in brackets stands where a word was expected")
                case _:
                    words.extend(self.reader.words(child, state))
        files, fed = self.opened((*own, *redirects), state)
        if not words:
            self.found.doubt("a command has no name")
        return self.run(tuple(words), tuple(assigned), files, fed, state, self.reader.text(node))

    def opened(self, nodes: Sequence["Node"], state: State) -> tuple[tuple[Redirect, ...], Word | None]:
        files: list[Redirect] = []
        fed: Word | None = None
        for each in nodes:
            redirect, text = self.redirect(each, state)
            if redirect:
                files.append(redirect)
            fed = text or fed
        return tuple(files), fed

    def assignment(self, node: "Node", state: State) -> tuple[str, Word]:
        if not node.named_children:
            self.found.doubt("an assignment is not understood")
            return "", unknown(self.reader.text(node))
        name_node = node.named_children[0]
        value = node.named_children[-1] if len(node.named_children) > 1 else None
        name = self.reader.text(name_node)
        if name_node.type == "subscript":
            self.reader.arithmetic(name_node, state)
            name = name.partition("[")[0]
        if value is None:
            return name, known("")
        adds = any(child.type == "+=" for child in node.children)
        if value.type == "array":
            for each in value.named_children:
                self.reader.words(each, state)
            return name, unknown(self.reader.text(value))
        word = self.reader.word(value, state)
        if word.glob:
            word = Word(word.text, word.values, exact=True)
        return name, unknown(word.text) if adds or name_node.type == "subscript" else word

    def assignments(self, node: "Node", state: State, redirects: tuple["Node", ...]) -> Ways:
        nodes = node.named_children if node.type == "variable_assignments" else [node]
        assigned: list[tuple[str, Word]] = []
        before = state
        for each in nodes:
            name, word = self.assignment(each, state)
            assigned.append((name, word))
            state = state.setting(name, word if word.values is not None else None)
        files, _ = self.opened(redirects, before)
        self.found.emit(Part((), self.reader.text(node), tuple(assigned), files, listed(before)))
        return state, state

    def builtin(self, node: "Node", state: State, redirects: tuple["Node", ...]) -> Ways:
        """`declare` and its kind, `unset`, and tests: commands with a syntax of their own."""
        words = [known(node.children[0].type)]
        assigned: list[tuple[str, Word]] = []
        pending = list(node.children[1:])
        while pending:
            child = pending.pop(0)
            if child.type == "variable_assignment":
                assigned.append(self.assignment(child, state))
                words.append(known(assigned[-1][0]))
            elif child.type in ("unary_expression", "binary_expression", "parenthesized_expression"):
                pending[:0] = child.children
            elif child.is_named and child.type in ("regex", "extglob_pattern", "test_operator"):
                words.append(known(self.reader.text(child)))
            elif child.is_named and child.type != "comment":
                words.extend(self.reader.words(child, state))
            elif not child.is_named:
                words.append(known(child.type))
        files, fed = self.opened(redirects, state)
        ok, failed = self.run(tuple(words), (), files, fed, state, self.reader.text(node), tuple(assigned))
        for name, word in assigned:
            ok = ok.setting(name, word if word.values is not None else None)
        return ok, failed

    def run(
        self,
        words: tuple[Word, ...],
        assigned: tuple[tuple[str, Word], ...],
        files: tuple[Redirect, ...],
        fed: Word | None,
        state: State,
        text: str,
        declared: tuple[tuple[str, Word], ...] = (),
    ) -> Ways:
        """One simple command: a part, the commands that it runs, and what it leaves behind in the shell."""
        inside: list[Inner] = []
        transparent = False
        if words and words[0].value is None:
            self.found.doubt(f"it is not certain which command `{words[0].text}` is")
        elif words:
            name = words[0].value or ""
            inside, transparent = inner(words, fed)
            if name in RESERVED and name not in ("[[", "{"):
                self.found.doubt(f"`{name}` is not understood here")
            trouble = doubt_about_builtin(words, state)
            if trouble:
                self.found.doubt(trouble)
        self.found.emit(Part(words, text, (*assigned, *declared), files, listed(state), transparent and bool(inside)))
        for word in (*words, *(value for _, value in (*assigned, *declared))):
            self.hidden(word, state)
        ways = (state, state)
        for each in inside:
            ways = self.started(each, ways, state, text)
        return after_builtin(words, ways, state) if words else ways

    def started(self, each: Inner, ways: Ways, state: State, text: str) -> Ways:
        if self.depth >= DEEPEST:
            self.found.doubt("it is nested too deeply")
            return ways
        match each:
            case Doubt(why):
                self.found.doubt(why)
            case Command(words, here, moved):
                self.depth += 1
                inner_state = state.within(None) if moved else state
                found = self.run(words, (), (), None, inner_state, text)
                self.depth -= 1
                return found if here else ways
            case Code(code, here, posix):
                if posix:
                    self.found.doubt("`sh` reads this code differently than bash")
                given = state if here else State(state.folders, {})
                after = self.found.code(code, given, self.depth + 1)
                return same(State(None if after.folders != state.folders else state.folders, after.variables)) if here else ways
        return ways

    def hidden(self, word: Word, state: State) -> None:
        """Bash runs `$(…)` in the subscript of a name that a builtin evaluates, quoted or not."""
        for value in word.values or ():
            if IN_SUBSCRIPT.search(value):
                self.found.doubt(f"bash may run what stands in `{value[:80]}`")
                code = ': "' + value.replace('"', "") + '"'
                if self.depth < DEEPEST:
                    self.found.code(code, state, self.depth + 10)


def same(state: State) -> Ways:
    return state, state


def listed(state: State) -> tuple[str, ...] | None:
    return None if state.folders is None else tuple(sorted(state.folders))
