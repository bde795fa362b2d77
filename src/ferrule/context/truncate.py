"""Tool results in a shorter form: which part of one is kept, and how much several may take together.

Pure. A result is cut once, to its head and its tail with a marker between them, and is sent in that form from then on: what is
rendered depends on the result and its `Cut` and on nothing else. The measures are those of OpenClaw; a tail is kept also where it
doesn't look like the end of an error, only less of it.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ferrule.types.messages import Image, Text, ToolResult
from ferrule.types.records import Cut

KEPT = 2_000
"""Characters below which no result is cut."""

MARKER = (
    "\n\n[{left} of {whole} characters are left out here, to fit the context window. "
    "To see them, ask for less at once: a part of the file, a narrower search, a filtered output.]\n\n"
)
ROOM = len(MARKER) + 20
"""What a marker takes at most, with numbers of up to 16 digits."""

LOOKED_AT = 2_000
TELLING = (
    "error",
    "exception",
    "traceback",
    "fatal",
    "panic",
    "fail",
    "abort",
    "denied",
    "exit",
    "summary",
    "total",
    "passed",
    "done",
)


class Caps(Struct, frozen=True):
    """Most characters of one result, and of the results of one turn together when they are sent for the first time."""

    result: int
    turn: int


def caps(window: int) -> Caps:
    """30 % of the window at four characters a token; one result at most 16,000 (32,000 from 100k tokens, 64,000 from 200k)."""
    share = max(KEPT, window * 4 * 30 // 100)
    ceiling = 64_000 if window >= 200_000 else 32_000 if window >= 100_000 else 16_000
    return Caps(result=min(share, ceiling), turn=share)


def shorten(result: ToolResult, most: int) -> Cut | None:
    """The cut that brings a result's text to at most `most` characters, the marker included; None where it has no more anyway.

    Not below `KEPT`. The tail gets 30 % (at most 4,000 characters) if it looks like an error, a summary or the end of JSON, else
    10 % (at most 1,000). Both snap to line ends near by.
    """
    text, most = result.text, max(most, KEPT)
    if len(text) <= most:
        return None
    keep = most - ROOM
    tail = min(keep * 30 // 100, 4_000) if _tells(text) else min(keep // 10, 1_000)
    head = keep - tail
    newline = text.rfind("\n", head * 80 // 100, head)
    head = newline + 1 if newline >= 0 else head
    begin = len(text) - tail
    newline = text.find("\n", begin, begin + tail * 20 // 100)
    return Cut(result.call_id, head, len(text) - (newline + 1) if newline >= 0 else tail)


def _tells(text: str) -> bool:
    end = text[-LOOKED_AT:].lower()
    return end.rstrip().endswith(("}", "]")) or any(word in end for word in TELLING)


def render(result: ToolResult, cut: Cut) -> ToolResult:
    """The result as it is sent: head, marker, tail; images stay where they are. The same object where a cut would not shorten it.

    Characters are counted in `result.text`, the texts of all its parts with a line end between two of them.
    """
    whole = len(result.text)
    left = whole - cut.head - cut.tail
    marker = MARKER.format(left=f"{left:,}", whole=f"{whole:,}")
    if left <= len(marker):
        return result
    parts: list[Text | Image] = []
    at, marked = 0, False
    for part in result.parts:
        if isinstance(part, Image):
            parts.append(part)
            continue
        end = at + len(part.text)
        text = part.text[: max(0, cut.head - at)]
        if not marked and end >= cut.head:
            text, marked = text + marker, True
        text += part.text[max(0, whole - cut.tail - at) :]
        if text or at < cut.head or end > whole - cut.tail:
            parts.append(replace(part, text=text))
        at = end + 1
    return replace(result, parts=tuple(parts))


def sizes_of_turn(lengths: Mapping[str, int], most: Caps) -> dict[str, int]:
    """What each result of a turn may bring in, where that is less than it has: several that are long together share alike."""
    level = max(KEPT, min(most.result, _level(sorted(lengths.values()), most.turn)))
    return {id: level for id, length in lengths.items() if length > level}


def _level(lengths: Sequence[int], most: int) -> int:
    """The height at which ascending lengths have to be cut off so that their sum is at most `most`."""
    left = most
    for at, length in enumerate(lengths):
        share = left // (len(lengths) - at)
        if length > share:
            return share
        left -= length
    return most


def sizes_under_pressure(lengths: Mapping[str, int], most: int, wanted: int | None = None) -> dict[str, int]:
    """Sizes that free at least `wanted` characters, or as many as can be (None), oldest first.

    First each result comes down to `most`; then all of them together, each keeping `KEPT`.
    """
    sizes: dict[str, int] = {}
    freed = 0
    for id, length in lengths.items():
        if wanted is not None and freed >= wanted:
            return sizes
        if length > most:
            sizes[id] = most
            freed += length - most
    excess = sum(lengths.values()) - freed - most
    for id, length in lengths.items():
        if excess <= 0 or (wanted is not None and freed >= wanted):
            return sizes
        size = sizes.get(id, length)
        give = min(excess, size - KEPT)
        if give > 0:
            sizes[id] = size - give
            excess, freed = excess - give, freed + give
    return sizes
