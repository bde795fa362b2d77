"""Anthropic Messages, streamed."""

from collections.abc import Iterator
from typing import Any

from ferrule.providers.scripted.faults import Says
from ferrule.providers.scripted.view import View

from .spelling import WORDS, Frame, Json, Speech, dumps, plain

STOPS = {"end": "end_turn", "calls": "tool_use", "length": "max_tokens", "refusal": "refusal"}
ERRORS: dict[Says, tuple[str, str]] = {
    "auth": ("authentication_error", "invalid x-api-key"),
    "billing": ("billing_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."),
    "rate_limit": ("rate_limit_error", "This request would exceed your account's rate limit. Please try again later."),
    "overloaded": ("overloaded_error", "Overloaded"),
    "server_error": ("api_error", "Internal server error"),
    "timeout": ("timeout_error", "Request timed out"),
    "idle_timeout": ("timeout_error", "Request timed out"),
    "quota": ("rate_limit_error", "You have reached your weekly usage limit."),
    "signature": ("invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block"),
    "effort": ("invalid_request_error", "output_config.effort: This model does not support the effort parameter."),
    "model_not_found": ("not_found_error", "model: x"),
    "bad_request": ("invalid_request_error", "Invalid request"),
    "context_overflow": ("invalid_request_error", "prompt is too long: {tokens} tokens > 200000 maximum"),
    "refused": ("invalid_request_error", "Output blocked by content filtering policy"),
}


def error(status: int, says: Says, message: str | None, tokens: int | None) -> Json:
    kind, words = ERRORS[says]
    words = message or words.format(tokens=tokens or 208310)
    return {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_scripted"}


def broken(speech: Speech, says: Says, message: str | None) -> Iterator[Frame]:
    yield Frame(dumps(error(200, says, message or WORDS[says], None)), event="error")


def view(body: Json) -> View:
    messages = body.get("messages", [])
    users = [text for message in messages if message["role"] == "user" and (text := plain(message["content"]))]
    results: list[Json] = []
    for message in messages:
        blocks = message["content"] if isinstance(message["content"], list) else []
        results = [block for block in blocks if block.get("type") == "tool_result"] or results
    last = messages[-1] if messages else {"role": "", "content": ""}
    answered = isinstance(last["content"], list) and any(block.get("type") == "tool_result" for block in last["content"])
    return View(
        system=plain(body.get("system", "")),
        messages=len(messages),
        answers=(None,) * sum(message["role"] == "assistant" for message in messages),
        first_user=users[0] if users else "",
        last_user=users[-1] if users else "",
        last="results" if answered and not plain(last["content"]) else last["role"],
        last_result="\n".join(plain(block.get("content", "")) for block in results),
        tools=tuple(tool["name"] for tool in body.get("tools", [])),
        characters=sum(len(str(message["content"])) for message in messages) + len(str(body.get("system", ""))),
    )


def frames(speech: Speech) -> Iterator[Frame]:
    message: Json = {
        "id": f"msg_{speech.number}",
        "type": "message",
        "role": "assistant",
        "model": speech.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }
    if speech.usage:
        message["usage"] = {**_usage(speech), "output_tokens": 1}
    yield _frame(0, {"type": "message_start", "message": message})
    yield _frame(0, {"type": "ping"})
    spoken = block = 0
    for index, part in enumerate(speech.said):
        if part.text is None:
            continue
        yield _frame(spoken, {"type": "content_block_start", "index": block, "content_block": _block(speech, index)})
        for piece, spoken in speech.part_deltas(index):
            yield _frame(spoken, {"type": "content_block_delta", "index": block, "delta": _delta(part.kind, piece)})
        if part.kind == "reasoning":
            signature = {"type": "signature_delta", "signature": f"c2lnbmVk{speech.number:04}"}
            yield _frame(spoken, {"type": "content_block_delta", "index": block, "delta": signature})
        yield _frame(spoken, {"type": "content_block_stop", "index": block})
        block += 1
    end: Json = {"type": "message_delta", "delta": {"stop_reason": STOPS[speech.stop], "stop_sequence": None}}
    if speech.usage:
        end["usage"] = _usage(speech)
    yield _frame(spoken, end, last=True)
    if speech.wire.end_marker:
        yield _frame(spoken, {"type": "message_stop"}, last=True)


def _frame(spoken: int, data: Json, last: bool = False) -> Frame:
    return Frame(dumps(data), spoken, data["type"], last)


def _block(speech: Speech, index: int) -> Json:
    part = speech.said[index]
    match part.kind:
        case "text":
            return {"type": "text", "text": ""}
        case "reasoning":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case "call":
            id = {} if part.id is None else {"id": part.id}
            return {"type": "tool_use", **id, "name": part.name, "input": {}}


def _delta(kind: str, piece: str) -> dict[str, Any]:
    match kind:
        case "text":
            return {"type": "text_delta", "text": piece}
        case "reasoning":
            return {"type": "thinking_delta", "thinking": piece}
        case _:
            return {"type": "input_json_delta", "partial_json": piece}


def _usage(speech: Speech) -> Json:
    assert speech.usage
    return {
        "input_tokens": speech.usage.input,
        "cache_creation_input_tokens": speech.usage.cache_write,
        "cache_read_input_tokens": speech.usage.cache_read,
        "output_tokens": speech.usage.output,
    }
