"""OpenAI's own client reads what the fake says as Chat Completions."""

from typing import Any

import openai
import pytest

from tests.fakes.conftest import Serve
from tests.fakes.server import FakeServer


def ask(server: FakeServer, **more: Any) -> list[Any]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0) as client:
        messages: Any = [{"role": "user", "content": "go"}]
        options: Any = {"stream_options": {"include_usage": True}, **more}
        return list(client.chat.completions.create(model="m", messages=messages, stream=True, **options))


def spoken(chunks: list[Any], key: str = "content") -> str:
    return "".join(getattr(chunk.choices[0].delta, key, None) or "" for chunk in chunks if chunk.choices)


def stop(chunks: list[Any]) -> Any:
    return [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices and chunk.choices[0].finish_reason]


def test_text_reasoning_usage_and_stop(serve: Serve) -> None:
    usage = {"input": 70, "output": 20, "cache_read": 30, "reasoning": 5}
    chunks = ask(serve({"text": "Grüße 😀", "reasoning": "let me see", "chunk": 2, "usage": usage}))
    assert (spoken(chunks), spoken(chunks, "reasoning_content"), stop(chunks)) == ("Grüße 😀", "let me see", ["stop"])
    last = chunks[-1].usage
    assert (last.prompt_tokens, last.completion_tokens, last.total_tokens) == (100, 20, 120)
    assert last.prompt_tokens_details.cached_tokens == 30
    assert last.completion_tokens_details.reasoning_tokens == 5


@pytest.mark.parametrize(
    "wire", [{}, {"interleave": True}, {"newline": "\r\n", "comments": True, "bytes": 7, "data_lines": True}]
)
def test_parallel_calls(serve: Serve, wire: dict[str, Any]) -> None:
    calls = [{"name": "read_file", "arguments": {"path": "a"}}, {"name": "list_files", "arguments": {"path": "b"}, "id": "own"}]
    server = serve({"calls": calls, "chunk": 3, "wire": wire})
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0) as client:
        messages: Any = [{"role": "user", "content": "go"}]
        with client.chat.completions.stream(model="m", messages=messages) as stream:
            choice = stream.get_final_completion().choices[0]
    assert choice.message.tool_calls
    assert [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls] == [
        ("call_1_1_1", "read_file", '{"path": "a"}'),
        ("own", "list_files", '{"path": "b"}'),
    ]
    assert choice.finish_reason == "tool_calls"


def test_length_stop_and_no_usage(serve: Serve) -> None:
    chunks = ask(serve({"text": "half", "stop": "length", "usage": None}))
    assert (stop(chunks), [chunk.usage for chunk in chunks if chunk.usage]) == (["length"], [])


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        ({"status": 400, "says": "context_overflow", "tokens": 130500}, openai.BadRequestError),
        ({"status": 401}, openai.AuthenticationError),
        ({"status": 403}, openai.PermissionDeniedError),
        ({"status": 404}, openai.NotFoundError),
        ({"status": 429, "headers": {"Retry-After": "1"}}, openai.RateLimitError),
        ({"status": 500}, openai.InternalServerError),
        ({"status": 503, "body": "<html>down</html>"}, openai.InternalServerError),
        ({"status": 529}, openai.InternalServerError),
        ({"status": 402}, openai.APIStatusError),
    ],
)
def test_each_status_is_the_sdks_exception(serve: Serve, fault: dict[str, Any], raised: type[openai.APIStatusError]) -> None:
    with pytest.raises(raised) as caught:
        ask(serve({"fault": {"kind": "http", **fault}}))
    assert caught.value.status_code == fault["status"]
    assert all(caught.value.response.headers[name] == value for name, value in fault.get("headers", {}).items())
    if fault.get("says") == "context_overflow":
        assert caught.value.code == "context_length_exceeded"
        assert "130500 tokens" in caught.value.message


def test_error_in_the_stream(serve: Serve) -> None:
    with pytest.raises(openai.APIError, match="too busy"):
        ask(serve({"text": "half way", "fault": {"kind": "error", "message": "too busy"}}))


@pytest.mark.parametrize("fault", [{"kind": "cut", "how": "drop"}, {"kind": "reset", "at": "middle"}, {"kind": "reset"}])
def test_broken_connection(serve: Serve, fault: dict[str, Any]) -> None:
    with pytest.raises(openai.APIConnectionError):
        ask(serve({"text": "half way", "fault": fault}))


def test_clean_cut_ends_without_a_stop_reason(serve: Serve) -> None:
    chunks = ask(serve({"text": "half way", "fault": {"kind": "cut"}}))
    assert (spoken(chunks), stop(chunks)) == ("half", [])


def test_list_of_models(serve: Serve) -> None:
    with openai.OpenAI(base_url=f"{serve().url}/v1", api_key="k", max_retries=0) as client:
        assert [model.id for model in client.models.list()] == ["scripted"]
