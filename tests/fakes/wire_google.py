"""Google generateContent, streamed as server-sent events. Function calls come whole, as this API sends them."""

import json
from collections.abc import Iterator

from ferrule.providers.scripted.answer import Said
from ferrule.providers.scripted.faults import Says
from ferrule.providers.scripted.view import View

from .spelling import WORDS, Frame, Json, Speech, dumps, plain

STOPS = {"end": "STOP", "calls": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
ERRORS: dict[Says, tuple[int, str, str]] = {
    "auth": (401, "UNAUTHENTICATED", "API key not valid. Please pass a valid API key."),
    "billing": (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."),
    "rate_limit": (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    "overloaded": (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    "server_error": (500, "INTERNAL", "An internal error has occurred."),
    "quota": (429, "RESOURCE_EXHAUSTED", "Quota exceeded for metric: requests, limit: 50, quotaId: RequestsPerDay-FreeTier"),
    "signature": (400, "INVALID_ARGUMENT", "Unable to submit request because Thought signature is not valid."),
    "effort": (400, "INVALID_ARGUMENT", "Thinking level is not supported for this model."),
    "idle_timeout": (504, "DEADLINE_EXCEEDED", "The service was unable to finish processing within the deadline."),
    "timeout": (504, "DEADLINE_EXCEEDED", "The service was unable to finish processing within the deadline."),
    "model_not_found": (
        404,
        "NOT_FOUND",
        "models/x is not found for API version v1beta, or is not supported for generateContent.",
    ),
    "bad_request": (400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
    "context_overflow": (
        400,
        "INVALID_ARGUMENT",
        "The input token count ({tokens}) exceeds the maximum number of tokens allowed (1048576).",
    ),
    "refused": (400, "INVALID_ARGUMENT", "The request was blocked by safety settings."),
}


def error(status: int, says: Says, message: str | None, tokens: int | None) -> Json:
    code, name, words = ERRORS[says]
    return {"error": {"code": status or code, "message": message or words.format(tokens=tokens or 1200001), "status": name}}


def broken(speech: Speech, says: Says, message: str | None) -> Iterator[Frame]:
    yield Frame(dumps(error(0, says, message or WORDS[says], None)))


def view(body: Json) -> View:
    contents = body.get("contents", [])
    users = [text for one in contents if one.get("role") == "user" and (text := plain(one.get("parts")))]
    results: list[Json] = []
    for one in contents:
        found = [part["functionResponse"] for part in one.get("parts", []) if "functionResponse" in part]
        results = found or results
    last: Json = contents[-1] if contents else {}
    answered = any("functionResponse" in part for part in last.get("parts", []))
    role = str(last.get("role", "")).replace("model", "assistant")
    declared = [one for tool in body.get("tools", []) for one in tool.get("functionDeclarations", [])]
    return View(
        system=plain((body.get("systemInstruction") or {}).get("parts", [])),
        messages=len(contents),
        answers=(None,) * sum(one.get("role") == "model" for one in contents),
        first_user=users[0] if users else "",
        last_user=users[-1] if users else "",
        last="results" if answered and not plain(last.get("parts")) else role,
        last_result="\n".join(_result(result.get("response", {})) for result in results),
        tools=tuple(tool["name"] for tool in declared),
        characters=len(str(contents)),
    )


def _result(response: Json) -> str:
    return "\n".join(value if isinstance(value, str) else dumps(value) for value in response.values())


def frames(speech: Speech) -> Iterator[Frame]:
    spoken, finish, malformed = 0, STOPS[speech.stop], ""
    for index, part in enumerate(speech.said):
        match part.kind:
            case "call":
                spoken += len(part.text or "")
                try:
                    content = _call(speech, part)
                except ValueError:
                    finish, malformed = "MALFORMED_FUNCTION_CALL", f"Malformed function call: {part.name}({part.text})"
                    continue
                yield _frame(speech, spoken, content)
            case kind:
                thought = {"thought": True} if kind == "reasoning" else {}
                for piece, spoken in speech.part_deltas(index):
                    yield _frame(speech, spoken, {"text": piece, **thought})
                if part.text == "":
                    yield _frame(speech, spoken, {"text": "", **thought})
    yield _frame(speech, spoken, None, finish, malformed)


def _call(speech: Speech, part: Said) -> Json:
    """Raises ValueError for arguments that are no JSON: this API then reports a malformed call instead of sending it."""
    arguments = json.loads(part.text or "")
    id = {} if part.id is None else {"id": part.id}
    return {"functionCall": {**id, "name": part.name, "args": arguments}, "thoughtSignature": f"c2lnbmVk{speech.number:04}"}


def _frame(speech: Speech, spoken: int, part: Json | None, finish: str = "", malformed: str = "") -> Frame:
    candidate: Json = {"index": 0}
    if part is not None or finish in ("STOP", "MAX_TOKENS"):
        candidate["content"] = {"role": "model", "parts": [part if part is not None else {"text": ""}]}
    if not speech.said:
        candidate["content"] = {"role": "model"}
    if finish:
        candidate["finishReason"] = finish
    if malformed:
        candidate["finishMessage"] = malformed
    data: Json = {"candidates": [candidate], "modelVersion": speech.model, "responseId": f"r{speech.number}"}
    if speech.usage:
        data["usageMetadata"] = _usage(speech, bool(finish))
    return Frame(dumps(data), spoken, last=bool(finish))


def _usage(speech: Speech, final: bool) -> Json:
    usage = speech.usage
    assert usage
    counted: Json = {"promptTokenCount": usage.prompt, "cachedContentTokenCount": usage.cache_read}
    if final:
        counted |= {"candidatesTokenCount": usage.output - usage.reasoning, "thoughtsTokenCount": usage.reasoning}
    return {**counted, "totalTokenCount": usage.total if final else usage.prompt}
