"""One short answer in each dialect: thought, text with an emoji, two calls; and the message and usage that it spells."""

from dataclasses import dataclass

from ferrule.providers.base import Dialect
from ferrule.types.messages import Assistant, AssistantPart, Opaque, Reasoning, Text, ToolCall
from ferrule.types.usage import Usage
from tests.providers.provider_wire import sse


@dataclass(frozen=True)
class Recorded:
    """`certain` is the offset from which a clean end is complete; `marked` whether the dialect has an end mark of its own."""

    dialect: Dialect
    raw: bytes
    parts: tuple[AssistantPart, ...]
    usage: Usage
    certain: bytes
    marked: bool = True

    @property
    def message(self) -> Assistant:
        return Assistant(self.parts, "calls", f"{self.dialect}/m")


def opaque(dialect: str, data: str) -> Opaque:
    return Opaque(dialect, "m", data)


def delta(finish: str | None = None, **fields: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def call(index: int, arguments: str, **fields: str) -> dict[str, object]:
    name = {"name": fields.pop("name")} if "name" in fields else {}
    return {"index": index, "function": name | {"arguments": arguments}, **fields}


CHAT = Recorded(
    "openai",
    sse(
        delta(reasoning_content="hm"),
        delta(content="Hi \ud83d"),
        delta(content="\udc4b"),
        delta(tool_calls=[call(0, "", id="a", name="f")]),
        delta(tool_calls=[call(0, '{"x":'), call(1, "{}", id="b", name="g")]),
        delta(tool_calls=[call(0, "1}")]),
        delta("tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}},
        done=True,
    ),
    (Reasoning("hm"), Text("Hi \U0001f44b"), ToolCall("a", "f", '{"x":1}'), ToolCall("b", "g", "{}")),
    Usage(9, 4),
    b'"finish_reason": "tool_calls"}]}',
)


def event(kind: str, **fields: object) -> tuple[str, dict[str, object]]:
    return kind, {"type": kind, **fields}


ANTHROPIC = Recorded(
    "anthropic",
    sse(
        event("message_start", message={"usage": {"input_tokens": 9, "output_tokens": 1}}),
        event("content_block_start", index=0, content_block={"type": "thinking", "thinking": "", "signature": ""}),
        event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "hm"}),
        event("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "s"}),
        event("content_block_start", index=1, content_block={"type": "text", "text": ""}),
        event("ping"),
        event("content_block_delta", index=1, delta={"type": "text_delta", "text": "Hi \ud83d"}),
        event("content_block_delta", index=1, delta={"type": "text_delta", "text": "\udc4b"}),
        event("content_block_start", index=2, content_block={"type": "tool_use", "id": "a", "name": "f", "input": {}}),
        event("content_block_delta", index=2, delta={"type": "input_json_delta", "partial_json": '{"x":'}),
        event("content_block_delta", index=2, delta={"type": "input_json_delta", "partial_json": "1}"}),
        event("content_block_stop", index=2),
        event("content_block_start", index=3, content_block={"type": "tool_use", "id": "b", "name": "g", "input": {}}),
        event("content_block_stop", index=3),
        event("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 4}),
        event("message_stop"),
    ),
    (
        Reasoning("hm", opaque("anthropic", '{"signature":"s"}')),
        Text("Hi \U0001f44b"),
        ToolCall("a", "f", '{"x":1}'),
        ToolCall("b", "g", "{}"),
    ),
    Usage(9, 4),
    b'{"type": "message_stop"}',
)

THOUGHT = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "e"}

RESPONSES = Recorded(
    "openai-responses",
    sse(
        event("response.output_item.added", output_index=0, item={"type": "reasoning", "id": "rs", "summary": []}),
        event("response.reasoning_summary_text.delta", output_index=0, summary_index=0, delta="hm"),
        event("response.output_item.done", output_index=0, item=THOUGHT),
        event("response.output_text.delta", output_index=1, content_index=0, delta="Hi \ud83d"),
        event("response.output_text.delta", output_index=1, content_index=0, delta="\udc4b"),
        event("response.output_item.added", output_index=2, item={"type": "function_call", "call_id": "a", "name": "f"}),
        event("response.function_call_arguments.delta", output_index=2, delta='{"x":1}'),
        event(
            "response.output_item.done",
            output_index=3,
            item={"type": "function_call", "call_id": "b", "name": "g", "arguments": "{}"},
        ),
        event("response.completed", response={"status": "completed", "usage": {"input_tokens": 9, "output_tokens": 4}}),
    ),
    (
        Reasoning(
            "hm",
            opaque(
                "openai-responses",
                '{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"e"}',
            ),
        ),
        Text("Hi \U0001f44b"),
        ToolCall("a", "f", '{"x":1}'),
        ToolCall("b", "g", "{}"),
    ),
    Usage(9, 4),
    b'"output_tokens": 4}}}',
)


def parts(*parts: object, **more: object) -> dict[str, object]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **more}]}


GOOGLE = Recorded(
    "google",
    sse(
        parts({"text": "hm", "thought": True}),
        parts({"text": "Hi \ud83d"}),
        parts({"text": "\udc4b"}),
        parts({"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "s"}),
        parts({"functionCall": {"name": "g", "id": "b"}})
        | {"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3, "thoughtsTokenCount": 1}},
        parts(finishReason="STOP"),
    ),
    (
        Reasoning("hm"),
        Text("Hi \U0001f44b"),
        ToolCall("", "f", '{"x":1}', opaque=opaque("google", '{"thoughtSignature":"s"}')),
        ToolCall("b", "g", "{}", opaque=opaque("google", '{"id":"b"}')),
    ),
    Usage(9, 4, reasoning=1),
    b'"finishReason": "STOP"}]}',
    marked=False,
)

ALL = (CHAT, ANTHROPIC, RESPONSES, GOOGLE)
