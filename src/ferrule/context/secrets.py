"""Known secret values are replaced before text is stored or sent (law 11)."""

import base64
import json
import urllib.parse
from collections.abc import Iterator

SHORTEST = 8
"""Shorter values stand in ordinary text by chance."""

SHORTEST_ENCODED = 8


def mask(text: str, secrets: tuple[tuple[str, str], ...]) -> tuple[str, int]:
    """`text` with every secret replaced by `[secret NAME]`, and how often that happened. `secrets` are name and value.

    A value is also found as JSON writes it, percent-encoded, in hexadecimal, and in base64 of either alphabet, there also in the
    middle of something longer. Values of fewer than 8 characters are left alone.
    """
    count = 0
    for spelling, name in sorted(_spellings(secrets), key=lambda each: -len(each[0])):
        found = text.count(spelling)
        if found:
            text = text.replace(spelling, f"[secret {name}]")
            count += found
    return text, count


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
