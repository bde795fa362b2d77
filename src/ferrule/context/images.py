"""Images that a provider would refuse, or that are too many: a note says what was there.

Nothing is scaled down, since that takes a library that Ferrule does not bring.
"""

import base64
import binascii
from collections.abc import Callable, Sequence
from operator import is_

from msgspec import Struct
from msgspec.structs import replace

from ferrule.types.messages import Image, Message, Results, Text, ToolResult, User

from . import pictures

SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
)
KNOWN = frozenset(media for _, media in SIGNATURES)
TOO_MANY = "[An image ({media}) was left out here: a request may hold {most} images, and later ones are shown.]"


class ImageLimits(Struct, frozen=True):
    """`bytes` of the base64 text, `edge` in pixels, `count` in one request."""

    bytes: int
    edge: int
    count: int


def has_images(message: Message) -> int:
    """How many."""
    match message:
        case User(parts=parts):
            return sum(isinstance(part, Image) for part in parts)
        case Results(parts=results):
            return sum(isinstance(part, Image) for result in results for part in result.parts)
        case _:
            return 0


def fitting(message: Message, limits: ImageLimits) -> tuple[Message, tuple[str, ...]]:
    """The message with a note in the place of each image that is empty, broken or too large; the same object without any."""
    lines: list[str] = []

    def look(part: Text | Image) -> Text | Image:
        if isinstance(part, Text):
            return part
        why = fault(part, limits)
        if not why:
            media = media_of(part) or part.media_type
            if media == part.media_type:
                return part
            lines.append(f"an image that was said to be {part.media_type} is sent as {media}")
            return replace(part, media_type=media)
        lines.append(f"an image was left out: it {why}")
        return Text(f"[An image was left out here: it {why}.]")

    return (_mapped(message, look), tuple(lines)) if has_images(message) else (message, ())


def newest(messages: Sequence[Message], limits: ImageLimits) -> tuple[Sequence[Message], tuple[str, ...]]:
    """No more images than a request may hold: the oldest give way, half the limit at a time, so that requests seldom change."""
    total = sum(map(has_images, messages))
    if total <= limits.count:
        return messages, ()
    step = max(1, limits.count // 2)
    left = -(-(total - limits.count) // step) * step
    lines = (f"the oldest {left} of {total} images were left out: a request may hold {limits.count}",)

    def drop(part: Text | Image) -> Text | Image:
        nonlocal left
        if left == 0 or isinstance(part, Text):
            return part
        left -= 1
        return Text(TOO_MANY.format(media=part.media_type, most=limits.count))

    return tuple(_mapped(message, drop) if left and has_images(message) else message for message in messages), lines


def fault(image: Image, limits: ImageLimits) -> str:
    """Why a provider would refuse it; empty where nothing is known against it."""
    if not image.data.strip():
        return "is empty"
    if len(image.data) > limits.bytes:
        return f"has {len(image.data):,} bytes encoded, more than {limits.bytes:,}"
    try:
        base64.b64decode(image.data, validate=True)
    except (binascii.Error, ValueError):
        return "is not base64"
    if image.media_type in KNOWN and not media_of(image):
        return f"is broken: it does not begin as {image.media_type} does"
    width, height = pictures.size(image) or (0, 0)
    if max(width, height) > limits.edge:
        return f"has {width} × {height} pixels, more than {limits.edge} on a side"
    return ""


def media_of(image: Image) -> str:
    """What the data begins as; empty where that is none of the kinds that all providers take."""
    head = base64.b64decode(image.data[:24])
    return next((media for signature, media in SIGNATURES if head.startswith(signature)), "")


def _mapped(message: Message, change: Callable[[Text | Image], Text | Image]) -> Message:
    match message:
        case User(parts=parts):
            changed = tuple(map(change, parts))
            return message if _same(changed, parts) else replace(message, parts=changed)
        case Results(parts=results):
            shown = tuple(_result(result, change) for result in results)
            return message if _same(shown, results) else replace(message, parts=shown)
        case _:
            return message


def _result(result: ToolResult, change: Callable[[Text | Image], Text | Image]) -> ToolResult:
    changed = tuple(map(change, result.parts))
    return result if _same(changed, result.parts) else replace(result, parts=changed)


def _same(made: Sequence[object], given: Sequence[object]) -> bool:
    return all(map(is_, made, given))
