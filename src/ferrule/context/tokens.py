"""How many tokens a text has, without any vocabulary.

Byte-pair tokenizers first split a text into words, numbers, runs of marks and white space, and most of these are one token. So
pieces are counted, long words and runs as several.
"""

import re

PIECE = re.compile(
    r" ?[a-z]{1,8}"
    r"|\d{1,3}"
    r"|\s*\n"
    r"| ?[!-/:-@\[-`{-~]{1,2}"
    r"| ?[A-Z]{1,2}[a-z]{0,7}"
    r"|\s+(?!\S)|\s"
)
"""One match is about one token. What it skips is outside of ASCII."""

WHOLE = 16_384
WINDOWS, WIDTH = 16, 1_024
"""Of a text with more than `WHOLE` characters, `WINDOWS` pieces of `WIDTH` characters, evenly spread, speak for all of it."""


def count(text: str) -> tuple[float, float]:
    """Tokens of the ASCII part, and of everything else (mostly writing in other scripts)."""
    if len(text) <= WHOLE:
        return _count(text)
    step = (len(text) - WIDTH) / (WINDOWS - 1)
    narrow, wide = _count("".join(text[int(at * step) :][:WIDTH] for at in range(WINDOWS)))
    share = len(text) / (WINDOWS * WIDTH)
    return narrow * share, wide * share


def _count(text: str) -> tuple[float, float]:
    narrow = float(len(PIECE.findall(text)))
    return narrow, 0.0 if text.isascii() else _wide(text)


def _wide(text: str) -> float:
    """By the bytes of UTF-8: a CJK character has three and is about one token, a Cyrillic letter two and is about half of one."""
    return (len(text.encode("utf-8", "surrogatepass")) - len(text)) / 2
