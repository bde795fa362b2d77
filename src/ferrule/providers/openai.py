"""The OpenAI Chat Completions dialect, as spoken by OpenAI and by most other servers.

Source: the API reference of `POST /chat/completions` and its streaming chunks. Quirks of an endpoint (`Profile.quirks`):

`max_tokens`         the server wants `max_tokens` where OpenAI wants `max_completion_tokens`
`no_stream_options`  the server refuses `stream_options`
`reasoning_content`  what the model thought goes back as `reasoning_content` of its message
`always_reasons`     the model refuses the effort `none`: it gets `low`
`tools_without_reasoning`  in this dialect the model takes tools only with the effort `none`
"""

from collections.abc import Iterable
from typing import Any

from ferrule.types.fault import Fault
from ferrule.types.json import encode, integer, items, loads, member, string
from ferrule.types.messages import Assistant, Image, Message, Reasoning, Results, StopReason, Text, ToolCall, User
from ferrule.types.request import Effort, Request
from ferrule.types.usage import Usage

from . import schema_calls
from .assemble import Assembler
from .base import Endpoint, Provider
from .classify import error_fault
from .hosts import is_openai
from .http import CUT, Decoder, Dialect, HttpProvider, kept, left_out, most_output
from .memo import Memo

STOPS: dict[str, StopReason] = {
    "stop": "end",
    "tool_calls": "calls",
    "function_call": "calls",
    "length": "length",
    "content_filter": "refusal",
}


def provider(endpoint: Endpoint) -> Provider:
    return HttpProvider(endpoint, Dialect(url, headers, body, decoder))


def url(endpoint: Endpoint) -> str:
    return f"{endpoint.base_url}/chat/completions"


def headers(endpoint: Endpoint) -> dict[str, str]:
    return {"authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}


def decoder(endpoint: Endpoint, request: Request, assembler: Assembler) -> Decoder:
    if endpoint.profile.tools == "schema" and schema_calls.offered(request.tools):
        return SchemaDecoder(assembler)
    return ChatDecoder(assembler)


def body(endpoint: Endpoint, request: Request, memo: Memo) -> bytes:
    profile = endpoint.profile
    sent: dict[str, Any] = {"model": endpoint.model, "stream": True}
    if "no_stream_options" not in profile.quirks:
        sent["stream_options"] = {"include_usage": True}
    most = most_output(endpoint, request)
    if most is not None:
        sent["max_tokens" if "max_tokens" in profile.quirks else "max_completion_tokens"] = most
    effort = _effort(endpoint, request)
    if effort is not None:
        sent["reasoning_effort"] = effort
    if request.cache_key and is_openai(endpoint.base_url):
        sent["prompt_cache_key"] = request.cache_key
    tools = schema_calls.offered(request.tools) if profile.tools == "schema" else ()
    if tools:
        sent["temperature"] = 0
        sent["response_format"] = schema_calls.response_format(tools)
        sent["messages"] = schema_calls.messages(request, tools, lambda parts: _content(endpoint, parts))
        return encode(sent)
    if request.tools:
        sent["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": loads(tool.parameters)[0]},
            }
            for tool in request.tools
        ]
    system = "\n\n".join(section for section in request.system if section)
    sent["messages"] = [
        *([{"role": "system", "content": system}] if system else []),
        *_messages(endpoint, request.messages, memo),
    ]
    return encode(sent)


def _effort(endpoint: Endpoint, request: Request) -> Effort | None:
    quirks = endpoint.profile.quirks
    if request.tools and "tools_without_reasoning" in quirks:
        return "none"
    if endpoint.profile.reasoning is False:
        return None
    return "low" if request.effort == "none" and "always_reasons" in quirks else request.effort


def image_part(endpoint: Endpoint, image: Image) -> dict[str, Any]:
    if instead := left_out(endpoint, image):
        return {"type": "text", "text": instead}
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{image.data}"}}


