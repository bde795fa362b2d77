"""The OpenAI Responses dialect.

Source: the API reference of `POST /responses` and its streaming events. Nothing is stored at the provider (`store: false`), so
that reasoning comes back encrypted and returns unchanged in front of the call or message it led to. Quirk of a model
(`Profile.quirks`):

`always_reasons`  the model refuses the effort `none`: it gets `low`
"""

from collections.abc import Hashable
from typing import Any

from ferrule.types.fault import Fault
from ferrule.types.json import encode, integer, items, loads, member, string
from ferrule.types.messages import Assistant, Image, Reasoning, Results, StopReason, Text, ToolCall, ToolResult, User
from ferrule.types.request import Request
from ferrule.types.usage import Usage

from .assemble import Assembler
from .base import Endpoint, Provider
from .classify import error_fault
from .hosts import is_openai
from .http import CUT, Decoder, Dialect, HttpProvider, kept, left_out, most_output
from .memo import Memo


def provider(endpoint: Endpoint) -> Provider:
    return HttpProvider(endpoint, Dialect(url, headers, body, decoder))


def url(endpoint: Endpoint) -> str:
    return f"{endpoint.base_url}/responses"


def headers(endpoint: Endpoint) -> dict[str, str]:
    return {"authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}


def decoder(endpoint: Endpoint, request: Request, assembler: Assembler) -> Decoder:
    return ResponsesDecoder(assembler)


def body(endpoint: Endpoint, request: Request, memo: Memo) -> bytes:
    reasons = endpoint.profile.reasoning
    sent: dict[str, Any] = {"model": endpoint.model, "stream": True, "store": False}
    if reasons is not False:
        sent["include"] = ["reasoning.encrypted_content"]
        if reasons or request.effort is not None:
            least = "low" if "always_reasons" in endpoint.profile.quirks else "none"
            effort = least if request.effort == "none" else request.effort
            sent["reasoning"] = {"summary": "auto"} | ({"effort": effort} if effort is not None else {})
    system = "\n\n".join(section for section in request.system if section)
    if system:
        sent["instructions"] = system
    most = most_output(endpoint, request)
    if most is not None:
        sent["max_output_tokens"] = most
    if request.cache_key and is_openai(endpoint.base_url):
        sent["prompt_cache_key"] = request.cache_key
    if request.tools:
        sent["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": loads(tool.parameters)[0],
                "strict": False,
            }
            for tool in request.tools
        ]
    sent["input"] = _input(endpoint, request, memo)
    return encode(sent)


def _input(endpoint: Endpoint, request: Request, memo: Memo) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []
    for message in request.messages:
        match message:
            case User(parts=parts):
                sent.append({"type": "message", "role": "user", "content": [_content(endpoint, part) for part in parts]})
            case Assistant():
                sent.extend(memo.of(_assistant, endpoint, message))
            case Results(parts=results):
                sent.extend(memo.of(_result, endpoint, result) for result in results)
    return sent


def _content(endpoint: Endpoint, part: Text | Image) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "input_text", "text": part.text}
    if instead := left_out(endpoint, part):
        return {"type": "input_text", "text": instead}
    return {"type": "input_image", "image_url": f"data:{part.media_type};base64,{part.data}", "detail": "auto"}


def _assistant(endpoint: Endpoint, message: Assistant) -> list[dict[str, Any]]:
    """Reasoning that nothing follows, or that came unencrypted, is left out: the provider refuses it."""
    sent: list[dict[str, Any]] = []
    for part in message.parts:
        match part:
            case Reasoning():
                item = kept(endpoint, part)
                if string(item, "encrypted_content"):
                    sent.append(item)
            case Text(text=text) if text:
                phase = string(kept(endpoint, part), "phase")
                content = [{"type": "output_text", "text": text, "annotations": []}]
                sent.append(
                    {"type": "message", "role": "assistant", "content": content} | ({"phase": phase} if phase else {}),
                )
            case ToolCall():
                sent.append({"type": "function_call", "call_id": part.id, "name": part.name, "arguments": part.arguments})
    while sent and sent[-1].get("type") == "reasoning":
        sent.pop()
    return sent


def _result(endpoint: Endpoint, result: ToolResult) -> dict[str, Any]:
    pictures = any(isinstance(part, Image) for part in result.parts)
    output = [_content(endpoint, part) for part in result.parts] if pictures else result.text
    return {"type": "function_call_output", "call_id": result.call_id, "output": output}


