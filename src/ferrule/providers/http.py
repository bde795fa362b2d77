"""The flow that every vendor dialect shares: one POST, one stream of server-sent events, exactly one terminal event."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from ferrule import __version__
from ferrule.types.fault import Fault
from ferrule.types.json import BadJson, loads
from ferrule.types.messages import Image, Reasoning, StopReason, Text, ToolCall
from ferrule.types.request import Request
from ferrule.types.stream import StreamEvent
from ferrule.types.usage import NOTHING, Usage

from .assemble import Assembler
from .base import Endpoint
from .classify import error_fault, network_fault, shown, status_fault
from .connection.sse import ServerEvent, SseDecoder
from .connection.watch import Timeouts, Watch
from .hosts import host_of, is_local, is_loopback
from .memo import Memo

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 30.0
ERROR_BODY_BYTES = 65_536
ERROR_BODY_SECONDS = 5.0
DRAIN_SECONDS = 0.1


class Decoder:
    """Turns one answer's server events into assembler operations. One decoder an answer.

    `complete` says that the vendor's own end mark was seen and nothing more needs to be read.
    """

    complete = False

    def event(self, name: str, value: Any) -> Fault | None:
        """Take one decoded event; a fault ends the answer."""
        raise NotImplementedError

    def end(self) -> StopReason | Fault:
        """Called once, at the end mark or at a clean end of the stream: why the model stopped, or what is missing."""
        raise NotImplementedError

    def abandon(self) -> None:
        """Called when the answer failed: give the assembler what was held back, for people to see."""


class Dialect(Struct, frozen=True):
    """What distinguishes a vendor. `url` and `headers` of a request, its JSON `body`, and how its events are read."""

    url: Callable[[Endpoint], str]
    headers: Callable[[Endpoint], dict[str, str]]
    body: Callable[[Endpoint, Request, Memo], bytes]
    decoder: Callable[[Endpoint, Request, Assembler], Decoder]


def kept(endpoint: Endpoint, part: Reasoning | Text | ToolCall) -> Any:
    """A part's opaque data as JSON, where this dialect and model made it; else None: it goes back to nobody else."""
    opaque = part.opaque
    if opaque is None or opaque.dialect != endpoint.dialect or opaque.model != endpoint.model:
        return None
    return loads(opaque.data)[0]


COMMON_MEDIA = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def left_out(endpoint: Endpoint, image: Image, media: frozenset[str] = COMMON_MEDIA) -> str:
    """What stands in the place of an image that the model cannot be sent; empty for one that it can."""
    if endpoint.profile.images is False:
        return f"[an image ({image.media_type}) was left out: this model does not read images]"
    if image.media_type not in media:
        return f"[an image was left out: this provider does not take {image.media_type}]"
    return ""


def most_output(endpoint: Endpoint, request: Request) -> int | None:
    """How long the answer may be: what was asked for, within what the model can say; None where nobody asked."""
    limit = endpoint.profile.max_output
    return min(request.max_output, limit) if request.max_output and limit else request.max_output


NEVER_SENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol", "InvalidURL"})
"""Exceptions after which it is certain that no request reached the model, so that its cost is nothing."""

IDLE_SECONDS = 120.0


def timeouts_of(endpoint: Endpoint) -> Timeouts:
    """As the profile says (0 is no limit). Where it says nothing, silence is limited unless the server is a near one: that may
    read a long prompt for minutes. A model that a near server asks in the cloud is far."""
    profile = endpoint.profile
    near = is_local(endpoint.base_url) and not endpoint.model.endswith((":cloud", "-cloud"))
    idle = profile.idle_timeout if profile.idle_timeout is not None else 0.0 if near else IDLE_SECONDS
    return Timeouts(profile.first_event_timeout or None, idle or None, profile.total_timeout or None)


def _shorter(one: float | None, other: float | None) -> float | None:
    return one if other is None else other if one is None else min(one, other)


CUT = Fault("cut", "the stream ended without its end mark")


