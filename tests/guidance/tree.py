"""A repository, a person's folders and what stands in them."""

from pathlib import Path

from ferrule.task.guidance.gathering import Guidance, gather
from ferrule.task.guidance.places import Where


class Tree:
    """A project two folders below its repository's root. Names in `write` begin with `repo/`, `user/` or `home/`."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.repo, self.user, self.home = (base / name for name in ("repo", "user", "home"))
        self.folder = self.repo / "packages" / "one"
        self.folder.mkdir(parents=True)
        (self.repo / ".git").mkdir()
        self.trusted = {self.repo, self.folder}
        self.extra: tuple[Path, ...] = ()

    def write(self, name: str, text: str = "x") -> Path:
        file = self.base / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def skill(self, folder: str, text: str, description: str = "What it is for.") -> Path:
        name = folder.rpartition("/")[2]
        return self.write(f"{folder}/SKILL.md", f"---\nname: {name}\ndescription: {description}\n---\n{text}\n")

    def where(self, mode: str = "code") -> Where:
        return Where(self.folder, self.user, self.home, self.trusted.__contains__, self.extra, mode)

    def gather(self, mode: str = "code") -> Guidance:
        return gather(self.where(mode))

    def short(self, path: Path) -> str:
        return str(path.relative_to(self.base))
