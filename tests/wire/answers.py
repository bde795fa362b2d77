"""One answer in each vendor's own stream: something thought and signed, something said, two calls."""

from typing import Any

from .capture import sse

THOUGHT = "I should look at both."
SAID = "I look."
SIGNATURE = "c2lnbmF0dXJlIG9mIHRoZSB0aG91Z2h0"
ARGUMENTS = ('{"path":"x"}', '{"path":"ü 😀"}')


def anthropic(*, display: bool = True, redacted: bool = False) -> bytes:
    thinking: dict[str, Any] = {"type": "thinking", "thinking": "", "signature": ""}
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if redacted:
        blocks.append(({"type": "redacted_thinking", "data": SIGNATURE}, []))
    else:
        words = [{"type": "thinking_delta", "thinking": THOUGHT}] if display else []
        blocks.append((thinking, [*words, {"type": "signature_delta", "signature": SIGNATURE}]))
    blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": SAID}]))
    for number, arguments in enumerate(ARGUMENTS):
        block = {"type": "tool_use", "id": f"toolu_0{number}", "name": "read_file", "input": {}}
        halves = (arguments[:5], arguments[5:])
        blocks.append((block, [{"type": "input_json_delta", "partial_json": half} for half in halves]))
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
    }
    usage = {"input_tokens": 10, "output_tokens": 1}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message | {"usage": usage}}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    ending = {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 20},
    }
    return sse(*events, ending, {"type": "message_stop"}, named=True)


def responses(*, encrypted: bool = True) -> bytes:
    reasoning: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": THOUGHT}]}
    if encrypted:
        reasoning["encrypted_content"] = SIGNATURE
    parts = [{"type": "output_text", "text": SAID, "annotations": []}]
    items: list[dict[str, Any]] = [
        reasoning,
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": parts},
    ]
    for number, arguments in enumerate(ARGUMENTS):
        items.append(
            {
                "type": "function_call",
                "id": f"fc_{number}",
                "call_id": f"call_0{number}",
                "name": "read_file",
                "arguments": arguments,
            }
            | {"status": "completed"}
        )
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}}
    ]
    for index, item in enumerate(items):
        place = {"output_index": index, "item_id": item["id"]}
        nothing: dict[str, dict[str, Any]] = {
            "reasoning": {"summary": []},
            "message": {"content": []},
            "function_call": {"arguments": ""},
        }
        added = item | nothing[item["type"]] | {"status": "in_progress"}
        events.append({"type": "response.output_item.added", "output_index": index, "item": added})
        if item["type"] == "reasoning":
            events.append({"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": THOUGHT} | place)
        if item["type"] == "message":
            events.append({"type": "response.output_text.delta", "content_index": 0, "delta": SAID} | place)
        if item["type"] == "function_call":
            events.append({"type": "response.function_call_arguments.delta", "delta": item["arguments"]} | place)
            events.append({"type": "response.function_call_arguments.done", "arguments": item["arguments"]} | place)
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    usage = {"input_tokens": 10, "output_tokens": 20, "total_tokens": 30}
    final = {"id": "resp_1", "status": "completed", "output": items, "usage": usage}
    return sse(*events, {"type": "response.completed", "response": final}, named=True)


def google(*, ids: bool = True) -> bytes:
    def chunk(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
        candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0} | more
        return {
            "candidates": [candidate],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        }

    calls: list[dict[str, Any]] = []
    for number, path in enumerate(("x", "ü 😀")):
        call: dict[str, Any] = {"name": "read_file", "args": {"path": path}} | ({"id": f"g{number}"} if ids else {})
        calls.append({"functionCall": call} | ({"thoughtSignature": SIGNATURE} if number == 0 else {}))
    return sse(chunk({"text": THOUGHT, "thought": True}), chunk({"text": SAID}), chunk(*calls, finishReason="STOP"))


def google_signed_end() -> bytes:
    """Text whose signature arrives afterwards, in a part without text."""
    last: dict[str, Any] = {
        "content": {"role": "model", "parts": [{"text": "", "thoughtSignature": SIGNATURE}]},
        "finishReason": "STOP",
    }
    first = {"content": {"role": "model", "parts": [{"text": SAID}]}}
    return sse({"candidates": [first]}, {"candidates": [last]})


def chat(*, key: str = "reasoning_content") -> bytes:
    def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    events = [chunk(role="assistant", content=None), chunk(**{key: THOUGHT}), chunk(content=SAID)]
    for number, arguments in enumerate(ARGUMENTS):
        begun = {"index": number, "id": f"call_0{number}", "type": "function", "function": {"name": "read_file", "arguments": ""}}
        events.append(chunk(tool_calls=[begun]))
        events.append(chunk(tool_calls=[{"index": number, "function": {"arguments": arguments}}]))
    return sse(*events, chunk("tool_calls"), end="[DONE]")


ANSWERS: dict[str, tuple[str, bytes]] = {
    "anthropic, thinking": ("anthropic", anthropic()),
    "anthropic, thinking that is not shown": ("anthropic", anthropic(display=False)),
    "anthropic, redacted thinking": ("anthropic", anthropic(redacted=True)),
    "responses, encrypted reasoning": ("openai-responses", responses()),
    "responses, reasoning without its content": ("openai-responses", responses(encrypted=False)),
    "google, signed call": ("google", google()),
    "google, signed call without ids": ("google", google(ids=False)),
    "google, signed text": ("google", google_signed_end()),
    "chat": ("openai", chat(key="nothing")),
    "chat, reasoning_content": ("openai", chat()),
    "chat, reasoning": ("openai", chat(key="reasoning")),
}
