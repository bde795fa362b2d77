"""In which order filters stand: solved from what they declare, never from the order in which they are written down."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from .filter import Filter


class OrderError(Exception):
    """The declarations of the filters contradict each other, or leave open what must not be left open."""


def solve(filters: Iterable[Filter]) -> tuple[Filter, ...]:
    """Outbound ones, then inbound ones, then control; each group in an order that keeps every `before` and `after`.

    Where the declarations leave a choice, the name decides. Raises OrderError on a name that stands twice or nowhere, on a cycle,
    and where two filters touch the same and neither is before the other.
    """
    given = tuple(filters)
    names = [each.name for each in given]
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise OrderError(f"more than one filter is named {', '.join(doubled)}")
    order: list[Filter] = []
    for direction in ("outbound", "inbound", "control"):
        group = {each.name: each for each in given if each.direction == direction}
        order += _solved(group, _earlier(group))
    return tuple(order)


def _earlier(group: Mapping[str, Filter]) -> dict[str, set[str]]:
    """By name, the filters that stand directly before each."""
    earlier: dict[str, set[str]] = {name: set() for name in group}
    for each in group.values():
        for other in (*each.before, *each.after):
            if other not in group:
                raise OrderError(f"the filter {each.name} is put beside {other}, which is no {each.direction} filter")
        earlier[each.name].update(each.after)
        for other in each.before:
            earlier[other].add(each.name)
    return earlier


def _solved(group: Mapping[str, Filter], earlier: Mapping[str, set[str]]) -> Sequence[Filter]:
    order: list[str] = []
    all_earlier: dict[str, set[str]] = {}
    while len(order) < len(group):
        ready = sorted(name for name in group if name not in all_earlier and earlier[name] <= all_earlier.keys())
        if not ready:
            left = sorted(group.keys() - all_earlier.keys())
            raise OrderError(f"the filters {', '.join(left)} are put before each other in a circle")
        name = ready[0]
        all_earlier[name] = earlier[name].union(*(all_earlier[other] for other in earlier[name]))
        order.append(name)
    for one, other in combinations(order, 2):
        shared = set(group[one].touches) & set(group[other].touches)
        if shared and one not in all_earlier[other]:
            raise OrderError(f"{one} and {other} both touch {', '.join(sorted(shared))}, and neither is put before the other")
    return [group[name] for name in order]
