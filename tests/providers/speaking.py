"""One call of a dialect against a loopback server that plays recorded events: what came back, and what was asked."""

import asyncio
from typing import Any

from ferrule.providers.base import Dialect, Endpoint, Profile
from ferrule.providers.open import open_provider
from ferrule.types.request import Request
from ferrule.types.stream import Done, Failed, StreamEvent, fold
from tests.providers.provider_wire import Asked, Reply, ask, serving, sse


def spoken(dialect: Dialect, request: Request, *values: Any, **profile: Any) -> tuple[list[StreamEvent], Asked]:
    async def main() -> tuple[list[StreamEvent], Asked]:
        async with serving(Reply([sse(*values)])) as wire:
            provider = open_provider(Endpoint(dialect, "m", wire.url, "key", profile=Profile(**profile)))
            events = await ask(provider, request)
            await provider.close()
            return events, wire.asked[0]

    events, asked = asyncio.run(main())
    last = events[-1]
    assert isinstance(last, Done | Failed)
    assert fold(events) == (last.message.parts if isinstance(last, Done) else last.partial)
    return events, asked


def done(events: list[StreamEvent]) -> Done:
    assert isinstance(events[-1], Done), events[-1]
    return events[-1]


def failed(events: list[StreamEvent]) -> Failed:
    assert isinstance(events[-1], Failed), events[-1]
    return events[-1]
