"""How many tokens a request has: an estimate, corrected by what the provider reported for the requests before.

What was reported is taken as exact. Only what has come since, or is gone since, is estimated, by a ratio for each kind of text,
learned from how the reports grew. So the error of a long conversation is that of its last turn.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ferrule.types.messages import Image, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from ferrule.types.request import Request, ToolSchema
from ferrule.types.usage import Usage

from .pictures import tokens as picture_tokens
from .tokens import WHOLE, count

PLAUSIBLE = (0.4, 3.0, 3_000)
"""A report below this share of the estimate, or above this multiple and so many tokens more, is no count of the request."""

SMALL = 100
"""A growth of few tokens teaches little: what isn't counted (how a vendor frames a turn) weighs too much in it."""

LEAST_RATIO, MOST_RATIO = 0.3, 3.0

PER_MESSAGE = 4
PER_CALL = 12
PER_RESULT = 8
PER_TOOL = 10
OPAQUE_CHARACTERS = 6
"""A signature or encrypted reasoning: base64 that is not tokenized as such."""


class Amount(NamedTuple):
    """Tokens before any correction, by kind of text (`Tokens`); `fixed` is what no ratio is learned for (images)."""

    text: float = 0.0
    digits: float = 0.0
    wide: float = 0.0
    fixed: float = 0.0

    @property
    def total(self) -> float:
        return sum(self)

    def minus(self, other: "Amount") -> "Amount":
        return Amount(self.text - other.text, self.digits - other.digits, self.wide - other.wide, self.fixed - other.fixed)


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

    def estimate(self, request: Request, gone: Sequence[Message] = (), instead: Sequence[Message] = ()) -> int:
        """Tokens of the request, without a margin; `gone` of it replaced by `instead`."""
        amount = self._amount(request)
        if gone or instead:
            amount = amount.minus(summed(map(of_message, gone)).minus(summed(map(of_message, instead))))
        expected = self._ratios.applied(amount)
        if self._reported is None:
            return math.ceil(expected)
        before = self._ratios.applied(self._seen)
        if expected >= before:
            return self._reported + math.ceil(expected - before)
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
        system = self._known(request.system, lambda: of_texts(request.system))
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
    """Tokens reported for each token estimated, for each kind of text."""

    def __init__(self) -> None:
        self._kinds = (1.0, 1.0, 1.0)

    def applied(self, amount: Amount) -> float:
        text, digits, wide = self._kinds
        return text * amount.text + digits * amount.digits + wide * amount.wide + amount.fixed

    def learn(self, grown: Amount, reported: int) -> None:
        """The smallest change of the ratios that explains a growth. Of a request that has shrunk nothing is learned."""
        kinds = grown[:3]
        if min(kinds) < 0 or not any(kinds):
            return
        step = (reported - self.applied(grown)) / (sum(kind * kind for kind in kinds) + SMALL * SMALL)
        moved = (ratio + step * kind for ratio, kind in zip(self._kinds, kinds, strict=True))
        text, digits, wide = (min(MOST_RATIO, max(LEAST_RATIO, ratio)) for ratio in moved)
        self._kinds = (text, digits, wide)


def summed(amounts: Iterable[Amount]) -> Amount:
    text = digits = wide = fixed = 0.0
    for amount in amounts:
        text += amount[0]
        digits += amount[1]
        wide += amount[2]
        fixed += amount[3]
    return Amount(text, digits, wide, fixed)


def of_message(message: Message) -> Amount:
    """All its texts are counted at once."""
    texts: list[str] = []
    overhead, fixed = float(PER_MESSAGE), 0.0
    for part in message.parts:
        match part:
            case Text(text=text):
                texts.append(text)
            case ToolResult(parts=parts):
                overhead += PER_RESULT
                texts += [each.text for each in parts if isinstance(each, Text)]
                fixed += sum(picture_tokens(each) for each in parts if isinstance(each, Image))
            case ToolCall(name=name, arguments=arguments, opaque=opaque):
                overhead += PER_CALL
                texts += (name, arguments)
                fixed += _opaque(opaque)
            case Reasoning(text=text, opaque=opaque):
                texts.append(text)
                fixed += _opaque(opaque)
            case Image():
                fixed += picture_tokens(part)
    return of_texts(texts, overhead, fixed)


def of_tool(tool: ToolSchema) -> Amount:
    return of_texts((tool.name, tool.description, tool.parameters), PER_TOOL)


def of_texts(texts: Sequence[str], overhead: float = 0.0, fixed: float = 0.0) -> Amount:
    """Together, which is faster, unless a sample would then have to speak for what can be counted."""
    joined = texts[0] if len(texts) == 1 else "\n".join(texts)
    if len(joined) > WHOLE and len(texts) > 1:
        return summed((Amount(overhead, fixed=fixed), *(of_texts((text,)) for text in texts)))
    text, digits, wide = count(joined)
    return Amount(text + overhead, digits, wide, fixed)


def _opaque(opaque: Opaque | None) -> float:
    return 0.0 if opaque is None else len(opaque.data) / OPAQUE_CHARACTERS