class ResponsesDecoder(Decoder):
    """Reads `response.*` events; parts are addressed by the index of their output item."""

    def __init__(self, assembler: Assembler) -> None:
        self._assembler = assembler
        self._refused = False
        self._final: Any = None

    def event(self, name: str, value: Any) -> Fault | None:
        kind = string(value, "type") or name
        match kind:
            case "response.output_item.added":
                self._added(self._key(value), member(value, "item"))
            case "response.output_text.delta":
                self._assembler.add("text", string(value, "delta"), self._key(value))
            case "response.refusal.delta":
                self._refused = True
                self._assembler.add("text", string(value, "delta"), self._key(value))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._assembler.add("reasoning", string(value, "delta"), self._key(value))
            case "response.reasoning_summary_part.added" if self._assembler.chunked(self._key(value)):
                self._assembler.add("reasoning", "\n\n", self._key(value))
            case "response.function_call_arguments.delta":
                self._assembler.add("call", string(value, "delta"), self._key(value))
            case "response.output_item.done":
                self._item(self._key(value), member(value, "item"))
            case "response.completed" | "response.incomplete":
                self._ended(member(value, "response"))
            case "response.failed" | "response.cancelled":
                self._usage(member(value, "response", "usage"))
                return error_fault(member(value, "response"))
            case "error":
                return error_fault(value)
            case _ if member(value, "error") and not kind:
                return error_fault(value)
        return None

    def end(self) -> StopReason | Fault:
        if self._final is None:
            return CUT
        if string(self._final, "status") == "incomplete":
            reason = string(self._final, "incomplete_details", "reason")
            if reason == "content_filter":
                return "refusal"
            if reason != "max_output_tokens":
                self._assembler.note("openai-responses", f"unknown reason of an incomplete answer {reason!r} read as length")
            return "length"
        if self._refused:
            return "refusal"
        return "calls" if self._assembler.has_calls else "end"

    @staticmethod
    def _key(value: Any) -> Hashable:
        index = integer(value, "output_index")
        return index if index is not None else string(value, "item_id") or string(value, "item", "id")

    def _added(self, key: Hashable, item: Any) -> None:
        match string(item, "type"):
            case "function_call":
                self._assembler.begin("call", key, string(item, "call_id"), string(item, "name"))
            case "reasoning":
                self._assembler.begin("reasoning", key)

    def _item(self, key: Hashable, item: Any) -> None:
        """A whole item: what its deltas did not bring, and what must be kept of it."""
        match string(item, "type"):
            case "function_call":
                if not self._assembler.known(key):
                    self._assembler.begin("call", key)
                self._assembler.named(key, string(item, "call_id"), string(item, "name"))
                if not self._assembler.chunked(key):
                    self._assembler.add("call", string(item, "arguments"), key)
            case "reasoning":
                if not self._assembler.known(key):
                    self._assembler.begin("reasoning", key)
                if not self._assembler.chunked(key):
                    self._assembler.add("reasoning", "\n\n".join(string(part, "text") for part in items(item, "summary")), key)
                self._assembler.keep({name: field for name, field in item.items() if name != "status"}, key)
            case "message":
                if not self._assembler.chunked(key):
                    for part in items(item, "content"):
                        self._refused = self._refused or bool(string(part, "refusal"))
                        self._assembler.add("text", string(part, "text") or string(part, "refusal"), key)
                if string(item, "phase"):
                    self._assembler.keep({"phase": string(item, "phase")}, key)

    def _ended(self, response: Any) -> None:
        """The last event repeats all items: those that no event announced are taken from it."""
        self.complete = True
        self._final = response if isinstance(response, dict) else {}
        self._usage(member(response, "usage"))
        for index, item in enumerate(items(response, "output")):
            if not self._assembler.known(index) and not self._assembler.known(string(item, "id")):
                self._item(index, item)

    def _usage(self, usage: Any) -> None:
        prompt, output = integer(usage, "input_tokens"), integer(usage, "output_tokens")
        if prompt is None or output is None:
            return
        read = integer(usage, "input_tokens_details", "cached_tokens") or 0
        written = integer(usage, "input_tokens_details", "cache_write_tokens") or 0
        reasoning = integer(usage, "output_tokens_details", "reasoning_tokens") or 0
        self._assembler.usage = Usage(max(0, prompt - read - written), output, read, written, reasoning)
