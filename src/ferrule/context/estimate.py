"""How many tokens a request has: an estimate, corrected by what the provider reported for the requests before.

What was reported is taken as exact. Only what has come since, or is gone since, is estimated, by a ratio for each kind of text
(ASCII and other) that is learned from how the reports grew. So the error of a long conversation is that of its last turn.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ferrule.types.messages import AssistantPart, Image, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from ferrule.types.request import Request, ToolSchema
from ferrule.types.usage import Usage

from .pictures import tokens as picture_tokens
from .tokens import count

PLAUSIBLE = (0.4, 3.0, 3_000)
"""A report below this share of the estimate, or above this multiple and so many tokens more, is no count of the request."""

PRIOR = 0.1
FADING = 0.7
SIZEABLE = 400
"""Each growth counts `FADING` times as much as the one after it, one of fewer tokens than `SIZEABLE` less; `PRIOR` is the weight
of a ratio of 1."""

LEAST_RATIO, MOST_RATIO = 0.4, 3.0

PER_MESSAGE = 4
PER_CALL = 12
PER_RESULT = 8
PER_TOOL = 10
OPAQUE_CHARACTERS = 6
"""A signature or encrypted reasoning: base64 that is not tokenized as such."""


class Amount(NamedTuple):
    """Tokens before any correction: of ASCII text, of other text, and of what no ratio is learned for (images)."""

    narrow: float = 0.0
    wide: float = 0.0
    fixed: float = 0.0

    def plus(self, other: "Amount") -> "Amount":
        return Amount(self.narrow + other.narrow, self.wide + other.wide, self.fixed + other.fixed)

    def minus(self, other: "Amount") -> "Amount":
        return Amount(self.narrow - other.narrow, self.wide - other.wide, self.fixed - other.fixed)

    @property
    def total(self) -> float:
        return self.narrow + self.wide + self.fixed


NONE = Amount()


class Estimator:
    """Of one model: vocabularies differ. `calibrated` once a report was taken in.

    Counts of messages are kept, known by identity, so that a conversation that has grown costs only what it has grown by.
    """

    def __init__(self) -> None:
        self._counted: dict[int, tuple[object, Amount]] = {}
        self._ratios = _Ratios()
        self._seen = NONE
        self._reported: int | None = None

    @property
    def calibrated(self) -> bool:
        return self._reported is not None

    def estimate(self, request: Request) -> int:
        """Tokens of the request, without a margin."""
        amount = self._amount(request)
        expected = self._ratios.applied(amount)
        if self._reported is None:
            return math.ceil(expected)
        before = self._ratios.applied(self._seen)
        if expected >= before:
            return math.ceil(self._reported + expected - before)
        return math.ceil(self._reported * expected / before)

    def weigh(self, messages: Sequence[Message]) -> int:
        """Tokens of messages alone, as far as they add to a request."""
        return math.ceil(self._ratios.applied(summed(map(of_message, messages))))

    def observe(self, request: Request, usage: Usage) -> None:
        """What the provider reported for a request. A report that can't be a count of it is not taken in."""
        amount = self._amount(request)
        least, most, more = PLAUSIBLE
        if not amount.total * least <= usage.prompt <= amount.total * most + more or usage.prompt <= 0:
            return
        self._ratios.learn(amount.minus(self._seen), usage.prompt - (self._reported or 0))
        self._seen, self._reported = amount, usage.prompt

    def _amount(self, request: Request) -> Amount:
        if len(self._counted) > 2 * len(request.messages) + 1_000:
            self._counted.clear()
        system = self._known(request.system, lambda: summed(map(of_text, request.system)))
        tools = self._known(request.tools, lambda: summed(map(of_tool, request.tools)))
        counted = self._counted
        amounts = []
        for message in request.messages:
            found = counted.get(id(message))
            if found is None:
                found = counted[id(message)] = (message, of_message(message))
            amounts.append(found[1])
        return summed((system, tools, *amounts))

    def _known(self, part: object, counting: Callable[[], Amount]) -> Amount:
        """The object is kept beside its count, so that its identity is not given to another one."""
        found = self._counted.get(id(part))
        if found is None:
            found = self._counted[id(part)] = (part, counting())
        return found[1]


class _Ratios:
    """Tokens reported for each token estimated, of ASCII and of other text: least squares over how the reports grew."""

    def __init__(self) -> None:
        self._narrow = self._wide = 1.0
        self._square = [0.0, 0.0, 0.0]
        self._right = [0.0, 0.0]

    def applied(self, amount: Amount) -> float:
        return self._narrow * amount.narrow + self._wide * amount.wide + amount.fixed

    def learn(self, grown: Amount, reported: int) -> None:
        """Nothing is learned from a request that has shrunk, or grown only by what no ratio is for."""
        size = grown.narrow + grown.wide
        if grown.narrow < 0 or grown.wide < 0 or size < 1:
            return
        weight = min(1.0, size / SIZEABLE)
        narrow, wide = grown.narrow / size, grown.wide / size
        ratio = min(MOST_RATIO, max(LEAST_RATIO, (reported - grown.fixed) / size))
        added = (narrow * narrow, narrow * wide, wide * wide)
        self._square = [FADING * old + weight * more for old, more in zip(self._square, added, strict=True)]
        self._right = [FADING * old + weight * more * ratio for old, more in zip(self._right, (narrow, wide), strict=True)]
        a, b, d = self._square[0] + PRIOR, self._square[1], self._square[2] + PRIOR
        right = (self._right[0] + PRIOR, self._right[1] + PRIOR)
        determinant = a * d - b * b
        self._narrow = _within((d * right[0] - b * right[1]) / determinant)
        self._wide = _within((a * right[1] - b * right[0]) / determinant)


def _within(ratio: float) -> float:
    return min(MOST_RATIO, max(LEAST_RATIO, ratio))


def summed(amounts: Iterable[Amount]) -> Amount:
    narrow = wide = fixed = 0.0
    for amount in amounts:
        narrow += amount[0]
        wide += amount[1]
        fixed += amount[2]
    return Amount(narrow, wide, fixed)


def of_text(text: str, overhead: float = 0.0) -> Amount:
    narrow, wide = count(text)
    return Amount(narrow + overhead, wide)


def of_message(message: Message) -> Amount:
    return summed((Amount(PER_MESSAGE), *map(of_part, message.parts)))


def of_part(part: AssistantPart | Image | ToolResult) -> Amount:
    match part:
        case Text(text=text):
            return of_text(text)
        case Image():
            return Amount(fixed=picture_tokens(part))
        case ToolCall(name=name, arguments=arguments, opaque=opaque):
            return of_text(arguments, PER_CALL).plus(of_text(name)).plus(_of_opaque(opaque))
        case ToolResult(parts=parts):
            return summed((Amount(PER_RESULT), *map(of_part, parts)))
        case Reasoning(text=text, opaque=opaque):
            return of_text(text).plus(_of_opaque(opaque))


def of_tool(tool: ToolSchema) -> Amount:
    return of_text(f"{tool.name} {tool.description} {tool.parameters}", PER_TOOL)


def _of_opaque(opaque: Opaque | None) -> Amount:
    return NONE if opaque is None else Amount(fixed=len(opaque.data) / OPAQUE_CHARACTERS)
