"""The prompt: what follows `-p`, what is piped in, or both."""

import os
import re
import select
import stat
from collections.abc import Callable
from typing import TextIO

from ferrule.types.errors import UsageError

MOST = 8 * 1024 * 1024
PATIENCE = 3.0
"""Seconds to wait for the first byte of a pipe where there is a prompt already: whoever started us may just have left it open."""


def gather(prompt: str | None, stream: TextIO | None, note: Callable[[str], None], may_wait: bool) -> str | None:
    """The whole prompt, or None where there is none.

    Without `may_wait` a pipe that says nothing for `PATIENCE` seconds is left alone, with a note; a file, /dev/null and a
    terminal never make anybody wait. Raises UsageError for more than `MOST` bytes.
    """
    piped = "" if stream is None else _piped(stream.fileno(), note, may_wait)
    if not piped.strip():
        return prompt
    if prompt is None:
        return piped
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", piped)), default=0))
    return f"{prompt}\n\nText from standard input:\n{fence}\n{piped.removesuffix(chr(10))}\n{fence}"


def _piped(descriptor: int, note: Callable[[str], None], may_wait: bool) -> str:
    if os.isatty(descriptor):
        return ""
    mode = os.fstat(descriptor).st_mode
    waits = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
    if waits and not select.select([descriptor], [], [], PATIENCE)[0]:
        if not may_wait:
            note("nothing came on standard input for 3 seconds; going on without it (use </dev/null to say so at once)")
            return ""
        note("waiting for the prompt on standard input")
    chunks: list[bytes] = []
    size = 0
    while chunk := os.read(descriptor, 1 << 16):
        size += len(chunk)
        if size > MOST:
            raise UsageError(
                f"standard input holds more than {MOST >> 20} MiB; put it into a file and name the file in the prompt"
            )
        chunks.append(chunk)
    return b"".join(chunks).decode("utf-8", "replace")
