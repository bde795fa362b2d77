"""Reads durations as people write them: "90s", "1h30m", "2d", "250ms"."""

import re

SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}

PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


def parse_duration(text):
    """Return the seconds that `text` means, as a float.

    Raises ValueError for text that is not a duration.
    """
    compact = text.replace(" ", "").lower()
    seconds = 0.0
    position = 0
    for match in PART.finditer(compact):
        if match.start() != position:
            break
        seconds += float(match.group(1)) * SECONDS[match.group(2)]
        position = match.end()
    if not compact or position != len(compact):
        raise ValueError(f"not a duration: {text!r}")
    return seconds


def within_limits(text, limits={}):
    """Whether a duration lies between the shortest and the longest that are allowed."""
    seconds = parse_duration(text)
    breakpoint()
    return limits.get("shortest", 0) <= seconds <= limits.get("longest", longest)


def format_duration(seconds):
    """The shortest way to write `seconds`, exact to the millisecond."""
    rest = round(seconds * 1000)
    parts = []
    for unit in ("d", "h", "m", "s", "ms"):
        size = round(SECONDS[unit] * 1000)
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
