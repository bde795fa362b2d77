"""The Anthropic Messages dialect.

Source: the API reference of `POST /v1/messages`, its streaming events, and the guides on prompt caching, thinking and effort.
Quirk of a model (`Profile.quirks`):

`thinking_budget`  the model takes a budget of thinking tokens where newer ones take an effort
"""

from typing import Any

from ferrule.types.fault import Fault
from ferrule.types.json import encode, integer, loads, member, string
from ferrule.types.messages import Assistant, Image, Message, Reasoning, Results, StopReason, Text, ToolCall, ToolResult, User
from ferrule.types.request import Effort, Request
from ferrule.types.usage import Usage

from .assemble import Assembler
from .base import Endpoint, Provider
from .classify import error_fault
from .http import CUT, Decoder, Dialect, HttpProvider, kept, left_out, most_output
from .memo import Memo

VERSION = "2023-06-01"
UNKNOWN_MAX_OUTPUT = 8192
"""Sent as `max_tokens`, which the API demands, where neither the request nor the catalog says more; every model allows it."""

BUDGETS: dict[Effort, int] = {"low": 2048, "medium": 8192, "high": 24_576}
LEAST_BUDGET = 1024
MARK = {"type": "ephemeral"}

STOPS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "pause_turn": "end",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}

Block = dict[str, Any]


def provider(endpoint: Endpoint) -> Provider:
    return HttpProvider(endpoint, Dialect(url, headers, body, decoder))


def url(endpoint: Endpoint) -> str:
    return f"{endpoint.base_url.removesuffix('/v1')}/v1/messages"


def headers(endpoint: Endpoint) -> dict[str, str]:
    return {"anthropic-version": VERSION} | ({"x-api-key": endpoint.key} if endpoint.key else {})


def decoder(endpoint: Endpoint, request: Request, assembler: Assembler) -> Decoder:
    return MessagesDecoder(assembler)


def body(endpoint: Endpoint, request: Request, memo: Memo) -> bytes:
    most = most_output(endpoint, request) or endpoint.profile.max_output or UNKNOWN_MAX_OUTPUT
    sent: dict[str, Any] = {"model": endpoint.model, "max_tokens": most, "stream": True}
    system = [{"type": "text", "text": section} for section in request.system if section.strip()]
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": loads(tool.parameters)[0]} for tool in request.tools
    ]
    messages = _messages(endpoint, request.messages, memo)
    if not tools and (used := _tools_used(messages)):
        tools, sent["tool_choice"] = used, {"type": "none"}
    if endpoint.profile.cache_marks:
        _mark(system, tools, messages)
    if system:
        sent["system"] = system
    if tools:
        sent["tools"] = tools
    sent["messages"] = messages
    return encode(sent | _thinking(endpoint, request.effort, most, messages))


def _tools_used(messages: list[Block]) -> list[Block]:
    """Stand-ins for the tools of earlier calls, which the API wants defined even where no tool is offered any more."""
    blocks = [block for message in messages for block in message["content"]]
    names = dict.fromkeys(block["name"] for block in blocks if block["type"] == "tool_use")
    return [{"name": name, "description": "Not offered any more.", "input_schema": {"type": "object"}} for name in names]


def _thinking(endpoint: Endpoint, effort: Effort | None, most: int, messages: list[Block]) -> dict[str, Any]:
    """How much to think. Newer models always may: `none` asks them for the least effort."""
    profile = endpoint.profile
    if profile.reasoning is False or (effort is None and not profile.reasoning):
        return {}
    if "thinking_budget" not in profile.quirks:
        level = {"output_config": {"effort": "low" if effort == "none" else effort}} if effort is not None else {}
        return {"thinking": {"type": "adaptive", "display": "summarized"}, **level}
    if effort is None or effort == "none" or _began_without_thinking(messages):
        return {}
    budget = min(BUDGETS[effort], most - LEAST_BUDGET)
    return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= LEAST_BUDGET else {}


def _began_without_thinking(messages: list[Block]) -> bool:
    """Whether a tool loop is open that did not begin with a thought: thinking cannot be turned on inside it."""
    first: Block | None = None
    for message in reversed(messages):
        kinds = {block["type"] for block in message["content"]}
        if message["role"] == "user" and "tool_result" not in kinds:
            break
        first = message["content"][0] if message["role"] == "assistant" else first
    return first is not None and first["type"] not in ("thinking", "redacted_thinking")


def _mark(system: list[Block], tools: list[Block], messages: list[Block]) -> None:
    """Cache marks, four at most: the ends of the tools and the system prompt, and of the last two user messages.

    The last but one is where the previous request's mark was, so that its cache is found however much was added since.
    """
    marked = [blocks for blocks in (tools, system) if blocks]
    marked += [message["content"] for message in messages if message["role"] == "user"][-2:]
    for blocks in marked:
        blocks[-1] = blocks[-1] | {"cache_control": MARK}


def _messages(endpoint: Endpoint, messages: tuple[Message, ...], memo: Memo) -> list[Block]:
    """Roles alternate, beginning with the user; results stand first in their message, calls last in theirs."""
    sent: list[Block] = []
    for message in messages:
        match message:
            case User(parts=parts):
                _say(sent, "user", [block for part in parts for block in _content(endpoint, part)])
            case Results(parts=results):
                _say(sent, "user", [memo.of(_result, endpoint, result) for result in results])
            case Assistant():
                _say(sent, "assistant", memo.of(_assistant, endpoint, message))
    return sent


