"""Where guidance may lie, and whose it is."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

Whose = Literal["person", "project"]
OWN, ROO, AGENTS = ".ferrule", ".roo", ".agents"


class Base(Struct, frozen=True):
    """A folder to look in. A file of a project is read only where its links lead into `bounds`, of which there are none for
    what is the person's own."""

    folder: Path
    whose: Whose
    bounds: tuple[Path, ...] = ()


class Where(Struct, frozen=True):
    """A task's surroundings. `folder` and `extra` are free of links; `user_folder` holds the person's configuration."""

    folder: Path
    user_folder: Path
    home: Path
    trusted: Callable[[Path], bool]
    extra: tuple[Path, ...] = ()
    mode: str = "code"

    def chain(self) -> tuple[Base, ...]:
        """From the repository's root down to the project folder, which stands alone outside of a repository."""
        folders = repository_chain(self.folder)
        bounds = (folders[0], *self.extra)
        return tuple(Base(folder, "project", bounds) for folder in folders)

    def shelves(self, kind: Literal["skills", "commands"]) -> Iterator[tuple[Base, Path]]:
        """Folders of skills or commands with the base that vouches for each, the strongest first: near before far, the
        project's before the person's, ours before those of others, those for the mode before those for all."""
        names = (f"{kind}-{self.mode}", kind) if kind == "skills" else (kind,)
        for base in reversed(self.chain()):
            if base.folder != self.home:
                yield from ((base, base.folder / style / name) for style in (OWN, ROO, AGENTS) for name in names)
        yield from ((Base(self.user_folder, "person"), self.user_folder / name) for name in names)
        yield from ((Base(self.home, "person"), self.home / style / name) for style in (ROO, AGENTS) for name in names)

    def shown(self, path: Path) -> str:
        """How a path is named: relative to the project folder where it lies in it."""
        from ferrule.types.names import spell

        return spell(str(path.relative_to(self.folder) if path.is_relative_to(self.folder) else path))


def repository_chain(folder: Path) -> tuple[Path, ...]:
    chain = [folder]
    if not (folder / ".git").exists():
        for parent in folder.parents:
            chain.append(parent)
            if (parent / ".git").exists():
                return tuple(reversed(chain))
        return (folder,)
    return tuple(chain)
