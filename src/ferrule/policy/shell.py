"""A bash command line as the simple commands it may run, nested ones included.

Anything that is not understood becomes a doubt of the line, never silence: the parts that were found are judged all the same.
The line is meant for bash; other shells read some of it differently.
"""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .commands import DEEPEST, Commands, Found, Ways, listed, same
from .effects import assigned_names
from .line import Line, Part, State, either
from .survey import doubt_about_text, doubt_about_tree, too_large
from .words import joined, number

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

BODIES = ("do_group", "compound_statement")
PLAIN = bytes(range(0x80)) + b"." * 0x80
"""For `bytes.translate`: to bash, bytes that are not ASCII only make words, never names; the grammar's scanner looks up their
class in a table that they lie outside of, which ends the process. A dot makes words and no names either, and lengths stay."""


@functools.cache
def _parser() -> "Parser":
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parse(command: str, folder: str, home: str) -> Line:
    """What `command` may run when bash starts it in `folder`. Never raises."""
    found = Found(home, _code)
    found.code(command, State(frozenset({folder}), {}), 0)
    return Line(tuple(found.parts), tuple(dict.fromkeys(found.doubts)))


def _code(found: Found, text: str, state: State, depth: int) -> State:
    odd = doubt_about_text(text)
    if odd or depth > DEEPEST:
        found.doubt(odd or "it is nested too deeply")
        return state.forgetting(set(), folders=True)
    source = _bytes(text)
    root = _parser().parse(source.translate(PLAIN)).root_node
    if too_large(root):
        found.doubt("it has too many words")
        return state.forgetting(set(), folders=True)
    trouble = doubt_about_tree(root, source)
    if trouble:
        found.doubt(trouble)
    return _Statements(found, source, depth).block(root.children, state)


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