def _messages(endpoint: Endpoint, messages: Iterable[Message], memo: Memo) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []
    for message in messages:
        match message:
            case User(parts=parts):
                _say(sent, _content(endpoint, parts))
            case Assistant():
                sent.extend(memo.of(_assistant, endpoint, message))
            case Results():
                sent.extend(memo.of(_results, endpoint, message))
    return sent


def _say(sent: list[dict[str, Any]], content: str | list[dict[str, Any]]) -> None:
    """Two messages of the user in a row become one: servers that copy this dialect refuse two."""
    if not sent or sent[-1]["role"] != "user":
        sent.append({"role": "user", "content": content})
        return
    before = sent[-1]["content"]
    if isinstance(before, str) and isinstance(content, str):
        sent[-1] = {"role": "user", "content": f"{before}\n\n{content}"}
    else:
        sent[-1] = {"role": "user", "content": [*_blocks(before), *_blocks(content)]}


def _blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _content(endpoint: Endpoint, parts: tuple[Text | Image, ...]) -> str | list[dict[str, Any]]:
    if all(isinstance(part, Text) for part in parts):
        return "\n\n".join(part.text for part in parts if isinstance(part, Text))
    return [
        {"type": "text", "text": part.text} if isinstance(part, Text) else image_part(endpoint, part)
        for part in parts
        if isinstance(part, Image) or part.text
    ]


def _assistant(endpoint: Endpoint, message: Assistant) -> list[dict[str, Any]]:
    sent: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    calls = [_call(endpoint, call) for call in message.calls]
    if calls:
        sent["tool_calls"] = calls
    thoughts = [part for part in message.parts if isinstance(part, Reasoning)]
    details = [entry for part in thoughts for entry in items(kept(endpoint, part), "reasoning_details")]
    if details:
        sent["reasoning_details"] = details
    if thoughts and "reasoning_content" in endpoint.profile.quirks:
        sent["reasoning_content"] = "".join(part.text for part in thoughts)
    return [sent] if calls or message.text else []


def _call(endpoint: Endpoint, call: ToolCall) -> dict[str, Any]:
    sent = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    extra = kept(endpoint, call)
    return sent | extra if isinstance(extra, dict) else sent


def _results(endpoint: Endpoint, message: Results) -> list[dict[str, Any]]:
    """Tool messages carry text only: images follow all of them in one user message."""
    sent: list[dict[str, Any]] = []
    shown: list[dict[str, Any]] = []
    for result in message.parts:
        images = [part for part in result.parts if isinstance(part, Image)]
        text = result.text or ("The result is the image below." if images else "")
        sent.append({"role": "tool", "tool_call_id": result.call_id, "content": text})
        if images:
            shown.append({"type": "text", "text": f"From {result.name} ({result.call_id}):"})
            shown.extend(image_part(endpoint, image) for image in images)
    return [*sent, {"role": "user", "content": shown}] if shown else sent


