"""What a command line comes to: simple commands with what is known about their words, and doubts about the rest."""

from typing import Literal, NamedTuple

from msgspec import Struct

from .words import Word, joined


class Redirect(Struct, frozen=True):
    """A file that the shell opens for a command."""

    kind: Literal["read", "write"]
    target: Word


class Part(Struct, frozen=True):
    """One simple command as it may run.

    `words` is its argv, empty for a bare assignment or redirection. `folders` are the folders it may run in, None when unknown.
    `transparent`: it only starts another command, which is a part of its own. `text` is its source.
    """

    words: tuple[Word, ...]
    text: str
    assignments: tuple[tuple[str, Word], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    folders: tuple[str, ...] | None = ()
    transparent: bool = False

    @property
    def name(self) -> str | None:
        return self.words[0].value if self.words else None


class Line(Struct, frozen=True):
    """`parts` in source order. With any of `doubts` (sentences) the line may do more than its parts say."""

    parts: tuple[Part, ...]
    doubts: tuple[str, ...] = ()


MOST_FOLDERS = 8


class State(NamedTuple):
    """What is known between two commands: the possible working folders, and the variables that the line has set so far.

    A variable that is absent was never set by this line; one that is None was set to something unknown.
    """

    folders: frozenset[str] | None
    variables: dict[str, Word | None]

    def setting(self, name: str, value: Word | None) -> "State":
        return State(self.folders, {**self.variables, name: value})

    def within(self, folders: frozenset[str] | None) -> "State":
        return State(folders, self.variables)

    def forgetting(self, names: set[str], folders: bool) -> "State":
        """After code that may have set `names`, and may have changed the folder."""
        return State(None if folders else self.folders, {**self.variables, **dict.fromkeys(names)})


def either(left: State, right: State) -> State:
    """What is known when one of two ways was taken."""
    if left is right or left == right:
        return left
    folders = None if left.folders is None or right.folders is None else left.folders | right.folders
    if folders is not None and len(folders) > MOST_FOLDERS:
        folders = None
    variables: dict[str, Word | None] = {}
    for name in {**left.variables, **right.variables}:
        one, other = left.variables.get(name), right.variables.get(name)
        variables[name] = one if one == other else joined("$" + name, (one, other))
    return State(folders, variables)
