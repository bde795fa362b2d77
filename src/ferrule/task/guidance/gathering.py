"""Everything that a task may go by, as it is found when the task is opened."""

from collections.abc import Iterator
from shlex import quote

from msgspec import Struct

from .instructions import Instruction, instructions
from .places import Where
from .shelf import Item, Kind, Trouble, Unread, stock


class Guidance(Struct, frozen=True):
    """`instructions` in the order in which they are told, `items` the strongest first; what does not count is marked.

    Nothing in the folders that are `untrusted` was opened.
    """

    where: Where
    instructions: tuple[Instruction, ...] = ()
    items: tuple[Item, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    untrusted: tuple[Unread, ...] = ()

    def named(self, kind: Kind) -> dict[str, Item]:
        """Those that count, in the order of their names."""
        return {item.name: item for item in sorted(self.items, key=lambda item: item.name) if item.kind == kind and not item.by}

    @property
    def remark(self) -> str:
        """For the person: what was not read, in sentences; empty where that is nothing."""
        unread = [Trouble(each.file, each.why) for each in self.instructions if each.why]
        return " ".join((*(f"{self.where.shown(path)} {why}." for path, why in (*unread, *self.troubles)), *self._mistrusted()))

    def _mistrusted(self) -> Iterator[str]:
        for project in dict.fromkeys(each.project for each in self.untrusted):
            shelves = [self.where.shown(each.shelf) for each in self.untrusted if each.project == project]
            are = "is" if len(shelves) == 1 else "are"
            hint = f"(ferrule config trust {quote(str(project))})"
            yield f"{' and '.join(shelves)} {are} not read because {project} is not trusted {hint}."


def gather(where: Where) -> Guidance:
    """Raises UsageError where nobody can tell which folders are trusted."""
    troubles: list[Trouble] = []
    untrusted: list[Unread] = []
    items = (*stock(where, "skills", troubles, untrusted), *stock(where, "commands", troubles, untrusted))
    return Guidance(where, instructions(where), items, tuple(troubles), tuple(untrusted))
