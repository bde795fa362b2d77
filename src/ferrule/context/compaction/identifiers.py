"""Names that a summary must not lose: paths, hashes, URLs and ids, as they are spelled in a conversation."""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from ferrule.types.messages import Assistant, Message, Results, Text, User

MOST = 24
RECENT = 12
"""So many messages before the cut count as recent."""

_ENDINGS = (
    "py|pyi|js|jsx|ts|tsx|mjs|rs|go|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|sh|sql|html|css|scss|vue|md|rst|txt|json|jsonl|toml|"
    "yaml|yml|ini|cfg|conf|lock|xml|csv|log|env|proto|ipynb|patch|diff"
)
_IDENTIFIER = r"""
    https?://[^\s<>"'`)\]}]+
    | (?<![\w.@+~/-]) (?!/dev/) ~?/? (?:[\w.@+-]+/)+ [\w.@+-]*\w                      # a path
    | (?<![\w.@+~/-]) [\w.@+-]+\.(?:ENDINGS)\b                              # a file name
    | \b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b
    | \b(?=[0-9a-f]{0,63}[0-9])(?=[0-9a-f]{0,63}[a-f])[0-9a-f]{7,64}\b      # a hash
    | (?<![\w/&])\#\d+\b
    | \b[A-Z][A-Z0-9]{1,9}-\d{1,8}\b                                        # a ticket
    | \b[A-Za-z]{2,12}[_-](?=[A-Za-z0-9]{0,40}\d)[A-Za-z0-9]{8,40}\b        # an id with a prefix
    | \b\d{6,20}\b
    """


@cache
def _identifier() -> re.Pattern[str]:
    return re.compile(_IDENTIFIER.replace("ENDINGS", _ENDINGS), re.VERBOSE)


def identifiers(text: str) -> dict[str, None]:
    """Each once, in the order of their first place."""
    return dict.fromkeys(found.rstrip(".,;:") for found in _identifier().findall(text))


def wanted(older: Sequence[Message], kept: Sequence[Message]) -> tuple[str, ...]:
    """What stands in the part to be summarised and matters: the user wrote it, or the model wrote it recently or still does.

    What was used last comes first, at most 24.
    """
    standing = identifiers("\n".join(_all(older)))
    people = _said(message for message in (*older, *kept) if isinstance(message, User))
    model = _said(message for message in (*older[-RECENT:], *kept) if isinstance(message, Assistant))
    used = dict.fromkeys([*reversed(list(identifiers("\n".join(model)))), *reversed(list(identifiers("\n".join(people))))])
    return tuple(found for found in used if found in standing)[:MOST]


def missing(names: Iterable[str], text: str) -> tuple[str, ...]:
    return tuple(name for name in names if name not in text)


def _said(messages: Iterable[Message]) -> list[str]:
    """What somebody wrote, the arguments of calls included; what tools gave back is not."""
    return [text for message in messages if not isinstance(message, Results) for text in _texts(message)]


def _all(messages: Iterable[Message]) -> list[str]:
    return [text for message in messages for text in _texts(message)]


def _texts(message: Message) -> list[str]:
    match message:
        case User(parts=parts):
            return [part.text for part in parts if isinstance(part, Text)]
        case Assistant(calls=calls):
            return [message.text, *(call.arguments for call in calls)]
        case Results(parts=results):
            return [result.text for result in results]
