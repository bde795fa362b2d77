"""Tells repetition from progress: a warning to the model first, then the run ends as stuck.

A changed result is progress, and so are other arguments: a file read page by page is never flagged. What changes by itself
(times, durations, process ids) is none. The state outlives attempts and compactions, and ends with the run.
"""

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from msgspec import Struct

from ferrule.types import json
from ferrule.types.messages import ToolCall, ToolResult

LONGEST_CYCLE = 3
READ = 32_000
"""Characters of a result whose volatile parts are looked for; its whole text counts otherwise."""


class Bound(NamedTuple):
    """From which count on the model is warned, and at which the run is stopped."""

    warn: int
    stop: int


SAME = Bound(3, 6)
"""The same turns, up to three in a circle, with the same results."""

POLLING = Bound(5, 10)
"""The same turns whose results differ in nothing but what changes by itself."""

UNKNOWN = Bound(3, 6)
"""Turns that only call tools that do not exist."""

FAILING = Bound(4, 8)
"""Failures of one tool, on the same file where it names one, that say the same, without a success of it between them."""

FRUITLESS = Bound(10, 20)
"""Turns without a single call that succeeded, whatever they tried."""

_VOLATILE = (
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"  # dates, with or without a time
    r"|(?<![\w:.])\d{1,2}:\d\d:\d\d(?:[.,]\d+)?(?![\w:])"  # times of day, not file:line:column
    r"|\b(?:\d+(?:\.\d+)?(?:ns|µs|us|ms|s|m|h)){1,3}\b"  # 3.2s, 1h20m
    r"|\b\d+(?:\.\d+)? (?:ms|s|secs?|seconds?|mins?|minutes?|hours?|milliseconds?)\b"
    r"|\b1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?\b"  # seconds or milliseconds since 1970
    r"|\b[Pp][Ii][Dd][ =:#]{0,3}\d+|(?<=\w)\[\d+\](?=:)"  # pid 123, worker[123]:
    r"|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b|\b0x[0-9a-fA-F]{6,16}\b"
)
_PARTICULAR = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"|\d+")


class Loop(Struct, frozen=True):
    """What repeats, in a sentence, and what the model may do about it."""

    why: str
    advice: str
    stop: bool

    @property
    def warning(self) -> str:
        return f"{self.why} {self.advice}"


@dataclass
class Repetition:
    """Watches the turns of one run. `exact` and `steady` hold a print of each of the last turns: names, arguments and results,
    the latter as they are and without what changes by itself.
    """

    exact: list[bytes] = field(default_factory=list)
    steady: list[bytes] = field(default_factory=list)
    failures: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    unknown: int = 0
    fruitless: int = 0

    def add(self, calls: Sequence[ToolCall], results: Sequence[ToolResult], known: Collection[str]) -> Loop | None:
        """What a turn shows, the worst first; None where it may be progress. `known` are the names of the tools."""
        self._print(self.exact, calls, [result.text for result in results], results)
        self._print(self.steady, calls, [steady(result.text) for result in results], results)
        names = {call.name for call in calls}
        self.unknown = self.unknown + 1 if calls and names.isdisjoint(known) else 0
        self.fruitless = self.fruitless + 1 if not any(result.kind == "ok" for result in results) else 0
        worst = self._failed(calls, results, known)
        loops = [
            _loop(SAME, _cycles(self.exact), "The same calls gave the same results {} times in a row.", CHANGE),
            _loop(POLLING, _cycles(self.steady), "The same calls gave results {} times that differ only in times and ids.", WAIT),
            _loop(UNKNOWN, self.unknown, "{} turns in a row called only tools that do not exist.", known_tools(known)),
            _loop(FAILING, worst[1], f"{worst[0]} failed in the same way {{}} times, with no success between.", REREAD),
            _loop(FRUITLESS, self.fruitless, "Not one call of the last {} turns succeeded.", CHANGE),
        ]
        found = [loop for loop in loops if loop is not None]
        return next((loop for loop in found if loop.stop), found[0] if found else None)

    def _print(self, prints: list[bytes], calls: Sequence[ToolCall], texts: Sequence[str], results: Sequence[ToolResult]) -> None:
        digest = hashlib.sha256()
        for call in calls:
            digest.update(f"{call.name}\0{call.arguments}\0".encode())
        for result, text in zip(results, texts, strict=True):
            digest.update(f"{result.kind}\0{text}\0".encode())
        prints.append(digest.digest())
        del prints[: -POLLING.stop * LONGEST_CYCLE]

    def _failed(self, calls: Sequence[ToolCall], results: Sequence[ToolResult], known: Collection[str]) -> tuple[str, int]:
        """The tool with the longest streak among those that failed in this turn; a turn counts once for each."""
        arguments = {call.id: call.arguments for call in calls}
        worst, counted = ("", 0), set()
        for result in results:
            if result.name not in known:
                continue
            key = (result.name, _path(arguments.get(result.call_id, "{}")))
            if result.kind == "ok":
                self.failures.pop(key, None)
            elif result.kind == "error" and key not in counted:
                counted.add(key)
                said = _PARTICULAR.sub("#", result.text.partition("\n")[0])
                before, count = self.failures.get(key, (said, 0))
                self.failures[key] = (said, count + 1 if said == before else 1)
                worst = max(worst, (result.name, self.failures[key][1]), key=lambda each: each[1])
        return worst


CHANGE = "It will not change by itself: do something else, or end the task by its terminal action."
WAIT = "Nothing changes: wait once and for long in one command, find out what it waits for, or go on without it."
REREAD = (
    "Do not try another variant: read the current content or the tool's description again, then change what the error names, "
    "use another tool, or end the task by its terminal action and say what is missing."
)


def known_tools(known: Collection[str]) -> str:
    return f"The tools are: {', '.join(known)}. Call one of them by exactly this name."


@cache
def _volatile() -> re.Pattern[str]:
    """Compiled where a result is first looked at: many runs never do, and it takes a millisecond."""
    return re.compile(_VOLATILE)


def steady(text: str) -> str:
    """The text without what changes by itself."""
    return _volatile().sub("~", text[:READ]) + text[READ:]


def _cycles(prints: Sequence[bytes]) -> int:
    """How often the last cycle of up to three turns has been seen in a row, 1 when it is new."""
    return max(_repeats(prints, length) for length in range(1, LONGEST_CYCLE + 1))


def _repeats(prints: Sequence[bytes], length: int) -> int:
    cycle = prints[-length:]
    count, end = 0, len(prints)
    while end >= length and prints[end - length : end] == cycle:
        count, end = count + 1, end - length
    return count


def _loop(bound: Bound, count: int, why: str, advice: str) -> Loop | None:
    return Loop(why.format(count), advice, count >= bound.stop) if count >= bound.warn else None


def _path(arguments: str) -> str:
    given, _ = json.loads(arguments)
    return json.string(given, "path") or json.string(given, "file_path")
