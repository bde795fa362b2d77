"""Reading one file of guidance: bounded, regular files only, and not out of the project through a link."""

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from ferrule.workspace.encoding import decode, shown
from ferrule.workspace.ignoring.look import Look

SPLIT = re.compile(rb"[\xc0-\xff][\x80-\xbf]{0,2}\Z")
"""A character at the end that a cut may have broken."""


class Unusable(Exception):
    """Why a file is not read, told so that it follows the file's name."""


class Contents(Struct, frozen=True):
    """`size` in bytes is that of the whole file, of which `text` may be the beginning; `encoding` is empty for UTF-8."""

    text: str
    size: int
    cut: bool
    encoding: str = ""


def read(file: Path, bounds: Sequence[Path], most: int) -> Contents:
    """At most `most` bytes of a file. `bounds` are where links may lead, empty for anywhere. Raises Unusable."""
    try:
        data, size = _bytes(target(file, bounds), most)
    except OSError as error:
        raise Unusable(f"cannot be read: {error.strerror}") from error
    cut = size > len(data)
    decoded = decode(SPLIT.sub(b"", data) if cut else data)
    if decoded is None:
        raise Unusable("is not text")
    text, encoding = decoded
    return Contents(shown(text), size, cut, "" if encoding.label.removesuffix(" with BOM") == "UTF-8" else encoding.label)


def target(file: Path, bounds: Sequence[Path]) -> Path:
    """Where a path leads. Raises Unusable for what lies outside of `bounds`, or what an ignore file means."""
    try:
        real = file.resolve(strict=True)
    except FileNotFoundError as error:
        raise Unusable("is a link that leads nowhere") from error
    except (OSError, RuntimeError) as error:
        raise Unusable("cannot be reached: " + (getattr(error, "strerror", None) or "links in a circle")) from error
    if not bounds:
        return real
    if not any(real.is_relative_to(bound) for bound in bounds):
        raise Unusable(f"leads out of the project, to {real}, and is not followed")
    if real != file and Look().at(str(real)) is not None:
        raise Unusable(f"leads to {real}, which an ignore file keeps tools away from")
    return real


def _bytes(file: Path, most: int) -> tuple[bytes, int]:
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb") as opened:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise Unusable("is no regular file")
        data = opened.read(most)
        return data, max(state.st_size, len(data))
