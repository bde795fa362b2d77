"""One row of the tables of cases: what breaks a rule, and the nearest thing that does not."""

import copy
from dataclasses import dataclass
from typing import Any

from .body import Json

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


@dataclass(frozen=True)
class Case:
    """`also`: rules that `bad` can't help breaking too. `sdk`: the SDK's types refuse `bad` as well."""

    rule: str
    name: str
    bad: Any
    good: Any
    also: frozenset[str] = frozenset()
    sdk: bool = False


def but(body: Json, *steps: tuple[str, Any]) -> Json:
    """A copy with other values at paths such as `messages.0.role`; the value `...` removes the key."""
    changed = copy.deepcopy(body)
    for path, value in steps:
        at: Any = changed
        *before, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        for part in before:
            at = at[part]
        if value is ...:
            del at[last]
        else:
            at[last] = value
    return changed