class HttpProvider:
    """One dialect bound to an endpoint, whose profile says how long it is waited for."""

    def __init__(self, endpoint: Endpoint, dialect: Dialect) -> None:
        self._endpoint = endpoint
        self._dialect = dialect
        self._timeouts = timeouts_of(endpoint)
        self._client: httpx2.AsyncClient | None = None
        self._memo = Memo()

    @property
    def endpoint(self) -> Endpoint:
        return self._endpoint

    async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        assembler = Assembler(self._endpoint.dialect, self._endpoint.model, self._endpoint.profile.price)
        answer = _Answer(self._dialect.decoder(self._endpoint, request, assembler), assembler)
        chunks = self._chunks(request, answer)
        try:
            async for chunk in chunks:
                if isinstance(chunk, _Broken):
                    answer.abandon()
                    for event in assembler.failed(self._masked(chunk.fault), chunk.usage):
                        yield event
                    return
                answer.feed(chunk)
                for event in assembler.take():
                    yield event
        finally:
            await chunks.aclose()
        result = answer.close()
        ending = assembler.failed(self._masked(result)) if isinstance(result, Fault) else assembler.done(result)
        for event in ending:
            yield event

    async def close(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    def _masked(self, fault: Fault) -> Fault:
        key = self._endpoint.key
        if not key or key not in fault.detail:
            return fault
        return replace(fault, detail=fault.detail.replace(key, "[key]"))

    async def _chunks(self, request: Request, answer: "_Answer") -> "AsyncGenerator[bytes | _Broken, None]":
        """The bytes of the answer; at most one `_Broken`, then nothing. The connection is given back on every way out."""
        response: httpx2.Response | None = None
        watch = Watch(replace(self._timeouts, total=_shorter(self._timeouts.total, request.seconds)))
        try:
            if not host_of(self._endpoint.base_url):
                wrong = f"the base URL {self._endpoint.base_url!r} names no host and port"
                yield _Broken(Fault("bad_request", shown(wrong)), NOTHING)
                return
            response = await watch.wait(lambda: self._send(request))
            watch.answered = True
            problem = await _problem(response)
            if problem is not None:
                yield _Broken(problem, NOTHING)
                return
            reader = response.aiter_bytes() if "content-encoding" in response.headers else response.aiter_raw()
            async with aclosing(reader):
                while answer.result is None:
                    chunk = await watch.wait(lambda: anext(reader, None))
                    if chunk is None:
                        return
                    yield chunk
                    if answer.begun:
                        watch.begin()
                if not isinstance(answer.result, Fault):
                    await _drain(reader)
        except Exception as error:
            if isinstance(error, TimeoutError) and watch.late is not None:
                yield _Broken(watch.late)
                return
            fault = network_fault(error, streaming=response is not None)
            if fault is None:
                raise
            yield _Broken(fault, NOTHING if type(error).__name__ in NEVER_SENT else None)
        finally:
            watch.close()
            if response is not None:
                await response.aclose()

    async def _send(self, request: Request) -> "httpx2.Response":
        url = self._dialect.url(self._endpoint)
        body = self._dialect.body(self._endpoint, request, self._memo)
        client = self._open()
        return await client.send(client.build_request("POST", url, content=body, headers=self._headers()), stream=True)

    def _headers(self) -> dict[str, str]:
        own = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "accept-encoding": "identity",
            "user-agent": f"ferrule/{__version__}",
        }
        return own | self._dialect.headers(self._endpoint) | dict(self._endpoint.headers)

    def _open(self) -> "httpx2.AsyncClient":
        """A loopback server is asked directly: no proxy, and no certificates loaded for nothing."""
        if self._client is None:
            import httpx2

            plain = is_loopback(self._endpoint.base_url) and self._endpoint.base_url.startswith("http:")
            timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
            self._client = httpx2.AsyncClient(timeout=timeout, trust_env=not plain, verify=not plain, follow_redirects=False)
        return self._client


class _Broken(Struct, frozen=True):
    """Why there are no more bytes. `usage` where it is known that nothing was used."""

    fault: Fault
    usage: Usage | None = None


class _Answer:
    """The way from bytes to the decoder's operations. `result` is set as soon as nothing more needs to be read.

    An event that the end of the stream cut off is left out: whether the answer is complete without it, the decoder knows.
    """

    def __init__(self, decoder: Decoder, assembler: Assembler) -> None:
        self._decoder = decoder
        self._assembler = assembler
        self._noted: set[str] = set()
        self._sse = SseDecoder()
        self._events = 0
        self.result: StopReason | Fault | None = None

    @property
    def begun(self) -> bool:
        """Whether an event has come; a server may keep the connection open with comments before it answers."""
        return self._events > 0

    def feed(self, chunk: bytes) -> None:
        self._take(self._sse.feed(chunk), at_end=False)

    def close(self) -> StopReason | Fault:
        """The result, after the stream's clean end where it has none yet."""
        if self.result is None:
            self._take(self._sse.end(), at_end=True)
        if self.result is None:
            self.result = self._decoder.end()
        if isinstance(self.result, Fault):
            self.abandon()
        return self.result

    def abandon(self) -> None:
        self._decoder.abandon()

    def _take(self, events: list[ServerEvent], at_end: bool) -> None:
        self._events += len(events)
        for name, data in events:
            if self.result is not None:
                return
            self.result = self._one(name, data, at_end)

    def _one(self, name: str, data: bytes, at_end: bool) -> StopReason | Fault | None:
        if data.strip() == b"[DONE]":
            return self._decoder.end()
        value, notes = loads(data)
        for note in notes:
            if note not in self._noted:
                self._noted.add(note)
                self._assembler.note("decoder", note)
        if isinstance(value, BadJson):
            return None if at_end else Fault("bad_response", shown(f"{value.reason}: {data[:200].decode(errors='replace')}"))
        fault = self._decoder.event(name, value)
        if fault is not None:
            return fault
        return self._decoder.end() if self._decoder.complete else None


async def _problem(response: "httpx2.Response") -> Fault | None:
    """Why this answer is not a stream of events, with its body read within bounds; None when it is one."""
    status = response.status_code
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if status == 200 and kind not in ("application/json", "text/html"):
        return None
    body = bytearray()
    try:
        async with asyncio.timeout(ERROR_BODY_SECONDS):
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > ERROR_BODY_BYTES:
                    break
    except Exception as error:
        if not isinstance(error, TimeoutError) and network_fault(error, streaming=True) is None:
            raise
    headers = {name.lower(): value for name, value in response.headers.items()}
    if status == 200:
        value, _ = loads(bytes(body))
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, dict) and value.get("error"):
            return error_fault(value)
        return Fault(
            "bad_response", shown(f"not an event stream but {kind}: {bytes(body[:200]).decode(errors='replace')}"), status
        )
    if 300 <= status < 400:
        where = headers.get("location", "elsewhere")
        return Fault("bad_request", shown(f"it redirects to {where}; set the base URL to where the API is"), status)
    return status_fault(status, headers, bytes(body))


async def _drain(reader: AsyncIterator[bytes]) -> None:
    """Read what is left after the end mark, briefly, so that the connection can be used again."""
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in reader:
                pass
    except Exception as error:
        if not isinstance(error, TimeoutError) and network_fault(error, streaming=True) is None:
            raise
