"""The words of code: an identifier is found whole, by its parts, and with what it is reached through. Pure."""

import re
from collections.abc import Iterator

_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*|\d+")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_NAMED = re.compile(
    r"\b(?:class|def|func|fn|function|interface|struct|type|enum|trait|impl|module|namespace|const|let|var|macro_rules!)\s+"
    r"(?:\([^)]*\)\s*)?([^\W\d]\w*)"
)
LONGEST = 100
"""Characters of a term; longer ones are data."""


def terms(text: str) -> Iterator[str]:
    """`a.userName` gives `a.username`, `a`, `username`, `user`, `name`; in lower case."""
    for match in _DOTTED.finditer(text):
        word = match[0]
        if len(word) > LONGEST:
            continue
        whole = word.split(".")
        if len(whole) > 1:
            yield word.lower()
        for identifier in whole:
            yield identifier.lower()
            parts = _PARTS.findall(identifier) if identifier.isascii() else [part for part in identifier.split("_") if part]
            if len(parts) > 1:
                yield from (part.lower() for part in parts)


def defined(text: str) -> Iterator[str]:
    """The terms of the names that seem to be defined in a text."""
    for match in _NAMED.finditer(text):
        yield from terms(match[1])


def asked(text: str) -> list[str]:
    """The terms of a question, each once."""
    return list(dict.fromkeys(terms(text)))
