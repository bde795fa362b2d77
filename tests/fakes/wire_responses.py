"""OpenAI Responses, streamed."""

from collections.abc import Iterator
from typing import Any

from ferrule.providers.scripted.faults import Says
from ferrule.providers.scripted.view import View

from . import wire_chat
from .spelling import WORDS, Frame, Json, Speech, dumps, plain

error = wire_chat.error
CODES: dict[Says, str] = {
    "rate_limit": "rate_limit_exceeded",
    "context_overflow": "context_length_exceeded",
    "bad_request": "invalid_prompt",
    "overloaded": "server_is_overloaded",
    "billing": "insufficient_quota",
}


def broken(speech: Speech, says: Says, message: str | None) -> Iterator[Frame]:
    """The vendor's own way to fail in a stream: a response that failed."""
    problem = {"code": CODES.get(says, "server_error"), "message": message or WORDS[says]}
    response = {**_response(speech), "status": "failed", "error": problem}
    yield Frame(dumps({"type": "response.failed", "sequence_number": 9999, "response": response}), event="response.failed")


def view(body: Json) -> View:
    given = body.get("input", [])
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    system = [body.get("instructions") or ""] + [
        plain(one["content"]) for one in items if one.get("role") in ("system", "developer")
    ]
    items = [one for one in items if one.get("role") not in ("system", "developer")]
    users = [plain(one["content"]) for one in items if one.get("role") == "user"]
    results: list[str] = []
    answers, inside = 0, False
    for one in items:
        spoken = one.get("role") == "assistant" or one.get("type") in ("function_call", "reasoning")
        if spoken and not inside:
            answers, results = answers + 1, []
        if one.get("type") == "function_call_output":
            results.append(plain(one["output"]))
        inside = spoken
    last = items[-1] if items else {}
    return View(
        system="\n".join(part for part in system if part),
        messages=len(items),
        answers=(None,) * answers,
        first_user=users[0] if users else "",
        last_user=users[-1] if users else "",
        last="results" if last.get("type") == "function_call_output" else last.get("role", ""),
        last_result="\n".join(results),
        tools=tuple(tool["name"] for tool in body.get("tools", []) if "name" in tool),
        characters=len(str(items)) + sum(map(len, system)),
    )


class _Stream:
    """Numbers the events, and holds the finished items for the last one."""

    def __init__(self, speech: Speech) -> None:
        self.speech = speech
        self.sequence = 0
        self.spoken = 0
        self.output: list[Json] = []

    def deltas(self, index: int) -> Iterator[str]:
        for piece, spoken in self.speech.part_deltas(index):
            self.spoken = spoken
            yield piece

    def frame(self, kind: str, last: bool = False, **fields: Any) -> Frame:
        data = {"type": f"response.{kind}", "sequence_number": self.sequence, **fields}
        self.sequence += 1
        return Frame(dumps(data), self.spoken, f"response.{kind}", last)


def frames(speech: Speech) -> Iterator[Frame]:
    stream = _Stream(speech)
    yield stream.frame("created", response=_response(speech))
    yield stream.frame("in_progress", response=_response(speech))
    for index, part in enumerate(speech.said):
        if part.text is None:
            continue
        match part.kind:
            case "reasoning":
                yield from _reasoning(stream, index)
            case "text":
                yield from _message(stream, index)
            case "call":
                yield from _call(stream, index)
    status, reason = {
        "length": ("incomplete", {"reason": "max_output_tokens"}),
        "refusal": ("incomplete", {"reason": "content_filter"}),
    }.get(speech.stop, ("completed", None))
    response = {**_response(speech), "status": status, "incomplete_details": reason, "output": stream.output}
    if speech.usage:
        response["usage"] = _usage(speech)
    yield stream.frame(status, last=True, response=response)


def _reasoning(stream: _Stream, index: int) -> Iterator[Frame]:
    part, item = stream.speech.said[index], f"rs_{stream.speech.number}_{index}"
    at: Json = {"item_id": item, "output_index": len(stream.output), "summary_index": 0}
    begun: Json = {"id": item, "type": "reasoning", "summary": []}
    yield stream.frame("output_item.added", output_index=len(stream.output), item=begun)
    yield stream.frame("reasoning_summary_part.added", **at, part={"type": "summary_text", "text": ""})
    for piece in stream.deltas(index):
        yield stream.frame("reasoning_summary_text.delta", **at, delta=piece)
    yield stream.frame("reasoning_summary_text.done", **at, text=part.text)
    yield stream.frame("reasoning_summary_part.done", **at, part={"type": "summary_text", "text": part.text})
    finished = {**begun, "summary": [{"type": "summary_text", "text": part.text}]}
    if "reasoning.encrypted_content" in (stream.speech.body.get("include") or []):
        finished["encrypted_content"] = f"ZW5jcnlwdGVk{stream.speech.number:04}"
    yield from _finished(stream, finished)


def _message(stream: _Stream, index: int) -> Iterator[Frame]:
    part, item = stream.speech.said[index], f"msg_{stream.speech.number}_{index}"
    at: Json = {"item_id": item, "output_index": len(stream.output), "content_index": 0}
    begun: Json = {"id": item, "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    yield stream.frame("output_item.added", output_index=len(stream.output), item=begun)
    yield stream.frame("content_part.added", **at, part={"type": "output_text", "text": "", "annotations": [], "logprobs": []})
    for piece in stream.deltas(index):
        yield stream.frame("output_text.delta", **at, delta=piece, logprobs=[])
    yield stream.frame("output_text.done", **at, text=part.text, logprobs=[])
    content: Json = {"type": "output_text", "text": part.text, "annotations": [], "logprobs": []}
    yield stream.frame("content_part.done", **at, part=content)
    yield from _finished(stream, {**begun, "status": _status(stream), "content": [content]})


def _call(stream: _Stream, index: int) -> Iterator[Frame]:
    part, item = stream.speech.said[index], f"fc_{stream.speech.number}_{index}"
    at: Json = {"item_id": item, "output_index": len(stream.output)}
    id = {} if part.id is None else {"call_id": part.id}
    begun: Json = {"id": item, "type": "function_call", "status": "in_progress", "arguments": "", **id, "name": part.name}
    yield stream.frame("output_item.added", output_index=len(stream.output), item=begun)
    for piece in stream.deltas(index):
        yield stream.frame("function_call_arguments.delta", **at, delta=piece)
    yield stream.frame("function_call_arguments.done", **at, name=part.name, arguments=part.text)
    yield from _finished(stream, {**begun, "status": _status(stream), "arguments": part.text})


def _finished(stream: _Stream, item: Json) -> Iterator[Frame]:
    index = len(stream.output)
    stream.output.append(item)
    yield stream.frame("output_item.done", output_index=index, item=item)


def _status(stream: _Stream) -> str:
    return "incomplete" if stream.speech.stop == "length" and len(stream.output) + 1 == len(stream.speech.said) else "completed"


def _response(speech: Speech) -> Json:
    return {
        "id": f"resp_{speech.number}",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": speech.body.get("instructions"),
        "max_output_tokens": speech.body.get("max_output_tokens"),
        "model": speech.model,
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": bool(speech.body.get("store", True)),
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": speech.body.get("tools", []),
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None,
        "metadata": {},
    }


def _usage(speech: Speech) -> Json:
    usage = speech.usage
    assert usage
    return {
        "input_tokens": usage.prompt,
        "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.total,
    }
