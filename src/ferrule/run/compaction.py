"""Makes room by summarising: what was said longest ago is handed over in short form, as one record (law 8).

Nothing is stored before the summary was measured to be worth it, so that a failure and a cancellation leave the conversation as
it was. Every end has a sentence, every wait a limit.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ferrule.attempt.fitting import reserve
from ferrule.attempt.ledger import Ledger
from ferrule.attempt.setup import Setup
from ferrule.context.compaction.groups import Boundary, boundary, groups
from ferrule.context.compaction.handover import Facts, certain, said_in, written
from ferrule.context.compaction.identifiers import missing, wanted
from ferrule.context.compaction.passages import CLIPS, Passage, passages
from ferrule.context.compaction.prompts import LONGEST_FOCUS
from ferrule.context.compaction.sizes import Sizes, chunks, sizes
from ferrule.context.estimate import Estimator
from ferrule.context.preflight import prompt_budget
from ferrule.context.shrink import Shrinking, kept_from
from ferrule.types.fault import Fault
from ferrule.types.messages import Message, Text, User
from ferrule.types.records import Cut, Shrunk
from ferrule.types.request import Request
from ferrule.types.usage import NOTHING, Usage

from .facts import facts_of
from .summary import Bounds, GaveUp, Summariser

Why = Literal["preflight", "overflow", "timeout", "asked"]

KEEP_RECENT = 20_000
"""Tokens at the end that stay as they are, where they are no more than a quarter of the conversation."""
GAIN, GAIN_AGAIN = 0.1, 0.25
"""The part of the request that a compaction must save; more where hardly anything was said since the last one."""
GROWN = 1.1
FILLED = 0.6
"""The part of what a prompt may have that is aimed at, so that there is room for the work to go on."""
MOST_CHUNKS = 12


class Compacted(Struct, frozen=True):
    """The record that was stored; requests are shorter from here on."""

    shrunk: Shrunk


class NotCompacted(Struct, frozen=True):
    """The conversation is as it was. `why` is a sentence; `fault` is what the provider did wrong, where that was it."""

    why: str
    fault: Fault | None = None
    usage: Usage = NOTHING


class _Shortened(Struct, frozen=True):
    """A conversation as `Shrinking` sees it, with a compaction that is not stored."""

    messages: Sequence[Message]
    cuts: Mapping[str, Cut]
    compacted: Shrunk | None
    person: Sequence[User]
    answers: Mapping[str, tuple[str, str]]


class _Plan(Struct, frozen=True):
    """`window` is what a request for a summary may fill; `begin` is the first message that no summary covers yet."""

    before: int
    window: int
    begin: int
    cut: Boundary
    sizes: Sizes
    person: frozenset[int]


async def compact(
    setup: Setup, ledger: Ledger, why: Why, observed: int | None = None, focus: str = "", bounds: Bounds | None = None
) -> Compacted | NotCompacted:
    """Summarise what was said longest ago and store that as one record.

    `observed`: tokens of the refused request, as the provider counted them. Every call is counted in `ledger`. Raises
    LeaseLost, StoreError and cancellation; then nothing was stored.
    """
    compaction = _Compaction(setup, ledger, why, focus[:LONGEST_FOCUS], bounds or Bounds())
    return await compaction.run(observed)


class _Compaction:
    def __init__(self, setup: Setup, ledger: Ledger, why: Why, focus: str, bounds: Bounds) -> None:
        self.setup = setup
        self.ledger = ledger
        self.why: Why = why
        self.focus = focus
        self.bounds = bounds
        self.conversation = setup.log.conversation
        self.todos = tuple(todo for todo in self.conversation.todos if todo.status != "completed")
        self.endpoint = setup.provider.endpoint
        self.estimator = setup.fitting.estimators.get(self.endpoint.name) or Estimator()
        self.began = time.monotonic()

    async def run(self, observed: int | None) -> Compacted | NotCompacted:
        plan = self.plan(observed)
        if isinstance(plan, str):
            return NotCompacted(plan)
        verdict = await self.setup.hooks.before_compact(self.why, plan.before, self.focus)
        if verdict.cancel is not None:
            return NotCompacted(f"A hook forbids it: {verdict.cancel}")
        if verdict.summary is not None:
            return await self.store(plan, verdict.summary, plan.cut.cut, NOTHING, None)
        facts = facts_of(self.setup, self.conversation.messages[: plan.cut.cut])
        summariser = Summariser(self.setup, self.ledger, plan.sizes, self.focus, self.certain(plan, facts), self.bounds)
        text, covered, gave_up = await self.summarise(plan, facts, summariser)
        return await self.store(plan, text, covered, summariser.usage, gave_up)

    def plan(self, observed: int | None) -> _Plan | str:
        """Where to cut, and how much goes into one request; or why there is nothing to do."""
        conversation, messages = self.conversation, self.conversation.messages
        before = self.size(conversation.compacted)
        begin = kept_from(messages, conversation.compacted)
        said = {id(message) for message in conversation.person}
        person = frozenset(at for at, message in enumerate(messages) if id(message) in said)
        window = self.window(before, observed)
        lengths = [self.tokens(message) for message in messages[begin:]]
        measured = sizes(window, sum(lengths) / max(1, len(lengths)), self.endpoint.profile.max_output)
        told = sum(self.tokens(message) for at, message in enumerate(messages) if at >= begin and at not in person)
        cut = self.cut(begin, min(KEEP_RECENT, told // 4), window, measured.handover, person)
        if cut is None:
            return "There is nothing to summarise: before its last answer, the model has said nothing."
        least = self.after(cut, 0)
        if not self.worth(before, least):
            return (
                f"A summary would not make enough room: what the person said, the instructions, the tools and the last "
                f"answer take {least:,} of {before:,} tokens."
            )
        return _Plan(before, window, begin, cut, measured, person)

    def cut(self, begin: int, keep: int, window: int, summary: int, person: frozenset[int]) -> Boundary | None:
        """Where a request would still take much of what a prompt may, less is kept at the end: down to a quarter so that there is
        room to go on, down to the last answer only where it would not fit otherwise."""
        budget, least, found = prompt_budget(window, reserve(self.endpoint)), keep // 4, None
        while True:
            found = boundary(self.conversation.messages, begin, keep, self.tokens, person) or found
            most = FILLED * budget if keep >= least else budget
            if keep == 0 or (found is not None and (self.why == "asked" or self.after(found, summary) <= most)):
                return found
            keep //= 2

    def window(self, before: int, observed: int | None) -> int:
        """In our tokens. An unknown window held the last request; of a refused one it is taken to hold half."""
        known = self.setup.fitting.window(self.endpoint)
        if known is None:
            return max(1_000, before if self.why == "asked" else before // 2)
        return known if observed is None or observed <= before else known * before // observed

    async def summarise(self, plan: _Plan, facts: Facts, summariser: Summariser) -> tuple[str, int, GaveUp | None]:
        """The summary and the message that it reaches up to; of a turn that the cut splits, a shorter one behind it."""
        messages, (cut, turn) = self.conversation.messages, plan.cut
        listed = " ".join((*facts.read, *facts.changed))
        names = missing(wanted(messages[:cut], messages[cut:]), listed)
        before = said_in(self.conversation.compacted.summary) if self.conversation.compacted is not None else ""
        split = turn < cut
        main = await summariser.write("handover", self.chunks(plan, plan.begin, turn), plan.begin, before, () if split else names)
        handed = main
        if split and main.gave_up is None:
            handed = await summariser.write("turn", self.chunks(plan, turn, cut), turn, "", missing(names, main.text))
        about_turn = handed.text if handed is not main else ""
        covered = handed.covered
        facts = facts if covered == cut else facts_of(self.setup, messages[:covered])
        left_out = missing(names, f"{main.text} {about_turn} {listed}")
        return written(main.text, about_turn, facts, left_out), covered, handed.gave_up

    def certain(self, plan: _Plan, facts: Facts) -> str:
        words = [part.text for message in self.conversation.person for part in message.parts if isinstance(part, Text)]
        return certain(words, facts, self.todos, 2 * plan.sizes.handover)

    def chunks(self, plan: _Plan, begin: int, end: int) -> list[tuple[Passage, ...]]:
        """Long results and arguments are clipped the more, the more chunks there would be."""
        messages = self.conversation.messages[:end]
        found: list[tuple[Passage, ...]] = []
        for clip_at in CLIPS:
            made = passages(
                messages,
                groups(messages, begin),
                plan.person,
                clip_at,
                self.setup.mask.text,
                lambda text: self.tokens(User((Text(text),))),
                plan.sizes.oversized,
            )
            found = chunks(made, plan.sizes.chunk)
            if len(found) <= MOST_CHUNKS and not any(passage.left_out for passage in made):
                break
        return found

    async def store(
        self, plan: _Plan, summary: str, covered: int, usage: Usage, gave_up: GaveUp | None
    ) -> Compacted | NotCompacted:
        """One record, if enough was gained; what a failure cost is recorded too, with nothing shortened by it."""
        shrunk = Shrunk(
            self.why,
            messages=covered,
            summary=self.setup.mask.text(summary),
            todos=self.todos,
            before=plan.before,
            usage=usage,
            seconds=round(time.monotonic() - self.began, 3),
        )
        after = self.size(shrunk) if covered > plan.begin else plan.before
        if covered > plan.begin and self.worth(plan.before, after):
            shrunk = replace(shrunk, after=after)
            await self.setup.log.add(shrunk)
            return Compacted(shrunk)
        if usage != NOTHING:
            await self.setup.log.add(Shrunk(self.why, before=plan.before, after=plan.before, usage=usage, seconds=shrunk.seconds))
        if gave_up is not None:
            return NotCompacted(f"No summary could be made. {gave_up.why}", gave_up.fault, usage)
        return NotCompacted(f"The summary saved too little: {after:,} of {plan.before:,} tokens are left.", None, usage)

    def worth(self, before: int, after: int) -> bool:
        last = self.conversation.compacted
        again = last is not None and before < last.after * GROWN
        return after <= before * (1 - (GAIN_AGAIN if again else GAIN))

    def after(self, cut: Boundary, summary: int) -> int:
        """The size of the request with a summary of so many tokens."""
        return summary + self.size(Shrunk(self.why, messages=cut.cut, todos=self.todos))

    def size(self, compacted: Shrunk | None) -> int:
        """Estimated tokens of the next request if `compacted` were stored."""
        known, setup = self.conversation, self.setup
        shortened = _Shortened(known.messages, known.cuts, compacted, known.person, known.answers)
        return self.estimator.estimate(Request(setup.system, Shrinking().of(shortened), setup.schemas))

    def tokens(self, message: Message) -> int:
        return self.estimator.weigh((message,))