class ChatDecoder(Decoder):
    """Reads `chat.completion.chunk` events. A finish reason and a clean end of the stream count as complete without `[DONE]`."""

    def __init__(self, assembler: Assembler) -> None:
        self._assembler = assembler
        self._finish = ""
        self._refused = False
        self._details: dict[tuple[int, str], dict[str, Any]] = {}

    def event(self, name: str, value: Any) -> Fault | None:
        if name == "error" or member(value, "error"):
            return error_fault(value)
        if member(value, "usage"):
            self._usage(value["usage"])
        for choice in items(value, "choices"):
            if not isinstance(choice, dict) or integer(choice.get("index", 0)) not in (None, 0):
                continue
            if choice.get("error"):
                return error_fault(choice)
            delta = choice.get("delta")
            if isinstance(delta, dict):
                self._delta(delta)
            self._finish = string(choice.get("finish_reason")) or self._finish
        return None

    def end(self) -> StopReason | Fault:
        if not self._finish:
            return CUT
        self._keep_details()
        if self._finish == "error":
            return Fault("server_error", "the provider ended the answer with finish_reason error")
        if self._refused:
            return "refusal"
        stop = STOPS.get(self._finish)
        if stop is None:
            self._assembler.note("openai", f"unknown finish_reason {self._finish!r} read as an ordinary end")
        if stop in (None, "end", "calls"):
            return "calls" if self._assembler.has_calls else "end"
        return stop or "end"

    def _delta(self, delta: dict[str, Any]) -> None:
        """Fields are looked at only where they are there: an answer may come in many thousand deltas."""
        if "reasoning_content" in delta or "reasoning" in delta:
            self._assembler.add("reasoning", string(delta, "reasoning_content") or string(delta, "reasoning"))
        if "reasoning_details" in delta:
            self._reasoning_details(items(delta, "reasoning_details"))
        if "content" in delta:
            self._text(string(delta["content"]))
        if refusal := string(delta.get("refusal")):
            self._refused = True
            self._text(refusal)
        if "tool_calls" in delta:
            self._calls(items(delta["tool_calls"]))
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            self._assembler.call(name=string(legacy, "name"), arguments=_arguments(legacy.get("arguments")))

    def _calls(self, calls: list[Any]) -> None:
        """Several fragments in one delta that have neither index nor id are different calls: their places number them."""
        for position, call in enumerate(calls):
            if not isinstance(call, dict):
                continue
            index, id, function = integer(call.get("index")), string(call.get("id")), call.get("function")
            extra = call.get("extra_content")
            self._assembler.call(
                index=position if index is None and not id and len(calls) > 1 else index,
                id=id,
                name=string(function, "name"),
                arguments=_arguments(member(function, "arguments")),
                extra={"extra_content": extra} if extra else None,
            )

    def _text(self, chunk: str) -> None:
        self._assembler.add("text", chunk)

    def _reasoning_details(self, entries: list[Any]) -> None:
        """Fragments of one entry share their index and type; their texts are joined, of other fields the last value counts."""
        for entry in entries:
            if not isinstance(entry, dict):
                continue
            if not self._details:
                self._assembler.bind("reasoning", "details")
            known = self._details.setdefault((integer(entry, "index") or 0, string(entry, "type")), {})
            for field, value in entry.items():
                if field in ("text", "summary", "data") and isinstance(value, str):
                    known.setdefault(field, []).append(value)
                elif value is not None or field not in known:
                    known[field] = value

    def _keep_details(self) -> None:
        if self._details:
            joined = [
                {
                    field: "".join(value) if field in ("text", "summary", "data") and isinstance(value, list) else value
                    for field, value in entry.items()
                }
                for entry in self._details.values()
            ]
            self._assembler.keep({"reasoning_details": joined}, "details")

    def _usage(self, usage: Any) -> None:
        prompt, output = integer(usage, "prompt_tokens"), integer(usage, "completion_tokens")
        if prompt is None or output is None:
            return
        cached = integer(usage, "prompt_tokens_details", "cached_tokens") or integer(usage, "prompt_cache_hit_tokens") or 0
        written = integer(usage, "prompt_tokens_details", "cache_write_tokens") or 0
        reasoning = integer(usage, "completion_tokens_details", "reasoning_tokens") or 0
        self._assembler.usage = Usage(max(0, prompt - cached - written), output, cached, written, reasoning)


class SchemaDecoder(ChatDecoder):
    """Reads answers whose text is the JSON of one call (`schema_calls`). The text is held back until it is whole."""

    def __init__(self, assembler: Assembler) -> None:
        super().__init__(assembler)
        self._reply: list[str] = []

    def end(self) -> StopReason | Fault:
        stop = super().end()
        call = schema_calls.call_of("".join(self._reply)) if stop in ("end", "calls") else None
        if call is None:
            self.abandon()
            return stop
        self._reply.clear()
        self._assembler.call(name=call.name, arguments=call.arguments)
        return "calls"

    def abandon(self) -> None:
        self._assembler.add("text", "".join(self._reply))
        self._reply.clear()

    def _text(self, chunk: str) -> None:
        self._reply.append(chunk)


def _arguments(value: Any) -> str:
    """Arguments are text; some servers send the object itself."""
    return value if isinstance(value, str) else "" if value is None else encode(value).decode()
