"""OpenAI Chat Completions, streamed."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from ferrule.providers.scripted.faults import Says
from ferrule.providers.scripted.view import View

from .spelling import WORDS, Frame, Json, Speech, dumps, plain

STOPS = {"end": "stop", "calls": "tool_calls", "length": "length", "refusal": "content_filter"}
ERRORS: dict[Says, tuple[str, str | None, str]] = {
    "auth": (
        "invalid_request_error",
        "invalid_api_key",
        "Incorrect API key provided: sk-x. You can find your API key in your account.",
    ),
    "billing": (
        "insufficient_quota",
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    "rate_limit": ("requests", "rate_limit_exceeded", "Rate limit reached for requests. Please try again in 1s."),
    "overloaded": ("server_error", None, "The server is currently overloaded with other requests. Please try again later."),
    "server_error": ("server_error", None, "The server had an error while processing your request."),
    "timeout": ("server_error", None, "Request timed out."),
    "idle_timeout": ("server_error", None, "Request timed out."),
    "quota": ("requests", "rate_limit_exceeded", "Rate limit reached for requests per day (RPD): Limit 200, Used 200."),
    "signature": (
        "invalid_request_error",
        "invalid_encrypted_content",
        "The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
    ),
    "effort": (
        "invalid_request_error",
        "unsupported_value",
        "Unsupported value: 'reasoning_effort' does not support 'high' with this model. Supported values are: 'low'.",
    ),
    "model_not_found": (
        "invalid_request_error",
        "model_not_found",
        "The model `x` does not exist or you do not have access to it.",
    ),
    "bad_request": ("invalid_request_error", None, "Invalid request."),
    "context_overflow": (
        "invalid_request_error",
        "context_length_exceeded",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in {tokens} tokens. "
        "Please reduce the length of the messages.",
    ),
    "refused": (
        "invalid_request_error",
        "content_policy_violation",
        "Your request was rejected as a result of our safety system.",
    ),
}


def error(status: int, says: Says, message: str | None, tokens: int | None) -> Json:
    kind, code, words = ERRORS[says]
    return {"error": {"message": message or words.format(tokens=tokens or 130001), "type": kind, "param": None, "code": code}}


def broken(speech: Speech, says: Says, message: str | None) -> Iterator[Frame]:
    yield Frame(dumps(error(500, says, message or WORDS[says], None)))


def view(body: Json) -> View:
    messages = [message for message in body.get("messages", []) if message.get("role") not in ("system", "developer")]
    users = [plain(message.get("content")) for message in messages if message["role"] == "user"]
    results: list[str] = []
    for message in messages:
        match message["role"]:
            case "assistant":
                results = []
            case "tool":
                results.append(plain(message.get("content")))
    last = messages[-1]["role"] if messages else ""
    return View(
        system="\n".join(
            plain(one.get("content")) for one in body.get("messages", []) if one.get("role") in ("system", "developer")
        ),
        messages=len(messages),
        answers=(None,) * sum(message["role"] == "assistant" for message in messages),
        first_user=users[0] if users else "",
        last_user=users[-1] if users else "",
        last={"tool": "results"}.get(last, last),
        last_result="\n".join(results),
        tools=tuple(tool["function"]["name"] for tool in body.get("tools", [])),
        characters=sum(len(str(message.get("content") or "")) for message in body.get("messages", [])),
    )


def frames(speech: Speech) -> Iterator[Frame]:
    with_usage = bool((speech.body.get("stream_options") or {}).get("include_usage"))
    frame: Json = {
        "id": f"chatcmpl-{speech.number}",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": speech.model,
        "system_fingerprint": "fp_scripted",
    }
    if with_usage:
        frame["usage"] = None

    def chunk(delta: Json, spoken: int, finish: str | None = None) -> Frame:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return Frame(dumps({**frame, "choices": [choice]}), spoken, last=finish is not None)

    content = None if any(part.text is None for part in speech.said) or not speech.said else ""
    yield chunk({"role": "assistant", "content": content}, 0)
    spoken = 0
    for delta, spoken in _deltas(speech):
        yield chunk(delta, spoken)
    yield chunk({}, spoken, STOPS[speech.stop])
    if with_usage and speech.usage:
        yield Frame(dumps({**frame, "choices": [], "usage": _usage(speech)}), spoken, last=True)
    if speech.wire.end_marker:
        yield Frame("[DONE]", spoken, last=True)


def _deltas(speech: Speech) -> Iterator[tuple[Json, int]]:
    calls: list[list[tuple[Json, int]]] = []
    spoken = 0
    for index, part in enumerate(speech.said):
        match part.kind:
            case "call":
                calls.append([({"tool_calls": [one]}, so_far) for one, so_far in _call(speech, index, len(calls), spoken)])
                if not speech.wire.interleave:
                    yield from calls[-1]
            case kind:
                key = "content" if kind == "text" else "reasoning_content"
                yield from (({key: piece}, so_far) for piece, so_far in speech.part_deltas(index))
        spoken += len(part.text or "")
    if speech.wire.interleave:
        yield from (delta for row in zip_longest(*calls) for delta in row if delta is not None)


def _call(speech: Speech, index: int, number: int, spoken: int) -> Iterator[tuple[Json, int]]:
    part = speech.said[index]
    place: dict[str, Any] = {"index": number} if speech.wire.index else {}
    id = {} if part.id is None else {"id": part.id}
    yield {**place, **id, "type": "function", "function": {"name": part.name, "arguments": ""}}, spoken
    for piece, so_far in speech.part_deltas(index):
        yield {**place, "function": {"arguments": piece}}, so_far


def _usage(speech: Speech) -> Json:
    usage = speech.usage
    assert usage
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
