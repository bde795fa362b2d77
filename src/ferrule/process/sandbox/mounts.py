"""The folders of a sandbox as arguments of bubblewrap. Pure but for looking at what is there."""

from collections.abc import Iterable
from pathlib import PurePath
from typing import Literal, NamedTuple

from .wish import Wish

SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store", "/gnu/store"
)  # fmt: skip
"""What programs are made of; all that `strict` shows of the machine."""

TEMPORARY = "/tmp"

NAMESPACES = ("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
RIGHTS = ("--cap-drop", "ALL", "--as-pid-1")


class Mount(NamedTuple):
    """`what` is seen at `at`."""

    how: Literal["--bind", "--ro-bind", "--tmpfs"]
    what: str
    at: str

    def arguments(self) -> tuple[str, ...]:
        return (self.how, self.at) if self.how == "--tmpfs" else (self.how, self.what, self.at)


def within(path: str, folders: Iterable[str]) -> bool:
    """Whether `path` is one of `folders` or below it."""
    return any(PurePath(path).is_relative_to(folder) for folder in folders)


def bound(how: Literal["--bind", "--ro-bind"], paths: Iterable[str]) -> list[Mount]:
    return [Mount(how, path, path) for path in paths]


def arguments(wish: Wish, mounts: Iterable[Mount], new_proc: bool) -> tuple[str, ...]:
    """All that stands between bubblewrap and `--`. A folder is mounted before what lies in it; of two at one place the later."""
    if wish.mode == "workspace":
        machine = ["--ro-bind", "/", "/"]
    else:
        machine = [word for folder in SYSTEM for word in ("--ro-bind-try", folder, folder)]
    proc = ("--proc", "/proc") if new_proc else ("--ro-bind", "/proc", "/proc")
    ordered = sorted(mounts, key=lambda mount: len(PurePath(mount.at).parts))
    placed = [word for mount in ordered for word in mount.arguments()]
    network = () if wish.network else ("--unshare-net",)
    sealed = ("--remount-ro", "/") if wish.mode == "strict" else ()
    return (*NAMESPACES, *network, *RIGHTS, *machine, "--dev", "/dev", *proc, *placed, *sealed)


def layout(wish: Wish, scratch: str, needed: Iterable[str]) -> list[Mount]:
    """What every command of a task sees beside the machine. `needed` are places of Ferrule's own programs."""
    base: Literal["--bind", "--ro-bind"] = "--ro-bind" if wish.read_only else "--bind"
    visible = SYSTEM if wish.mode == "strict" else ()
    shown = [
        path
        for path in (*needed, *wish.show)
        if not within(path, (*wish.folders, *visible)) and (wish.mode == "strict" or within(path, (TEMPORARY,)))
    ]
    home = wish.home if wish.mode == "strict" and wish.home not in ("", "/") and not within(wish.home, SYSTEM) else ""
    return [
        *([Mount("--tmpfs", "", home)] if home else []),
        Mount("--bind", scratch, TEMPORARY),
        *bound("--ro-bind", shown),
        *bound(base, wish.folders),
    ]
