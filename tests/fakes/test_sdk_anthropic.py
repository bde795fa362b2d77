"""Anthropic's own client reads what the fake says as Messages."""

from typing import Any

import anthropic
import httpx2
import pytest

from tests.fakes.conftest import Serve
from tests.fakes.server import FakeServer

MESSAGES: Any = [{"role": "user", "content": "go"}]


def final(server: FakeServer) -> Any:
    with (
        anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=100, messages=MESSAGES) as stream,
    ):
        return stream.get_final_message()


def raw(server: FakeServer) -> list[Any]:
    with anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0) as client:
        return list(client.messages.create(model="m", max_tokens=100, messages=MESSAGES, stream=True))


def test_text_thinking_usage_and_stop(serve: Serve) -> None:
    usage = {"input": 70, "output": 20, "cache_read": 30, "cache_write": 9}
    message = final(serve({"text": "Grüße 😀", "reasoning": "let me see", "chunk": 2, "usage": usage}))
    thinking, text = message.content
    assert (thinking.thinking, thinking.signature, text.text) == ("let me see", "c2lnbmVk0001", "Grüße 😀")
    assert message.stop_reason == "end_turn"
    assert (message.usage.input_tokens, message.usage.output_tokens) == (70, 20)
    assert (message.usage.cache_read_input_tokens, message.usage.cache_creation_input_tokens) == (30, 9)


@pytest.mark.parametrize("wire", [{}, {"newline": "\r\n", "comments": True, "bytes": 7, "data_lines": True}])
def test_parallel_calls(serve: Serve, wire: dict[str, Any]) -> None:
    calls = [{"name": "read_file", "arguments": {"path": "a"}}, {"name": "list_files", "arguments": {"path": "b"}, "id": "own"}]
    message = final(serve({"text": "both", "calls": calls, "chunk": 3, "wire": wire}))
    assert [(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"] == [
        ("call_1_1_1", "read_file", {"path": "a"}),
        ("own", "list_files", {"path": "b"}),
    ]
    assert message.stop_reason == "tool_use"


@pytest.mark.parametrize(("stop", "reason"), [("length", "max_tokens"), ("refusal", "refusal")])
def test_stop_reasons(serve: Serve, stop: str, reason: str) -> None:
    assert final(serve({"text": "half", "stop": stop})).stop_reason == reason


@pytest.mark.parametrize(
    ("fault", "raised", "kind"),
    [
        ({"status": 400, "says": "context_overflow"}, anthropic.BadRequestError, "invalid_request_error"),
        ({"status": 401}, anthropic.AuthenticationError, "authentication_error"),
        ({"status": 404}, anthropic.NotFoundError, "not_found_error"),
        ({"status": 429}, anthropic.RateLimitError, "rate_limit_error"),
        ({"status": 500}, anthropic.InternalServerError, "api_error"),
        ({"status": 529}, anthropic.APIStatusError, "overloaded_error"),
    ],
)
def test_each_status_is_the_sdks_exception(
    serve: Serve, fault: dict[str, Any], raised: type[anthropic.APIStatusError], kind: str
) -> None:
    with pytest.raises(raised) as caught:
        raw(serve({"fault": {"kind": "http", **fault}}))
    assert (caught.value.status_code, caught.value.body["error"]["type"]) == (fault["status"], kind)  # type: ignore[index]


def test_error_in_the_stream(serve: Serve) -> None:
    with pytest.raises(anthropic.APIStatusError, match="overloaded_error"):
        raw(serve({"text": "half way", "fault": {"kind": "error"}}))


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        ({"kind": "cut", "how": "drop"}, httpx2.RemoteProtocolError),
        ({"kind": "reset", "at": "middle"}, httpx2.ReadError),
        ({"kind": "reset"}, anthropic.APIConnectionError),
    ],
)
def test_broken_connection(serve: Serve, fault: dict[str, Any], raised: type[Exception]) -> None:
    with pytest.raises(raised):
        raw(serve({"text": "half way", "fault": fault}))


def test_clean_cut_ends_without_a_stop(serve: Serve) -> None:
    assert raw(serve({"text": "half way", "fault": {"kind": "cut"}}))[-1].type == "content_block_delta"
