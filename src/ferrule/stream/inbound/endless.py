"""An answer that says one passage over and over, and would go on to the output limit, or for ever where there is none."""

from collections.abc import Sequence

from ferrule.types.fault import Fault
from ferrule.types.stream import Failed, PartBegan, PartDelta, StreamEvent, fold
from ferrule.types.usage import Usage

PERIOD = 500
"""Characters of the longest passage that is looked for."""

WINDOW = 6000
"""Characters at the end of a part that must be nothing but that passage."""

PROBE = 64
WHY = f"the model repeated one passage without end; its answer was broken off after {WINDOW} characters of that"


class Endless:
    """Looks at text and reasoning, each part for itself, once in `PERIOD` characters, so that an answer costs linear time."""

    wants: frozenset[type] = frozenset({PartBegan, PartDelta})

    def __init__(self) -> None:
        self._seen: list[StreamEvent] = []
        self._new: list[str] = []
        self._length = 0
        self._tail = ""

    def take(self, event: StreamEvent) -> Sequence[StreamEvent] | None:
        match event:
            case PartBegan(kind="call"):
                return None
            case PartBegan():
                self._new, self._length, self._tail = [], 0, ""
            case PartDelta(text=text):
                self._new.append(text)
                self._length += len(text)
        self._seen.append(event)
        if self._length < PERIOD:
            return None
        self._tail = (self._tail + "".join(self._new))[-WINDOW:]
        self._new, self._length = [], 0
        if not repeats(self._tail):
            return None
        return event, Failed(Fault("repetition", WHY), fold(self._seen), Usage())


def repeats(tail: str) -> bool:
    """Whether the last characters are one passage of at most `PERIOD` characters, over and over."""
    if len(tail) < WINDOW:
        return False
    period = WINDOW - PROBE - tail.rfind(tail[-PROBE:], 0, WINDOW - 1)
    return period <= PERIOD and tail[period:] == tail[:-period]
