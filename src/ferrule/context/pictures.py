"""What an image costs, by its size. Vendors differ (tiles, patches, pixels); this is near the most that any of them takes."""

import base64
import binascii

from ferrule.types.messages import Image

EDGE = 1_568
"""Vendors scale an image down whose longer edge has more pixels."""
PIXELS = 750
LEAST, MOST = 85, 1_600
UNKNOWN = 1_600
HEAD = 64 * 1_024
"""Base64 characters that are looked at: sizes stand near the beginning, those of JPEG behind its metadata."""


def tokens(image: Image) -> int:
    """Tokens of an image; `UNKNOWN` where its size can't be read."""
    found = size(image)
    if found is None:
        return UNKNOWN
    width, height = found
    scale = min(1.0, EDGE / max(width, height, 1))
    return int(min(MOST, max(LEAST, width * scale * height * scale / PIXELS)))


def size(image: Image) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG, GIF, JPEG or WebP; None of anything else and of what is damaged."""
    head = image.data[: HEAD - HEAD % 4]
    try:
        data = base64.b64decode(head[: len(head) - len(head) % 4])
    except (binascii.Error, ValueError):
        return None
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    if data[:4] == b"GIF8" and len(data) >= 10:
        return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _webp(data)
    return _jpeg(data) if data[:2] == b"\xff\xd8" else None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """The frame header (SOF0 to SOF15, without the three marks in between that are no frames)."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        mark = data[at + 1]
        if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big")
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    """Of the three layouts: extended, lossless, lossy."""
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if kind == b"VP8L" and len(data) >= 25:
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and len(data) >= 30:
        return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF
    return None
