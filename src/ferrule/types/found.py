"""What a query for names of files and folders gives."""

from msgspec import Struct


class Item(Struct, frozen=True):
    """`path` is relative to the root, spelled as in `names`; that of a folder ends with `/`.

    `marks` are the characters of it that the query matched, rising.
    """

    path: str
    marks: tuple[int, ...] = ()

    @property
    def folder(self) -> bool:
        return self.path.endswith("/")


class Found(Struct, frozen=True):
    """The best of `total` matches among `known` paths. Not `complete`: the folder is still being looked through.

    `remark` is a sentence about what may be missing or out of date.
    """

    items: tuple[Item, ...]
    total: int
    known: int
    complete: bool
    remark: str = ""
