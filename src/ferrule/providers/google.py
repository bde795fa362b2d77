"""The Google Gemini dialect.

Source: the API reference of `models.streamGenerateContent` and the guides on function calling, thinking and thought signatures.
Quirks of a model (`Profile.quirks`):

`thinking_budget`    the model takes a budget of thinking tokens where newer ones take a level
`foreign_signature`  the model refuses a call without a thought signature: calls of other models get the documented stand-in
"""

from typing import Any
from urllib.parse import quote

from ferrule.types.fault import Fault
from ferrule.types.json import encode, integer, items, loads, member, string
from ferrule.types.messages import Assistant, Image, Message, Reasoning, Results, StopReason, Text, ToolCall, ToolResult, User
from ferrule.types.request import Effort, Request
from ferrule.types.stream import PartKind
from ferrule.types.usage import Usage

from .assemble import Assembler
from .base import Endpoint, Provider
from .classify import error_fault, shown
from .http import CUT, Decoder, Dialect, HttpProvider, kept, left_out, most_output
from .memo import Memo

MEDIA = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
FOREIGN_SIGNATURE = "skip_thought_signature_validator"
BUDGETS: dict[Effort, int] = {"none": 0, "low": 1024, "medium": 8192, "high": 24_576}
LEVELS: dict[Effort, str] = {"none": "low", "low": "low", "medium": "medium", "high": "high"}

STOPS: dict[str, StopReason] = {"STOP": "end", "MAX_TOKENS": "length"}
REFUSALS = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "MODEL_ARMOR",
        "ESCALATION",
        "PUP_LIMITED_DISABLED",
    }
)
BROKEN = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
        "OTHER",
    }
)

Part = dict[str, Any]


def provider(endpoint: Endpoint) -> Provider:
    return HttpProvider(endpoint, Dialect(url, headers, body, decoder))


def url(endpoint: Endpoint) -> str:
    base = endpoint.base_url.removesuffix("/v1beta")
    return f"{base}/v1beta/models/{quote(endpoint.model, safe='')}:streamGenerateContent?alt=sse"


def headers(endpoint: Endpoint) -> dict[str, str]:
    return {"x-goog-api-key": endpoint.key} if endpoint.key else {}


def decoder(endpoint: Endpoint, request: Request, assembler: Assembler) -> Decoder:
    return GeminiDecoder(assembler)


def body(endpoint: Endpoint, request: Request, memo: Memo) -> bytes:
    sent: dict[str, Any] = {"contents": _contents(endpoint, request.messages)}
    system = [{"text": section} for section in request.system if section]
    if system:
        sent["systemInstruction"] = {"parts": system}
    if request.tools:
        declared = [
            {"name": tool.name, "description": tool.description, "parametersJsonSchema": loads(tool.parameters)[0]}
            for tool in request.tools
        ]
        sent["tools"] = [{"functionDeclarations": declared}]
    generation: dict[str, Any] = {}
    most = most_output(endpoint, request)
    if most is not None:
        generation["maxOutputTokens"] = most
    thinking = _thinking(endpoint, request.effort)
    if thinking:
        generation["thinkingConfig"] = thinking
    if generation:
        sent["generationConfig"] = generation
    return encode(sent)


def _thinking(endpoint: Endpoint, effort: Effort | None) -> dict[str, Any]:
    profile = endpoint.profile
    if profile.reasoning is False or (effort is None and not profile.reasoning):
        return {}
    shown_too = {"includeThoughts": True}
    if effort is None:
        return shown_too
    if "thinking_budget" in profile.quirks:
        return shown_too | {"thinkingBudget": BUDGETS[effort]}
    return shown_too | {"thinkingLevel": LEVELS[effort]}


def _contents(endpoint: Endpoint, messages: tuple[Message, ...]) -> list[Part]:
    """Roles alternate, beginning with the user; all results of a turn stand in one content, as many as its calls."""
    sent: list[Part] = []
    ids: dict[str, str] = {}
    for message in messages:
        match message:
            case User(parts=parts):
                _say(sent, "user", [sent_part for part in parts for sent_part in _content(endpoint, part)])
            case Results(parts=results):
                _say(sent, "user", _results(endpoint, results, ids))
            case Assistant():
                _say(sent, "model", _assistant(endpoint, message, ids))
    _sign(sent)
    return sent


def _sign(sent: list[Part]) -> None:
    """A model that signs its calls wants the first one of every step signed: those that lost their signature get the stand-in."""
    first = [next((part for part in content["parts"] if "functionCall" in part), None) for content in sent]
    unsigned = [call for call in first if call is not None and "thoughtSignature" not in call]
    if unsigned and len(unsigned) < sum(call is not None for call in first):
        for call in unsigned:
            call["thoughtSignature"] = FOREIGN_SIGNATURE


def _say(sent: list[Part], role: str, parts: list[Part]) -> None:
    if not parts:
        return
    if not sent and role == "model":
        sent.append({"role": "user", "parts": [{"text": "(The conversation goes on.)"}]})
    if sent and sent[-1]["role"] == role:
        sent[-1]["parts"].extend(parts)
    else:
        sent.append({"role": role, "parts": parts})


