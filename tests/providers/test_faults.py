import asyncio
import gc
import inspect
import json
import time
from email.utils import formatdate
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.providers import anthropic, google, openai, openai_responses
from ferrule.providers.assemble import Assembler
from ferrule.providers.base import Endpoint, Profile
from ferrule.providers.classify import error_fault, network_fault, status_fault
from ferrule.providers.http import Decoder
from ferrule.providers.open import open_provider
from ferrule.types.fault import Fault
from ferrule.types.messages import Text, User
from ferrule.types.request import Request
from ferrule.types.stream import Done, Failed, Noted, StreamEvent
from ferrule.types.usage import NOTHING, Price, Usage
from tests.providers.provider_wire import Reply, Wire, ask, serving, sse

REQUEST = Request((), (User((Text("go"),)),))
DIALECTS = ("openai", "openai-responses", "anthropic", "google")
TEXT = {"choices": [{"index": 0, "delta": {"content": "par"}}]}


def openai_error(message: str, **more: Any) -> bytes:
    return json.dumps({"error": {"message": message, **more}}).encode()


def google_error(message: str, status: str, *details: Any) -> bytes:
    return json.dumps([{"error": {"code": 429, "message": message, "status": status, "details": details}}]).encode()


STATUS = [
    (401, openai_error("Incorrect API key", code="invalid_api_key"), "auth"),
    (403, b"", "auth"),
    (402, b"{}", "billing"),
    (402, openai_error("monthly usage limit reached, try again later"), "quota"),
    (402, openai_error("payment pending, try again in a moment"), "rate_limit"),
    (429, openai_error("slow down", type="requests"), "rate_limit"),
    (429, openai_error("You exceeded your current quota, please check your plan", code="insufficient_quota"), "billing"),
    (429, b"", "rate_limit"),
    (404, openai_error("The model `x` does not exist", code="model_not_found"), "model_not_found"),
    (404, b"<html>not here</html>", "model_not_found"),
    (400, b"", "bad_request"),
    (400, b'{"error":{}}', "bad_request"),
    (400, openai_error("tool_use ids must be unique", type="invalid_request_error"), "bad_request"),
    (400, openai_error("API key not valid. Please pass a valid API key."), "auth"),
    (422, openai_error("messages: field required"), "bad_request"),
    (408, b"", "timeout"),
    (500, b"oops", "server_error"),
    (500, openai_error("model is overloaded"), "overloaded"),
    (503, openai_error("Loading model", type="unavailable_error", code=503), "overloaded"),
    (504, b"", "timeout"),
    (529, b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', "overloaded"),
    (502, b"<html>", "server_error"),
    (418, b"", "bad_request"),
    (599, b"", "server_error"),
    (403, openai_error("Your credit balance is too low"), "billing"),
    (400, b'{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}', "billing"),
    (500, google_error("Internal", "INTERNAL"), "server_error"),
    (429, google_error("Quota", "RESOURCE_EXHAUSTED"), "rate_limit"),
    (413, b"", "context_overflow"),
    (429, openai_error("Request too large for gpt on tokens per min (TPM): Limit 30000, Requested 40000"), "rate_limit"),
    (413, openai_error("Request too large: tokens per min (TPM) limit 6000"), "rate_limit"),
    (400, openai_error("context window too small for reasoning"), "bad_request"),
]


@pytest.mark.parametrize(("status", "body", "code"), STATUS)
def test_statuses(status: int, body: bytes, code: str):
    fault = status_fault(status, {}, body)
    assert (fault.code, fault.status) == (code, status)


OVERFLOWS = [
    (
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130,001 tokens.",
        130_001,
        128_000,
    ),
    ("This endpoint's maximum context length is 100 tokens. However, you requested about 250 tokens (200 of text)", 250, 100),
    ("prompt is too long: 210000 tokens > 200000 maximum", 210_000, 200_000),
    ("input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000", 211_333, 200_000),
    ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_200_000, 1_048_576),
    ("request (17000 tokens) exceeds the available context size (16384 tokens), try increasing it", 17_000, 16_384),
    ("maximum prompt length is 131072 but the request contains 537812 tokens", 537_812, 131_072),
    ("Please reduce the length of the messages or completion.", None, None),
    ("Input is too long for requested model.", None, None),
    ("输入内容过长，超过模型的最大长度", None, None),
]