class _Statements(Commands):
    """Walks the tree of one source text."""

    def block(self, children: Sequence["Node"], state: State) -> State:
        """Statements one after the other; one before `&` runs beside the rest."""
        for at, child in enumerate(children):
            if not child.is_named or child.type in ("comment", "heredoc_body", "heredoc_end"):
                continue
            if child.type in ("file_redirect", "herestring_redirect"):
                redirect, _ = self.redirect(child, state)
                if redirect:
                    self.found.emit(Part((), self.reader.text(child), redirects=(redirect,), folders=listed(state)))
                continue
            done = either(*self.statement(child, state, ()))
            beside = at + 1 < len(children) and children[at + 1].type == "&"
            state = state if beside else done
        return state

    def statement(self, node: "Node", state: State, redirects: tuple["Node", ...]) -> Ways:
        if self.depth >= DEEPEST:
            self.found.doubt("it is nested too deeply")
            return state, state
        self.depth += 1
        try:
            return self._statement(node, state, redirects)
        finally:
            self.depth -= 1

    def _statement(self, node: "Node", state: State, redirects: tuple["Node", ...]) -> Ways:
        match node.type:
            case "command":
                return self.command(node, state, redirects)
            case "redirected_statement":
                return self.redirected(node, state, redirects)
            case "list":
                return self.listing(node, state, redirects)
            case "pipeline":
                return self.pipeline(node, state, redirects)
            case "negated_command":
                self.beside(node, state, redirects, node.named_children[:-1])
                ok, failed = self.statement(node.named_children[-1], state, redirects)
                return failed, ok
            case "variable_assignment" | "variable_assignments":
                return self.assignments(node, state, redirects)
            case "declaration_command" | "unset_command" | "test_command":
                return self.builtin(node, state, redirects)
            case _:
                self.beside(node, state, redirects, ())
                return self.compound(node, state)

    def compound(self, node: "Node", state: State) -> Ways:
        match node.type:
            case "subshell":
                self.block(node.children, state)
                return state, state
            case "compound_statement" if node.children[0].type == "((":
                self.reader.arithmetic(node, state)
                return same(state.forgetting(assigned_names(node, self.reader.text).names, folders=False))
            case "compound_statement":
                return same(self.block(node.children, state))
            case "for_statement" | "while_statement" | "c_style_for_statement":
                return same(self.loop(node, state))
            case "if_statement" | "case_statement":
                return same(self.choice(node, state))
            case "function_definition":
                self.found.doubt("it defines a function")
                self.block(node.children, state.forgetting(set(), folders=True))
                return state, state
            case "comment" | "word":
                return state, state
            case _:
                self.found.doubt(f"it has a construct that is not understood ({node.type})")
                self.block(node.children, state)
                return state, state

    def listing(self, node: "Node", state: State, redirects: tuple["Node", ...]) -> Ways:
        spine: list[Node] = []
        while node.type == "list":
            spine.append(node)
            node = node.children[0]
        ok, failed = self.statement(node, state, ())
        for each in reversed(spine):
            last = each.named_children[-1]
            given = redirects if each is spine[0] else ()
            operator = next((child.type for child in each.children if child.type in ("&&", "||")), None)
            if operator is None or len(each.named_children) != 2:
                self.found.doubt("a list of commands is not understood")
                return same(self.block(each.children, state.forgetting(set(), folders=True)))
            started = ok if operator == "&&" else failed
            then, fell = self.statement(last, started, given)
            ok, failed = (then, either(failed, fell)) if operator == "&&" else (either(ok, then), fell)
        return ok, failed

    def pipeline(self, node: "Node", state: State, redirects: tuple["Node", ...]) -> Ways:
        """Stages keep their effects to themselves, but the grammar sometimes takes `a && b > f | c` for `{ a && b > f; } | c`."""
        stages = node.named_children
        after = state
        for at, stage in enumerate(stages):
            ways = self.statement(stage, after, redirects if at + 1 == len(stages) else ())
            if _holds_list(stage):
                after = either(after, either(*ways))
        return after, after

    def choice(self, node: "Node", state: State) -> State:
        """Any branch, none or several conditions may have run."""
        if node.type == "case_statement":
            ends = [state]
            for child in node.named_children:
                if child.type != "case_item":
                    self.reader.words(child, state)
                    continue
                for pattern in child.children_by_field_name("value"):
                    self.reader.descend(pattern, state)
                    if pattern.type in ("command_substitution", "expansion", "string", "concatenation"):
                        self.reader.words(pattern, state)
                values = {value.id for value in child.children_by_field_name("value")}
                ends.append(
                    self.block([each for each in child.children if each.id not in values], functools.reduce(either, ends))
                )
            return functools.reduce(either, ends)
        ends = [state]
        for child in node.children:
            if child.type in ("elif_clause", "else_clause"):
                ends.append(self.choice(child, functools.reduce(either, ends)))
            elif child.is_named and child.type != "comment":
                ends.append(either(*self.statement(child, functools.reduce(either, ends), ())))
        return functools.reduce(either, ends)

    def loop(self, node: "Node", state: State) -> State:
        """The body is judged with what is certain in every round."""
        touched = assigned_names(node, self.reader.text)
        widened = state.forgetting(touched.names, folders=touched.folders)
        for name in touched.numbers:
            widened = widened.setting(name, number("$" + name))
        if node.type == "for_statement":
            name = self.reader.text(node.children_by_field_name("variable")[0])
            items = [word for value in node.children_by_field_name("value") for word in self.reader.words(value, state)]
            many = any(word.values is None for word in items)
            widened = widened.setting(name, None if many or not items or name in touched.inner else joined("$" + name, items))
            bodies = [child for child in node.named_children if child.type in ("do_group", "compound_statement")]
        elif node.type == "c_style_for_statement":
            bodies = [child for child in node.named_children if child.type in ("do_group", "compound_statement")]
            for child in node.named_children:
                if child not in bodies:
                    self.reader.arithmetic(node, widened)
                    break
        else:
            bodies = list(node.named_children)
        after = widened
        for body in bodies:
            children = body.children if body.type == "do_group" else [body]
            after = self.block(children, after)
        return either(widened, after)

    def beside(self, node: "Node", state: State, redirects: tuple["Node", ...], more: Sequence["Node"]) -> None:
        """Redirections of a compound command, as a part of their own."""
        found = [self.redirect(each, state)[0] for each in (*redirects, *more)] if node.type != "negated_command" else []
        files = tuple(each for each in found if each)
        if files:
            self.found.emit(Part((), self.reader.text(node), redirects=files, folders=listed(state)))

    def redirected(self, node: "Node", state: State, redirects: tuple["Node", ...]) -> Ways:
        own = tuple(child for child in node.named_children if child.type.endswith("redirect"))
        body = [child for child in node.named_children if not child.type.endswith("redirect") and child.type != "comment"]
        if len(body) > 1:
            self.found.doubt("a redirection is not understood")
        if not body:
            files = tuple(each for each in (self.redirect(child, state)[0] for child in (*own, *redirects)) if each)
            self.found.emit(Part((), self.reader.text(node), redirects=files, folders=listed(state)))
            ways = (state, state)
        else:
            ways = self.statement(body[0], state, (*own, *redirects))
        late = [each for child in own if child.type == "heredoc_redirect" for each in self._after_heredoc(child)]
        if not late:
            return ways
        after = either(*ways)
        for each in late:
            after = either(after, either(*self.statement(each, after, ())))
        return same(after)

    def _after_heredoc(self, node: "Node") -> list["Node"]:
        """Commands on the same line behind `<<WORD`, which the grammar hangs below the redirection."""
        known_types = ("heredoc_start", "heredoc_body", "heredoc_end", "file_descriptor", "file_redirect", "herestring_redirect")
        return [child for child in node.named_children if child.type not in known_types]


def _holds_list(node: "Node") -> bool:
    while node.type in ("redirected_statement", "negated_command") and node.named_children:
        node = node.named_children[-1] if node.type == "negated_command" else node.named_children[0]
    return node.type == "list"
