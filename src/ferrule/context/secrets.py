"""Known secret values are replaced before text is stored or sent (law 11)."""

import base64
import json
import urllib.parse
from collections.abc import Iterator

SHORTEST = 8
"""Shorter values stand in ordinary text by chance."""

SHORTEST_ENCODED = 8


class Mask:
    """Replaces every secret by `[secret NAME]`. `secrets` are name and value; those of fewer than 8 characters are left alone.

    A value is also found as JSON writes it, percent-encoded, in hexadecimal, and in base64 of either alphabet, there also in the
    middle of something longer.
    """

    def __init__(self, secrets: tuple[tuple[str, str], ...]) -> None:
        self._spellings = tuple(sorted(set(_spellings(secrets)), key=lambda each: (-len(each[0]), each)))
        self.longest = len(self._spellings[0][0]) if self._spellings else 0

    def text(self, text: str) -> str:
        for spelling, name in self._spellings:
            if spelling in text:
                text = text.replace(spelling, f"[secret {name}]")
        return text


def mask(text: str, secrets: tuple[tuple[str, str], ...]) -> str:
    """`text` with every secret replaced, for who masks only once."""
    return Mask(secrets).text(text)


def _spellings(secrets: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, str]]:
    for name, value in secrets:
        if len(value) < SHORTEST:
            continue
        data = value.encode("utf-8", "surrogatepass")
        spelled = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], data.hex(), data.hex().upper()}
        for safe in ("", "/"):
            quoted = urllib.parse.quote(data, safe=safe)
            plus = urllib.parse.quote_plus(data, safe=safe)
            spelled |= {quoted, plus, _lower_escapes(quoted), _lower_escapes(plus)}
        for encoded in _base64(data):
            spelled |= {encoded, encoded.replace("+", "-").replace("/", "_")}
        for each in spelled:
            yield each, name


def _lower_escapes(quoted: str) -> str:
    head, *rest = quoted.split("%")
    return head + "".join("%" + each[:2].lower() + each[2:] for each in rest)


def _base64(data: bytes) -> Iterator[str]:
    """`data` alone, and inside longer data at each of the three positions, less the characters that neighbours share."""
    alone = base64.b64encode(data).decode()
    yield alone
    yield alone.rstrip("=")
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + data).decode().rstrip("=")
        start = (0, 2, 3)[before]
        end = len(encoded) - (1 if (before + len(data)) % 3 else 0)
        if end - start >= SHORTEST_ENCODED:
            yield encoded[start:end]