def _content(endpoint: Endpoint, part: Text | Image) -> list[Part]:
    if isinstance(part, Text):
        return [{"text": part.text}] if part.text else []
    if instead := left_out(endpoint, part, MEDIA):
        return [{"text": instead}]
    return [{"inlineData": {"mimeType": part.media_type, "data": part.data}}]


def _name(name: str) -> str:
    """Names begin with a letter or an underscore here; that of a tool that never was may not."""
    return name if name[:1].isalpha() or name[:1] == "_" else f"_{name}"


def _results(endpoint: Endpoint, results: tuple[ToolResult, ...], ids: dict[str, str]) -> list[Part]:
    """Images cannot stand inside a function response everywhere: they follow all of them."""
    sent: list[Part] = []
    pictures: list[Part] = []
    for result in results:
        images = [part for part in result.parts if isinstance(part, Image)]
        text = result.text or ("The result is the image below." if images else "")
        response: Part = {"name": _name(result.name), "response": {"output" if result.kind == "ok" else "error": text}}
        if result.call_id in ids:
            response["id"] = ids[result.call_id]
        sent.append({"functionResponse": response})
        if images:
            pictures.append({"text": f"From {result.name}:"})
            pictures.extend(part for image in images for part in _content(endpoint, image))
    return sent + pictures


def _assistant(endpoint: Endpoint, message: Assistant, ids: dict[str, str]) -> list[Part]:
    """`ids` learns the vendor's own call ids, which go back on the call and on its result."""
    sent: list[Part] = []
    for part in message.parts:
        opaque = kept(endpoint, part)
        signature = string(opaque, "thoughtSignature")
        match part:
            case Text(text=text) if text or signature:
                sent.append({"text": text})
            case Reasoning(text=text) if signature:
                sent.append({"text": text, "thought": True})
            case ToolCall():
                arguments, _ = loads(part.arguments)
                call: Part = {"name": _name(part.name), "args": arguments if isinstance(arguments, dict) else {}}
                if string(opaque, "id"):
                    call["id"] = ids[part.id] = string(opaque, "id")
                if opaque is None and part is message.calls[0] and "foreign_signature" in endpoint.profile.quirks:
                    signature = FOREIGN_SIGNATURE
                sent.append({"functionCall": call})
            case _:
                continue
        if signature:
            sent[-1]["thoughtSignature"] = signature
    return sent


class GeminiDecoder(Decoder):
    """Reads `GenerateContentResponse` chunks. There is no end mark: a finish reason and a clean end are complete.

    A part with a thought signature stays a part of its own, because it must go back as it came.
    """

    def __init__(self, assembler: Assembler) -> None:
        self._assembler = assembler
        self._finish = ""
        self._message = ""

    def event(self, name: str, value: Any) -> Fault | None:
        if member(value, "error"):
            return error_fault(value)
        self._usage(member(value, "usageMetadata"))
        blocked = string(value, "promptFeedback", "blockReason")
        if blocked:
            said = string(value, "promptFeedback", "blockReasonMessage")
            return Fault("refused", shown(f"the prompt was blocked: {blocked} {said}"))
        candidate = member(value, "candidates", 0)
        for part in items(candidate, "content", "parts"):
            self._part(part)
        self._finish = string(candidate, "finishReason") or self._finish
        self._message = string(candidate, "finishMessage") or self._message
        return None

    def end(self) -> StopReason | Fault:
        if not self._finish:
            return CUT
        if self._finish in REFUSALS:
            return "refusal"
        if self._finish in BROKEN:
            return Fault("bad_response", shown(f"{self._finish} {self._message}"))
        stop = STOPS.get(self._finish)
        if stop is None:
            self._assembler.note("google", f"unknown finishReason {self._finish!r} read as an ordinary end")
        return stop if stop == "length" else "calls" if self._assembler.has_calls else "end"

    def _part(self, part: Any) -> None:
        signature = string(part, "thoughtSignature")
        call = member(part, "functionCall")
        if isinstance(call, dict):
            self._call(call, signature or string(call, "thoughtSignature"))
            return
        kind: PartKind = "reasoning" if member(part, "thought") is True else "text"
        text = string(part, "text")
        if signature:
            self._assembler.begin(kind)
            self._assembler.add(kind, text)
            self._assembler.keep({"thoughtSignature": signature})
            self._assembler.close()
        elif text:
            self._assembler.add(kind, text)

    def _call(self, call: dict[str, Any], signature: str) -> None:
        arguments = member(call, "args")
        self._assembler.begin("call", None, string(call, "id"), string(call, "name"))
        self._assembler.add("call", encode({} if arguments is None else arguments).decode())
        opaque = {"id": string(call, "id"), "thoughtSignature": signature}
        self._assembler.keep({name: value for name, value in opaque.items() if value})

    def _usage(self, usage: Any) -> None:
        """The prompt count includes what was read from a cache; thoughts are counted apart from the answer."""
        prompt = integer(usage, "promptTokenCount")
        if prompt is None:
            return
        cached = integer(usage, "cachedContentTokenCount") or 0
        thoughts = integer(usage, "thoughtsTokenCount") or 0
        answer = integer(usage, "candidatesTokenCount") or 0
        tools = integer(usage, "toolUsePromptTokenCount") or 0
        self._assembler.usage = Usage(max(0, prompt - cached) + tools, answer + thoughts, cached, 0, thoughts)
