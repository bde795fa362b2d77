"""Each kind of silence by itself, the clock that an attempt shares with its call, and who is exempt."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ferrule.providers.base import Dialect, Endpoint, Profile
from ferrule.providers.connection.watch import Timeouts, Watch
from ferrule.providers.http import IDLE_SECONDS, timeouts_of
from ferrule.providers.open import open_provider
from ferrule.types.messages import Text, User
from ferrule.types.request import Request
from ferrule.types.stream import Done, Failed, StreamEvent
from tests.providers.provider_wire import ask, sse

TEXT = {"choices": [{"index": 0, "delta": {"content": "par"}}]}
FINISH = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
DIALECTS: tuple[Dialect, ...] = ("openai", "openai-responses", "anthropic", "google")


@asynccontextmanager
async def speaking(*pieces: bytes | float, rest: bytes = b"") -> AsyncIterator[str]:
    """A server that sends pieces, waits in between, then sends `rest` every 20 ms, or nothing, until the other side leaves."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        try:
            for piece in pieces:
                if isinstance(piece, bytes):
                    writer.write(piece)
                    await writer.drain()
                else:
                    await asyncio.sleep(piece)
            while rest:
                writer.write(rest)
                await writer.drain()
                await asyncio.sleep(0.02)
            while await reader.read(65_536):
                pass
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


def answered(
    *pieces: bytes | float, rest: bytes = b"", seconds: float | None = None, dialect: Dialect = "openai", **profile: Any
) -> Any:
    async def main() -> StreamEvent:
        async with speaking(*pieces, rest=rest) as url:
            provider = open_provider(Endpoint(dialect, "m", url, "key", profile=Profile(**profile)))
            try:
                return (await ask(provider, Request((), (User((Text("go"),)),), seconds=seconds)))[-1]
            finally:
                await provider.close()

    return asyncio.run(main())


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("limit", ["first_event_timeout", "idle_timeout", "total_timeout"])
def test_no_answer_at_all(dialect: Dialect, limit: str) -> None:
    last = answered(dialect=dialect, **{limit: 0.1})
    assert last.fault.code == ("total_timeout" if limit == "total_timeout" else "timeout")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_headers_and_then_no_first_event(dialect: Dialect) -> None:
    last = answered(HEAD, dialect=dialect, first_event_timeout=0.1, idle_timeout=5)
    assert (last.fault.code, last.fault.detail) == ("first_event_timeout", "0.1 seconds without a first event")


def test_comments_keep_a_connection_open_and_are_no_first_event() -> None:
    last = answered(HEAD, rest=b": still there\n\n", first_event_timeout=0.1, idle_timeout=5)
    assert last.fault.code == "first_event_timeout"
    patient = answered(HEAD, *[b": still there\n\n", 0.3] * 3, sse(TEXT, FINISH, done=True), idle_timeout=0.7)
    assert isinstance(patient, Done)


def test_silence_after_the_first_event() -> None:
    last = answered(HEAD + sse(TEXT), first_event_timeout=5, idle_timeout=0.1)
    assert (last.fault.code, last.partial) == ("idle_timeout", (Text("par"),))


def test_an_answer_that_takes_too_long_although_it_is_never_silent() -> None:
    last = answered(HEAD, rest=sse(TEXT), idle_timeout=5, total_timeout=0.15)
    assert last.fault.code == "total_timeout"
    assert last.partial


def test_no_request_outlives_its_attempt() -> None:
    last = answered(HEAD, rest=sse(TEXT), seconds=0.15)
    assert (last.fault.code, last.fault.detail) == ("total_timeout", "not complete after 0.15 seconds")
    sooner = answered(HEAD, rest=sse(TEXT), seconds=5, total_timeout=0.15)
    assert sooner.fault.detail == "not complete after 0.15 seconds"


def test_a_time_out_of_zero_is_no_limit() -> None:
    last = answered(HEAD, 0.2, sse(TEXT, FINISH, done=True), first_event_timeout=0, idle_timeout=0, total_timeout=0)
    assert isinstance(last, Done)


def test_a_cancelled_call_is_cancelled_and_no_fault() -> None:
    async def main() -> None:
        async with speaking(HEAD + sse(TEXT)) as url:
            provider = open_provider(Endpoint("openai", "m", url, profile=Profile(idle_timeout=5)))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    async for _ in provider.stream(Request((), (User((Text("go"),)),))):
                        pass
            await provider.close()

    asyncio.run(main())


NEAR, FAR = "http://10.1.2.3:8000/v1", "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        (Endpoint("openai", "m", FAR), Timeouts(None, IDLE_SECONDS, None)),
        (Endpoint("openai", "m", NEAR), Timeouts()),
        (Endpoint("openai", "glm:cloud", NEAR), Timeouts(None, IDLE_SECONDS, None)),
        (Endpoint("openai", "m", NEAR, profile=Profile(idle_timeout=7)), Timeouts(None, 7, None)),
        (Endpoint("openai", "m", FAR, profile=Profile(idle_timeout=0)), Timeouts()),
        (Endpoint("openai", "m", FAR, profile=Profile(None, first_event_timeout=9, total_timeout=60)), Timeouts(9, 120, 60)),
    ],
)
def test_the_exemption_of_a_near_server_is_only_a_default(endpoint: Endpoint, expected: Timeouts) -> None:
    assert timeouts_of(endpoint) == expected


def test_one_timer_serves_an_answer_of_many_pieces() -> None:
    async def main() -> int:
        loop, made = asyncio.get_running_loop(), 0
        watch = Watch(Timeouts(idle=30.0, total=60.0))

        async def piece() -> int:
            return 1

        for _ in range(1000):
            before = watch._timer
            made += await watch.wait(piece)
            if before is not None:
                assert watch._timer is before
        watch.close()
        assert loop.is_running()
        return made

    assert asyncio.run(main()) == 1000


def test_a_failed_call_tells_what_had_come() -> None:
    last = answered(HEAD + sse(TEXT), idle_timeout=0.1)
    assert isinstance(last, Failed)
    assert last.fault.sentence == "The provider stopped sending in the middle of its answer. It said: 0.1 seconds of silence"