@pytest.mark.parametrize(("message", "tokens", "window"), OVERFLOWS)
def test_overflows_and_the_tokens_they_tell(message: str, tokens: int | None, window: int | None):
    assert status_fault(400, {}, openai_error(message)) == Fault("context_overflow", message, 400, None, tokens, window)


def test_an_overflow_told_by_type_alone():
    body = openai_error("too much", type="exceed_context_size_error", n_prompt_tokens=17, n_ctx=16)
    assert status_fault(400, {}, body) == Fault("context_overflow", "too much", 400, None, 17, 16)


WAITS = [
    ({"retry-after": "7"}, b"", 7.0),
    ({"retry-after-ms": "1500", "retry-after": "9"}, b"", 1.5),
    ({"retry-after": "soon"}, b"", None),
    ({"retry-after": formatdate(time.time() - 60, usegmt=True)}, b"", 0.0),
    (
        {},
        google_error("x", "RESOURCE_EXHAUSTED", {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17s"}),
        17.0,
    ),
    ({}, openai_error("Rate limit reached. Please try again in 1m2.5s. Visit"), 62.5),
    ({}, openai_error("Please try again in 250ms."), 0.25),
    ({"retry-after": "3"}, openai_error("Please try again in 250ms."), 3.0),
    ({}, openai_error("no idea"), None),
]


@pytest.mark.parametrize(("headers", "body", "seconds"), WAITS)
def test_how_long_to_wait(headers: dict[str, str], body: bytes, seconds: float | None):
    assert status_fault(429, headers, body).retry_after == seconds


def test_a_date_to_wait_for():
    wait = status_fault(503, {"retry-after": formatdate(time.time() + 60, usegmt=True)}, b"").retry_after
    assert wait is not None
    assert 55 < wait <= 60


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"error": {"message": "x", "code": "server_error"}}, "server_error"),
        ({"error": {"message": "x", "code": 429}}, "rate_limit"),
        ({"error": {"code": 400, "message": "Input is too long"}}, "context_overflow"),
        ({"error": "plain words"}, "server_error"),
        ({"type": "error", "code": "rate_limit_exceeded", "message": "x"}, "rate_limit"),
        ({"error": None}, "server_error"),
        (None, "server_error"),
        ({"error": {"message": "ok", "metadata": {"raw": "rate limit"}}}, "server_error"),
    ],
)
def test_error_objects_inside_a_stream(value: Any, code: str):
    assert error_fault(value).code == code


def test_a_long_message_is_cut_and_put_on_one_line():
    fault = status_fault(400, {}, openai_error("a\nb\t" + "x" * 5000))
    assert fault.detail.startswith("a b xxx")
    assert len(fault.detail) < 700


EXCEPTIONS = [
    kind
    for kind in vars(httpx2).values()
    if inspect.isclass(kind) and issubclass(kind, Exception) and kind.__module__.startswith("httpx2")
]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("kind", EXCEPTIONS, ids=lambda kind: kind.__name__)
def test_every_exception_of_the_http_library_is_a_fault(kind: type[Exception], streaming: bool):
    error = kind.__new__(kind)
    fault = network_fault(error, streaming)
    assert fault is not None
    assert kind.__name__ in fault.detail
    if issubclass(kind, httpx2.TimeoutException):
        assert fault.code == ("idle_timeout" if streaming else "timeout")
    if issubclass(kind, httpx2.NetworkError):
        assert fault.code == ("cut" if streaming else "connection")


def test_a_group_of_network_errors_is_its_first():
    fault = network_fault(ExceptionGroup("g", [ConnectionRefusedError("no")]), False)
    assert fault == Fault("connection", "ConnectionRefusedError: no")


def test_a_bug_is_not_a_fault():
    assert len(EXCEPTIONS) > 20
    assert network_fault(KeyError("x"), False) is None


def failed(*replies: Reply, dialect: Any = "openai", idle: float | None = None, key: str = "") -> Failed:
    async def main() -> Failed:
        async with serving(*replies) as wire:
            profile = Profile(price=Price(1, 1), idle_timeout=idle)
            provider = open_provider(Endpoint(dialect, "m", wire.url, key=key or None, profile=profile))
            last = (await ask(provider, REQUEST))[-1]
            await provider.close()
            assert isinstance(last, Failed)
            return last

    return asyncio.run(main())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_refused_request_costs_nothing(dialect: str):
    reply = Reply([openai_error("busy")], "503 Service Unavailable", ("content-type: application/json", "Retry-After: 2"))
    assert failed(reply, dialect=dialect) == Failed(Fault("overloaded", "busy", 503, 2.0), (), NOTHING)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("raw", [b"", b": keep-alive\n\n", b"data: {}\n\n"])
