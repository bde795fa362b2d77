"""Google's own client reads what the fake says as streamed generateContent."""

from typing import Any

import httpx2
import pytest
from google import genai
from google.genai import errors, types

from tests.fakes.conftest import Serve
from tests.fakes.server import FakeServer


def ask(server: FakeServer) -> list[types.GenerateContentResponse]:
    client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=server.url))
    try:
        return list(client.models.generate_content_stream(model="m", contents="go"))
    finally:
        client.close()


def parts(chunks: list[types.GenerateContentResponse]) -> list[Any]:
    contents = [chunk.candidates[0].content for chunk in chunks if chunk.candidates]
    return [part for content in contents if content for part in content.parts or []]


def finish(chunks: list[types.GenerateContentResponse]) -> Any:
    return chunks[-1].candidates[0].finish_reason if chunks[-1].candidates else None


def test_text_thoughts_usage_and_finish(serve: Serve) -> None:
    usage = {"input": 70, "output": 20, "cache_read": 30, "reasoning": 5}
    chunks = ask(serve({"text": "Grüße 😀", "reasoning": "let me see", "chunk": 2, "usage": usage}))
    assert "".join(part.text for part in parts(chunks) if part.thought) == "let me see"
    assert "".join(part.text for part in parts(chunks) if not part.thought) == "Grüße 😀"
    assert finish(chunks) == types.FinishReason.STOP
    counted = chunks[-1].usage_metadata
    assert counted
    assert (counted.prompt_token_count, counted.cached_content_token_count, counted.total_token_count) == (100, 30, 120)
    assert (counted.candidates_token_count, counted.thoughts_token_count) == (15, 5)


def test_parallel_calls(serve: Serve) -> None:
    calls = [{"name": "read_file", "arguments": {"path": "a"}}, {"name": "list_files", "arguments": {"path": "b"}, "id": None}]
    called = [part.function_call for part in parts(ask(serve({"calls": calls}))) if part.function_call]
    assert [(call.id, call.name, call.args) for call in called] == [
        ("call_1_1_1", "read_file", {"path": "a"}),
        (None, "list_files", {"path": "b"}),
    ]


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"text": "half", "stop": "length"}, types.FinishReason.MAX_TOKENS),
        ({"text": "no", "stop": "refusal"}, types.FinishReason.SAFETY),
        ({"calls": [{"name": "f", "arguments": '{"a": '}]}, types.FinishReason.MALFORMED_FUNCTION_CALL),
    ],
)
def test_finish_reasons(serve: Serve, step: dict[str, Any], reason: types.FinishReason) -> None:
    assert finish(ask(serve(step))) == reason


@pytest.mark.parametrize(
    ("fault", "raised", "status"),
    [
        ({"status": 400, "says": "context_overflow"}, errors.ClientError, "INVALID_ARGUMENT"),
        ({"status": 401}, errors.ClientError, "UNAUTHENTICATED"),
        ({"status": 404}, errors.ClientError, "NOT_FOUND"),
        ({"status": 429}, errors.ClientError, "RESOURCE_EXHAUSTED"),
        ({"status": 500}, errors.ServerError, "INTERNAL"),
        ({"status": 503}, errors.ServerError, "UNAVAILABLE"),
    ],
)
def test_each_status_is_the_sdks_exception(
    serve: Serve, fault: dict[str, Any], raised: type[errors.APIError], status: str
) -> None:
    with pytest.raises(raised) as caught:
        ask(serve({"fault": {"kind": "http", **fault}}))
    assert (caught.value.code, caught.value.status) == (fault["status"], status)


def test_error_in_the_stream(serve: Serve) -> None:
    with pytest.raises(errors.ServerError, match="UNAVAILABLE"):
        ask(serve({"text": "half way", "fault": {"kind": "error"}}))


def test_clean_cut_ends_without_a_finish_reason(serve: Serve) -> None:
    chunks = ask(serve({"text": "half way", "fault": {"kind": "cut"}}))
    assert ("".join(part.text for part in parts(chunks)), finish(chunks)) == ("half", None)


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        ({"kind": "cut", "how": "drop"}, httpx2.RemoteProtocolError),
        ({"kind": "reset", "at": "middle"}, httpx2.ReadError),
        ({"kind": "reset"}, httpx2.ReadError),
    ],
)
def test_broken_connection(serve: Serve, fault: dict[str, Any], raised: type[Exception]) -> None:
    with pytest.raises(raised):
        ask(serve({"text": "half way", "fault": fault}))
