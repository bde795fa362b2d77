"""OpenAI's own client reads what the fake says as Responses."""

from typing import Any

import openai
import pytest

from tests.fakes.conftest import Serve
from tests.fakes.server import FakeServer


def ask(server: FakeServer, **more: Any) -> list[Any]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0) as client:
        return list(client.responses.create(model="m", input="go", stream=True, **more))


def final(server: FakeServer) -> Any:
    with (
        openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0) as client,
        client.responses.stream(model="m", input="go", include=["reasoning.encrypted_content"]) as stream,
    ):
        return stream.get_final_response()


def test_text_reasoning_usage_and_status(serve: Serve) -> None:
    usage = {"input": 70, "output": 20, "cache_read": 30, "reasoning": 5}
    response = final(serve({"text": "Grüße 😀", "reasoning": "let me see", "chunk": 2, "usage": usage}))
    reasoning, message = response.output
    assert (reasoning.type, reasoning.summary[0].text, reasoning.encrypted_content) == (
        "reasoning",
        "let me see",
        "ZW5jcnlwdGVk0001",
    )
    assert (message.content[0].text, response.output_text, response.status) == ("Grüße 😀", "Grüße 😀", "completed")
    assert (response.usage.input_tokens, response.usage.output_tokens, response.usage.total_tokens) == (100, 20, 120)
    assert response.usage.input_tokens_details.cached_tokens == 30
    assert response.usage.output_tokens_details.reasoning_tokens == 5


def test_deltas_spell_the_text_and_events_are_numbered(serve: Serve) -> None:
    events = ask(serve({"text": "one two three", "chunk": 5}))
    assert [event.delta for event in events if event.type == "response.output_text.delta"] == ["one t", "wo th", "ree"]
    assert [event.sequence_number for event in events] == list(range(len(events)))


def test_parallel_calls(serve: Serve) -> None:
    calls = [{"name": "read_file", "arguments": {"path": "a"}}, {"name": "list_files", "arguments": {"path": "b"}, "id": "own"}]
    response = final(serve({"text": "both", "calls": calls, "chunk": 3}))
    assert [(item.call_id, item.name, item.arguments) for item in response.output if item.type == "function_call"] == [
        ("call_1_1_1", "read_file", '{"path": "a"}'),
        ("own", "list_files", '{"path": "b"}'),
    ]


@pytest.mark.parametrize(("stop", "reason"), [("length", "max_output_tokens"), ("refusal", "content_filter")])
def test_incomplete_says_why(serve: Serve, stop: str, reason: str) -> None:
    last = ask(serve({"text": "half", "stop": stop}))[-1]
    assert (last.type, last.response.incomplete_details.reason) == ("response.incomplete", reason)


@pytest.mark.parametrize(
    ("status", "raised"),
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (404, openai.NotFoundError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
        (529, openai.InternalServerError),
    ],
)
def test_each_status_is_the_sdks_exception(serve: Serve, status: int, raised: type[openai.APIStatusError]) -> None:
    with pytest.raises(raised):
        ask(serve({"fault": {"kind": "http", "status": status}}))


def test_error_in_the_stream_is_a_failed_response(serve: Serve) -> None:
    fault = {"kind": "error", "says": "context_overflow", "message": "too long"}
    last = ask(serve({"text": "half way", "fault": fault}))[-1]
    assert (last.type, last.response.status) == ("response.failed", "failed")
    assert (last.response.error.code, last.response.error.message) == ("context_length_exceeded", "too long")


@pytest.mark.parametrize("fault", [{"kind": "cut", "how": "drop"}, {"kind": "reset", "at": "middle"}, {"kind": "reset"}])
def test_broken_connection(serve: Serve, fault: dict[str, Any]) -> None:
    with pytest.raises(openai.APIConnectionError):
        ask(serve({"text": "half way", "fault": fault}))


def test_clean_cut_ends_without_a_terminal_event(serve: Serve) -> None:
    assert ask(serve({"text": "half way", "fault": {"kind": "cut"}}))[-1].type == "response.output_text.delta"
