"""How many tokens a text has, without any vocabulary.

Byte-pair tokenizers split a text into words, numbers, runs of marks and white space, and most of these are one token. How many
they are shows in how often characters of some classes, and pairs of them, occur; counting those is fast. The weights were fitted
to texts of many kinds (documentation, code, minified code, JSON, logs, base64, diffs, translations), to the mean of three
vocabularies: o200k, cl100k and that of Qwen 2.5.
"""

from typing import NamedTuple


class Tokens(NamedTuple):
    """Of digits by themselves, since vocabularies differ most there; `wide` of what isn't ASCII."""

    text: float = 0.0
    digits: float = 0.0
    wide: float = 0.0


WORD, HUMP, MARK, SPACED, CAPITAL, RULE = 1.05, 2.4, 0.65, 0.8, 0.2, -4.8
PER_CHARACTER = 0.05
WIDE = ((b"l", 2.8), (b"c", 0.37), (b"k", 0.83), (b"i", 0.87), (b"h", 0.97), (b"o", 1.18), (b"f", 1.35))
FOLLOWING = b"-"
"""What the weights are of: a word behind a blank, a capital inside of a word, a mark, a mark behind a blank, a capital, a rule of
eight marks (hardly more than one token). Of the bytes of UTF-8, those that begin a letter of Latin, one of other alphabets,
kana and CJK marks, ideographs, hangul, the rest of three bytes, all of four; those that follow."""


def _classes() -> bytes:
    classes = bytearray(FOLLOWING * 256)
    for code in range(128):
        letter = chr(code)
        blank = b"\n" if letter in "\r\n" else b" " if letter.isspace() else b"."
        classes[code : code + 1] = b"a" if letter.islower() else b"A" if letter.isupper() else b"0" if letter.isdigit() else blank
    for first, end, kind in ((0xC2, 0xCB, b"l"), (0xCB, 0xE0, b"c"), (0xE0, 0xF0, b"o"), (0xE4, 0xEA, b"i"), (0xEA, 0xEE, b"h")):
        classes[first:end] = kind * (end - first)
    classes[0xE3:0xE4] = b"k"
    classes[0xF0:0xF5] = b"f" * 5
    return bytes(classes)


CLASSES = _classes()

WHOLE = 65_536
WINDOWS, WIDTH = 64, 512
"""Of a text with more than `WHOLE` characters, `WINDOWS` pieces of `WIDTH` characters, evenly spread, speak for all of it."""


def count(text: str) -> Tokens:
    if len(text) <= WHOLE:
        return _count(text)
    step = (len(text) - WIDTH) / (WINDOWS - 1)
    seen = _count("".join(text[int(at * step) :][:WIDTH] for at in range(WINDOWS)))
    share = len(text) / (WINDOWS * WIDTH)
    return Tokens(seen.text * share, seen.digits * share, seen.wide * share)


def _count(text: str) -> Tokens:
    found = text.encode("utf-8", "surrogatepass").translate(CLASSES)
    narrow, wide = len(found), 0.0
    if narrow > len(text):
        counts = [found.count(kind) for kind, _ in WIDE]
        narrow -= sum(counts) + found.count(FOLLOWING)
        wide = sum(number * weight for number, (_, weight) in zip(counts, WIDE, strict=True))
    count = found.count
    words = WORD * count(b" a") + HUMP * count(b"aA") + CAPITAL * count(b"A")
    marks = MARK * count(b".") + SPACED * count(b" .") + RULE * count(b"........")
    return Tokens(PER_CHARACTER * narrow + words + marks, float(count(b"0")), wide)
