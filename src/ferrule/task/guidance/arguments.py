"""Puts what was written behind a slash command into its text, once: what is put in is not looked at again."""

import re

PLACE = re.compile(r"\\?\$(?:ARGUMENTS(?!\w)|[1-9](?!\d))", re.ASCII)


def substitute(body: str, written: str) -> str:
    """`$ARGUMENTS` is all of it, `$1` to `$9` its words as a shell would split them, empty where there are fewer; a backslash
    before one of them lets it stand. Where the text has no place for it, it follows the text."""
    written = written.strip()
    given = words(written)
    used = False

    def put(found: re.Match[str]) -> str:
        nonlocal used
        place = found[0]
        if place.startswith("\\"):
            return place[1:]
        used = True
        if place == "$ARGUMENTS":
            return written
        number = int(place[1:])
        return given[number - 1] if number <= len(given) else ""

    text = PLACE.sub(put, body)
    return text if used or not written else f"{text}\n\nArguments: {written}"


def words(written: str) -> list[str]:
    """Quotes hold words together; where they do not close, they are letters like others."""
    import shlex

    try:
        return shlex.split(written)
    except ValueError:
        return written.split()
