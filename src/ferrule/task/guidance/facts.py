"""Guidance as rows for `ferrule doctor`: in the order in which it counts, what does not count marked."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from .gathering import Guidance
from .shelf import Item


class Row(NamedTuple):
    topic: str
    name: str
    state: Literal["ok", "note"]
    detail: str


def rows(guidance: Guidance) -> Iterator[Row]:
    shown = guidance.where.shown
    number = 0
    for each in guidance.instructions:
        if each.by or each.why:
            why = f"not read: {each.by} takes its place" if each.by else f"not read: it {each.why}"
            yield Row("instructions", "-", "note", f"{shown(each.file)} ({each.whose}); {why}")
        else:
            number += 1
            size = each.contents.size if each.contents else 0
            yield Row("instructions", str(number), "ok", f"{shown(each.file)} ({each.whose}), {size} bytes")
    yield from (_item(item, guidance) for item in guidance.items)
    yield from (Row("not read", each.path.name, "note", f"{shown(each.path)} {each.why}") for each in guidance.troubles)
    for unread in guidance.untrusted:
        yield Row("not read", unread.shelf.name, "note", f"{shown(unread.shelf)}: {unread.project} is not trusted")


def _item(item: Item, guidance: Guidance) -> Row:
    where = f"{guidance.where.shown(item.file)} ({item.whose})"
    if item.by:
        return Row(item.kind, item.name, "note", f"{where}; {item.by} takes its place")
    return Row(item.kind, item.name, "ok", f"{where}; {item.description}" if item.description else where)
