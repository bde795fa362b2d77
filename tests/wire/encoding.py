"""The bodies that the engine's dialects write, and answers read by its real providers."""

import importlib
from typing import cast

import msgspec

from ferrule.providers.base import Endpoint
from ferrule.providers.memo import Memo
from ferrule.providers.open import open_provider
from ferrule.types.messages import Assistant, ToolCall
from ferrule.types.request import Request
from ferrule.types.stream import Done, StreamEvent


def spelled(endpoint: Endpoint, request: Request) -> bytes:
    module = importlib.import_module(f"ferrule.providers.{endpoint.dialect.replace('-', '_')}")
    return cast(bytes, module.body(endpoint, request, Memo()))


async def asked(endpoint: Endpoint, request: Request) -> Assistant:
    """What comes back when the request is really sent."""
    provider = open_provider(endpoint)
    try:
        events: list[StreamEvent] = [event async for event in provider.stream(request)]
    finally:
        await provider.close()
    last = events[-1]
    assert isinstance(last, Done), last
    return last.message


def stored(message: Assistant) -> Assistant:
    """The message as a journal holds it: with ids of our own."""
    parts = tuple(
        msgspec.structs.replace(part, id=f"call_{number:08x}") if isinstance(part, ToolCall) else part
        for number, part in enumerate(message.parts)
    )
    return msgspec.structs.replace(message, parts=parts)


def at(endpoint: Endpoint, url: str) -> Endpoint:
    return msgspec.structs.replace(endpoint, base_url=url)
