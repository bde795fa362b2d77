"""Session ids: the time in UTC and four letters, such as `20261130-142233-x7kq`."""

import os
import re
import time
from collections.abc import Collection

from ferrule.types.errors import UsageError

LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
"""Without the ones that are mistaken for each other: 0 o 1 l i."""

SHAPE = re.compile(r"\d{8}-\d{6}-[a-z0-9]{4}")
SHOWN = 5


def new_id(now: float) -> str:
    """Sorts by time, is a file name everywhere and can be typed; unique only once its file was made exclusively."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    return f"{stamp}-{''.join(LETTERS[byte % len(LETTERS)] for byte in os.urandom(4))}"


def match(written: str, known: Collection[str]) -> str:
    """The one known id that `written` names: in full, by how it begins, or by its last four letters.

    Raises UsageError when there is none or more than one, then with the candidates, newest first.
    """
    if written in known:
        return written
    found = sorted((id for id in known if written and (id.startswith(written) or id.endswith(f"-{written}"))), reverse=True)
    match found:
        case [id]:
            return id
        case []:
            raise UsageError(f"No session is called {written!r}. `ferrule sessions list` shows those that there are.")
        case _:
            more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
            raise UsageError(f"{written!r} could mean {', '.join(found[:SHOWN])}{more}. Write more of the id.")
