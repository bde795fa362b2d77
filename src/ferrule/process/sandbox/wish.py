"""What a sandbox is asked to be."""

from typing import Literal

from msgspec import Struct


class Wish(Struct, frozen=True):
    """All paths absolute and free of links. `folders` are the workspace, the first its root: commands may start in them only.

    `workspace` shows the whole machine, read-only; `strict` shows the system's programs, `folders` and `show`, nothing else.
    `network` is that of the machine, else none. `read_only`: of `folders`, too. `home` is what commands know as HOME.
    """

    mode: Literal["workspace", "strict"]
    folders: tuple[str, ...]
    network: bool = False
    read_only: bool = False
    show: tuple[str, ...] = ()
    home: str = ""