def test_an_answer_without_content_or_end_is_cut(dialect: str, raw: bytes):
    assert failed(Reply([raw]), dialect=dialect) == Failed(Fault("cut", "the stream ended without its end mark"), (), Usage())


def test_a_cut_answer_has_no_known_cost():
    usage = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1}}
    assert failed(Reply([sse(TEXT, usage)])) == Failed(
        Fault("cut", "the stream ended without its end mark"), (Text("par"),), Usage(5, 1)
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_events_that_are_no_json(dialect: str):
    last = failed(Reply([b"data: {oops\n\ndata: x\n\n"]), dialect=dialect)
    assert last.fault.code == "bad_response"
    assert "{oops" in last.fault.detail


def test_json_that_is_nearly_right_is_read_and_reported_once():
    raw = b'data: {"choices":[{"index":0,"delta":{"content":"a\tb"}}],"x":NaN}\n\n'
    finish = sse({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, done=True)

    async def main() -> list[StreamEvent]:
        async with serving(Reply([raw, raw, finish])) as wire:
            provider = open_provider(Endpoint("openai", "m", wire.url))
            events = await ask(provider, REQUEST)
            await provider.close()
            return events

    events = asyncio.run(main())
    assert [event for event in events if isinstance(event, Noted)] == [
        Noted("decoder", "NaN read as null"),
        Noted("decoder", "raw control characters inside a string"),
    ]
    assert isinstance(events[-1], Done)
    assert events[-1].message.parts == (Text("a\tba\tb"),)


def test_an_error_with_status_200():
    reply = Reply([openai_error("no such model", code="model_not_found")], headers=("content-type: application/json",))
    assert failed(reply).fault == Fault("model_not_found", "no such model")


def test_a_login_page_instead_of_a_stream():
    last = failed(Reply([b"<html>please log in</html>"], headers=("content-type: text/html; charset=utf-8",)))
    assert last.fault.code == "bad_response"
    assert "please log in" in last.fault.detail


def test_redirects_are_not_followed():
    last = failed(Reply([], "307 Temporary Redirect", ("location: https://elsewhere.example/v1",)))
    assert last.fault.code == "bad_request"
    assert "https://elsewhere.example/v1" in last.fault.detail


def test_the_key_is_masked_where_the_provider_repeats_it():
    last = failed(Reply([openai_error("bad key sk-123")], "401 Unauthorized"), key="sk-123")
    assert last.fault == Fault("auth", "bad key [key]", 401)


def test_silence_in_the_middle_of_an_answer():
    last = failed(Reply([sse(TEXT)], ending="hang"), idle=0.2)
    assert last == Failed(Fault("idle_timeout", "0.2 seconds of silence"), (Text("par"),), Usage())


def test_silence_before_an_answer():
    async def listen_only(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        await writer.wait_closed()
        left.set()

    left = asyncio.Event()

    async def main() -> StreamEvent:
        server = await asyncio.start_server(listen_only, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        provider = open_provider(Endpoint("openai", "m", url, profile=Profile(idle_timeout=0.2)))
        events = await ask(provider, REQUEST)
        await provider.close()
        server.close()
        await left.wait()
        return events[-1]

    assert asyncio.run(main()) == Failed(Fault("timeout", "0.2 seconds without an answer"), (), Usage())


def test_a_slow_consumer_is_no_silence():
    async def main() -> StreamEvent:
        finish = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        async with serving(Reply([sse(TEXT)] * 3 + [sse(finish, done=True)])) as wire:
            provider = open_provider(Endpoint("openai", "m", wire.url, profile=Profile(idle_timeout=0.15)))
            last: StreamEvent | None = None
            async for event in provider.stream(REQUEST):
                last = event
                await asyncio.sleep(0.3)
            await provider.close()
            assert last is not None
            return last

    assert isinstance(asyncio.run(main()), Done)


def test_nobody_listens():
    async def main() -> Failed:
        provider = open_provider(Endpoint("openai", "m", "http://127.0.0.1:1"))
        last = (await ask(provider, REQUEST))[-1]
        await provider.close()
        assert isinstance(last, Failed)
        return last

    last = asyncio.run(main())
    assert (last.fault.code, last.usage) == ("connection", NOTHING)


@pytest.mark.parametrize("base_url", ["http://[::1", "ftp://127.0.0.1", "http://127.0.0.1:99999", "nonsense"])
def test_a_base_url_that_is_none(base_url: str):
    async def main() -> StreamEvent:
        provider = open_provider(Endpoint("openai", "m", base_url))
        last = (await ask(provider, REQUEST))[-1]
        await provider.close()
        return last

    last = asyncio.run(main())
    assert isinstance(last, Failed)
    assert last.fault.code in ("bad_request", "connection")


def test_a_key_that_no_header_can_carry():
    last = failed(Reply([b""]), key="schlüssel")
    assert last.fault.code == "bad_request"


async def until(condition: Any) -> None:
    for _ in range(500):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the condition did not come true within 5 seconds")


@pytest.mark.parametrize("idle", [None, 5.0])
@pytest.mark.parametrize("leave", ["cancel", "close", "drop"])
def test_the_connection_is_given_back_however_the_consumer_leaves(leave: str, idle: float | None):
    async def consume(wire: Wire) -> None:
        provider = open_provider(Endpoint("openai", "m", wire.url, profile=Profile(idle_timeout=idle)))
        stream = provider.stream(REQUEST)
        await anext(stream)
        await until(lambda: wire.open_connections == 1)
        if leave == "close":
            await stream.aclose()  # type: ignore[attr-defined]
        elif leave == "drop":
            del stream
            gc.collect()
        else:
            task = asyncio.ensure_future(_rest(stream))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await until(lambda: wire.open_connections == 0)
        await provider.close()

    async def main() -> None:
        async with serving(Reply([sse(TEXT)] * 2, ending="hang")) as wire:
            await consume(wire)

    asyncio.run(main())


async def _rest(stream: Any) -> None:
    async for _ in stream:
        pass


def test_answers_share_one_connection():
    async def main() -> int:
        finish = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        async with serving(Reply([sse(TEXT, finish, done=True)])) as wire:
            provider = open_provider(Endpoint("openai", "m", wire.url))
            for _ in range(3):
                assert isinstance((await ask(provider, REQUEST))[-1], Done)
            await provider.close()
            return wire.connections

    assert asyncio.run(main()) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    [
        "type",
        "choices",
        "delta",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "index",
        "usage",
        "prompt_tokens",
        "error",
        "message",
        "finish_reason",
        "reasoning_details",
        "text",
        "summary",
        "item",
        "output_index",
        "response",
        "output",
        "content_block",
        "partial_json",
        "stop_reason",
        "candidates",
        "parts",
        "functionCall",
        "args",
        "thought",
        "thoughtSignature",
        "promptFeedback",
        "blockReason",
        "usageMetadata",
        "promptTokenCount",
        "status",
        "code",
    ]
)
TYPES = st.sampled_from(
    [
        "response.output_item.added",
        "response.output_item.done",
        "response.completed",
        "response.function_call_arguments.delta",
        "response.reasoning_summary_part.added",
        "message",
        "reasoning",
        "function_call",
        "content_block_start",
        "content_block_delta",
        "message_delta",
        "content_block_stop",
        "tool_use",
        "text",
        "thinking",
        "input_json_delta",
        "reasoning.text",
        "error",
    ]
)
SHAPED = st.recursive(
    JSON | TYPES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner | TYPES, max_size=5),
    max_leaves=14,
)


@pytest.mark.parametrize("module", [openai, openai_responses, anthropic, google], ids=lambda module: module.__name__)
@given(events=st.lists(st.tuples(st.just("") | TYPES, SHAPED), max_size=5))
def test_no_event_of_any_shape_breaks_a_decoder(module: Any, events: list[tuple[str, Any]]):
    endpoint = Endpoint("openai", "m", "http://127.0.0.1")
    assembler = Assembler("openai", "m")
    decoder: Decoder = module.decoder(endpoint, REQUEST, assembler)
    for name, value in events:
        if decoder.event(name, value) is not None or decoder.complete:
            break
    result = decoder.end()
    assert isinstance(result, Fault) or result in ("end", "calls", "length", "refusal")
