"""The provider whose model is a script: it checks each request as the real APIs do, then plays the next step."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator

from ferrule.providers.base import Endpoint
from ferrule.types.fault import Fault
from ferrule.types.messages import Assistant, Opaque
from ferrule.types.request import Request
from ferrule.types.stream import Done, Failed, Noted, PartBegan, PartDelta, PartOpaque, StreamEvent, fold
from ferrule.types.usage import NOTHING, Usage

from .answer import Said, Unplayable, pieces, place, say, stop_of, usage_of
from .faults import Cut, Http, Reset, Stall, StreamError, as_fault
from .position import Position, Turn
from .script import load
from .strict import violations
from .view import view

_LONE = re.compile("[\ud800-\udfff]")


class ScriptedProvider:
    """Plays the script at `endpoint.model` (a path). Raises UsageError when the script is missing or wrong."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._script = load(endpoint.model)
        self._position = Position(self._script)

    @property
    def endpoint(self) -> Endpoint:
        return self._endpoint

    async def close(self) -> None:
        """Nothing is held open."""

    async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        """One play of one step. See `providers.base.Provider.stream`."""
        model = self._endpoint.model
        if found := violations(request, model):
            yield _refused(f"rules that the request breaks: {'; '.join(found[:10])}")
            return
        seen = view(request, model)
        turn = self._position.choose(seen)
        if turn is None:
            yield _refused(f"the script has no step left for this request (it has {len(self._script.steps)})")
            return
        if isinstance(turn.step.fault, Http):
            yield Failed(as_fault(turn.step.fault), (), NOTHING)
            return
        try:
            said = say(turn, seen)
        except Unplayable as problem:
            yield _refused(str(problem))
            return
        whole = tuple(map(_whole, said))
        for index, (part, clean) in enumerate(zip(said, whole, strict=True)):
            if part != clean:
                yield Noted("scripted", f"replaced half a surrogate pair in part {index}")
        async for event in self._play(turn, whole, seen.characters):
            yield event

    async def _play(self, turn: Turn, said: tuple[Said, ...], characters: int) -> AsyncIterator[StreamEvent]:
        fault, delay = turn.step.fault, turn.step.delay
        assert not isinstance(fault, Http)
        strikes = place(said, fault.at, fault.bytes) if fault else None
        events: list[StreamEvent] = []
        spoken = 0
        for event in _events(said, turn.step.chunk, strikes, turn.mark.opaque(self._endpoint.model)):
            if strikes is not None and spoken >= strikes and not isinstance(event, PartOpaque):
                if not isinstance(fault, Stall):
                    break
                await asyncio.sleep(fault.seconds)
                strikes = None
            if isinstance(event, PartDelta):
                if delay:
                    await asyncio.sleep(delay)
                spoken += len(event.text)
            events.append(event)
            yield event
        if isinstance(fault, Stall) and strikes is not None:
            await asyncio.sleep(fault.seconds)
        if isinstance(fault, Cut | Reset | StreamError):
            yield Failed(as_fault(fault), fold(events), NOTHING if not events else Usage())
            return
        stop = stop_of(turn, said)
        if stop == "end" and any(part.kind == "call" for part in said):
            stop = "calls"
        message = Assistant(fold(events), stop, self._endpoint.name)
        yield Done(message, self._priced(usage_of(turn, said, characters)))

    def _priced(self, usage: Usage | None) -> Usage:
        price = self._endpoint.profile.price
        if usage is None or price is None:
            return usage or Usage()
        return Usage(usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning, cost=price.cost(usage))


def _refused(detail: str) -> Failed:
    return Failed(Fault("bad_request", detail, 400), (), NOTHING)


def _whole(said: Said) -> Said:
    """Without halves of surrogate pairs: no provider lets them through."""
    text = None if said.text is None else _LONE.sub("\ufffd", said.text)
    return Said(said.kind, text, said.id and _LONE.sub("\ufffd", said.id), _LONE.sub("\ufffd", said.name))


def _events(said: tuple[Said, ...], chunk: int | None, border: int | None, mark: Opaque) -> Iterator[StreamEvent]:
    """The events of all parts, cut into deltas; a part whose content is null is no part, and what says nothing bears no mark."""
    index = spoken = 0
    for part in said:
        if part.text is None:
            continue
        yield PartBegan(index, part.kind, part.id or "", part.name)
        for piece in pieces(part.text, chunk, None if border is None else border - spoken):
            yield PartDelta(index, piece)
        if part.kind == "call" or part.text.strip():
            yield PartOpaque(index, mark)
        spoken += len(part.text)
        index += 1