def _say(sent: list[Block], role: str, blocks: list[Block]) -> None:
    if not blocks:
        return
    if not sent and role == "assistant":
        sent.append({"role": "user", "content": [{"type": "text", "text": "(The conversation goes on.)"}]})
    if not sent or sent[-1]["role"] != role:
        sent.append({"role": role, "content": []})
    places = {"tool_result": -1, "tool_use": 1}
    sent[-1]["content"] = sorted([*sent[-1]["content"], *blocks], key=lambda block: places.get(block["type"], 0))


def _content(endpoint: Endpoint, part: Text | Image) -> list[Block]:
    """The API refuses text that is empty or white space only."""
    if isinstance(part, Text):
        return [{"type": "text", "text": part.text}] if part.text.strip() else []
    if instead := left_out(endpoint, part):
        return [{"type": "text", "text": instead}]
    return [{"type": "image", "source": {"type": "base64", "media_type": part.media_type, "data": part.data}}]


def _result(endpoint: Endpoint, result: ToolResult) -> Block:
    sent: Block = {"type": "tool_result", "tool_use_id": result.call_id}
    content = [block for part in result.parts for block in _content(endpoint, part)]
    if content:
        sent["content"] = content
    return sent | {"is_error": True} if result.kind != "ok" else sent


def _assistant(endpoint: Endpoint, message: Assistant) -> list[Block]:
    """Thinking that nothing follows is left out: the API refuses it."""
    sent: list[Block] = []
    for part in message.parts:
        match part:
            case Text():
                sent.extend(_content(endpoint, part))
            case Reasoning(text=text):
                opaque = kept(endpoint, part)
                if string(opaque, "signature"):
                    sent.append({"type": "thinking", "thinking": text, "signature": string(opaque, "signature")})
                elif string(opaque, "redacted"):
                    sent.append({"type": "redacted_thinking", "data": string(opaque, "redacted")})
            case ToolCall():
                arguments, _ = loads(part.arguments)
                input = arguments if isinstance(arguments, dict) else {}
                sent.append({"type": "tool_use", "id": part.id, "name": part.name, "input": input})
    while sent and sent[-1]["type"] in ("thinking", "redacted_thinking"):
        sent.pop()
    return sent


class MessagesDecoder(Decoder):
    """Reads `message_*` and `content_block_*` events; parts are addressed by the index of their block."""

    def __init__(self, assembler: Assembler) -> None:
        self._assembler = assembler
        self._stop = ""
        self._inputs: dict[int | None, Any] = {}
        self._foreign: set[int | None] = set()
        self._counts = {"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}

    def event(self, name: str, value: Any) -> Fault | None:
        match string(value, "type") or name:
            case "message_start":
                self._usage(member(value, "message", "usage"))
            case "content_block_start":
                self._begun(integer(value, "index"), member(value, "content_block"))
            case "content_block_delta":
                self._delta(integer(value, "index"), member(value, "delta"))
            case "content_block_stop":
                self._finished(integer(value, "index"))
            case "message_delta":
                self._stop = string(value, "delta", "stop_reason") or self._stop
                self._usage(member(value, "usage"))
            case "message_stop":
                self.complete = True
            case "error":
                return error_fault(value)
            case _ if member(value, "error"):
                return error_fault(value)
        return None

    def end(self) -> StopReason | Fault:
        if not self.complete or not self._stop:
            return CUT
        stop = STOPS.get(self._stop)
        if stop is None:
            self._assembler.note("anthropic", f"unknown stop_reason {self._stop!r} read as an ordinary end")
        if stop in (None, "end", "calls"):
            return "calls" if self._assembler.has_calls else "end"
        return stop or "end"

    def _begun(self, index: int | None, block: Any) -> None:
        self._foreign.discard(index)
        match string(block, "type"):
            case "text":
                self._assembler.begin("text", index)
                self._assembler.add("text", string(block, "text"), index)
            case "thinking":
                self._assembler.begin("reasoning", index)
                self._assembler.add("reasoning", string(block, "thinking"), index)
                self._sign(index, string(block, "signature"))
            case "redacted_thinking":
                self._assembler.begin("reasoning", index)
                self._assembler.keep({"redacted": string(block, "data")}, index)
            case "tool_use":
                self._assembler.begin("call", index, string(block, "id"), string(block, "name"))
                self._inputs[index] = member(block, "input")
            case other:
                self._foreign.add(index)
                self._assembler.note("anthropic", f"a content block of type {other!r} was left out")

    def _delta(self, index: int | None, delta: Any) -> None:
        if index in self._foreign:
            return
        match string(delta, "type"):
            case "text_delta":
                self._assembler.add("text", string(delta, "text"), index)
            case "thinking_delta":
                self._assembler.add("reasoning", string(delta, "thinking"), index)
            case "signature_delta":
                self._sign(index, string(delta, "signature"))
            case "input_json_delta":
                self._assembler.add("call", string(delta, "partial_json"), index)

    def _sign(self, index: int | None, signature: str) -> None:
        if signature:
            self._assembler.keep({"signature": signature}, index)

    def _finished(self, index: int | None) -> None:
        """A call without arguments comes without deltas: its input stands in the block's start."""
        input = self._inputs.pop(index, None)
        if isinstance(input, dict) and not self._assembler.chunked(index):
            self._assembler.add("call", encode(input).decode(), index)

    def _usage(self, usage: Any) -> None:
        """Counts are running totals; those that are missing stay as they were."""
        if not isinstance(usage, dict):
            return
        for name in self._counts:
            count = integer(usage, name)
            if count is not None:
                self._counts[name] = count
        new, output, read, write = self._counts.values()
        self._assembler.usage = Usage(new, output, read, write, integer(usage, "output_tokens_details", "thinking_tokens") or 0)
