"""What vendors say in words, where no typed field says it: patterns, and where in an error object the words are."""

import re
from collections.abc import Iterator
from typing import Any

from ferrule.types.fault import FaultCode
from ferrule.types.json import BadJson, loads

_WITHIN = (
    "message",
    "msg",
    "detail",
    "details",
    "raw",
    "reason",
    "description",
    "error",
    "errors",
    "cause",
    "innererror",
    "metadata",
    "violations",
    "quotaId",
    "param",
    "body",
)
_TYPES = ("code", "status", "type")
DEEPEST = 8
MOST_TEXT = 20_000


def texts_in(error: Any, depth: int = 0) -> Iterator[str]:
    """The words of an error and of the errors that it passes on from further behind, as objects or as JSON inside a text.

    Only fields that hold a vendor's words are looked into: what it repeats of the request (`input`) is left out.
    """
    if depth > DEEPEST:
        return
    match error:
        case str():
            yield error
            start = error.find("{")
            inner = loads(error[start:])[0] if start >= 0 else None
            if isinstance(inner, dict):
                yield from texts_in(inner, depth + 1)
        case list():
            for item in error[:20]:
                yield from texts_in(item, depth + 1)
        case dict():
            for name in _WITHIN:
                if name in error:
                    yield from texts_in(error[name], depth + 1)


def types_in(error: Any, depth: int = 0) -> Iterator[str]:
    """The typed fields of an error, then those of the errors that it passes on."""
    if depth > DEEPEST or not isinstance(error, dict | list | str):
        return
    match error:
        case dict():
            yield from (error[name] for name in _TYPES if isinstance(error.get(name), str))
            for name in ("metadata", "raw", "error", "cause", "innererror"):
                yield from types_in(error.get(name), depth + 1)
        case str() if error.lstrip().startswith("{"):
            inner = loads(error)[0]
            if not isinstance(inner, BadJson):
                yield from types_in(inner, depth + 1)


def joined(error: Any) -> str:
    """All words of an error, its own first, each once."""
    return "\n".join(dict.fromkeys(texts_in(error)))[:MOST_TEXT]


def pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE | re.DOTALL)


OVERFLOW = pattern(
    r"prompt is too long",
    r"(?:input|prompt|request|message)s? (?:is |are )?too (?:long|large)",
    r"request (?:entity )?too large",
    r"(?:maximum|max) (?:context|prompt) length",
    r"exceeds? (?:the )?(?:model'?s )?(?:available |maximum )?context",
    r"context[ _](?:length|window|size)s? (?:is |was |has been )?exceed",
    r"input token count .*exceeds",
    r"max_tokens.*exceed.*context",
    r"reduce the length of (?:the |your )?(?:messages|prompt|input)",
    r"上下文(?:长度|窗口)?.*(?:超|过长)|(?:输入|请求).*(?:过长|超过|超出).*(?:长度|上限|限制)",
)
NOT_OVERFLOW = pattern(
    r"tokens per (?:min|day|hour)|\bTPM\b|\bTPD\b|rate limit|quota|billing",
    r"context window (?:is )?too small|reasoning (?:is|must|effort)",
)
BILLING = pattern(
    r"insufficient (?:credit|quota|balance|funds)|credit balance|out of credits|billing (?:hard )?limit|payment required",
    r"exceeded your current quota",
)
PERIODIC = pattern(r"(?:daily|weekly|monthly|hourly) (?:usage )?limit|try again|limit (?:will )?resets?")
LONG_LIMIT = pattern(
    r"(?:per|each|a|this|for the|in a|every) ?(?:day|week|month)\b|per(?:Day|Week|Month)",
    r"\b(?:daily|weekly|monthly)\b|\b[RT]PD\b|subscription|plan(?:'s)? (?:usage )?limit",
)
SHORT_LIMIT = pattern(
    r"(?:per|a|each) ?(?:second|minute|hour)|per(?:Second|Minute)|\b[RT]PM\b|hourly|(?:tokens|requests) per min",
    r"cool(?:ing)?[ -]?down",
)
CLOSED = pattern(
    r"(?:key|account|organi[sz]ation|workspace|user)\b.{0,60}"
    r"(?:revoked|deactivated|disabled|suspended|deleted|banned|terminated|blocked)",
    r"(?:revoked|deactivated|disabled|suspended) .{0,20}(?:key|account|organi[sz]ation)",
)
OVERLOADED = pattern(r"overloaded|over capacity|at capacity|loading model|model (?:is )?(?:not loaded|loading)")

_SIGNATURE = pattern(
    r"(?:invalid|corrupt(?:ed)?|missing|bad|malformed|unrecogni[sz]ed|expired).{0,40}(?:thought[_ ]?)?signature",
    r"signature.{0,60}(?:invalid|not valid|missing|required|mismatch|cannot be verified|could not be verified|corrupt)",
    r"(?:thinking|redacted_thinking|reasoning).{0,160}(?:cannot|can't|must not|may not) be modified",
    r"expected [`'\"]?(?:thinking|redacted_thinking)|must start with a thinking block|preced(?:es?|ing).{0,40}thinking block",
    r"encrypted[_ ]content.{0,120}(?:could not|cannot|invalid|unable|failed|not).{0,60}(?:verif|decrypt|pars|valid)",
    r"of type [`'\"]?reasoning[`'\"]? was provided without its required|without its required [`'\"]?reasoning",
    r"reasoning[_ ]content.{0,80}(?:must be passed back|is missing|missing in assistant)",
)
_LEVEL = (
    r"(?:reasoning[._ ]?effort|output_config\.effort|\beffort\b|thinking[_ ]?(?:level|budget|config)|budget_tokens|"
    r"adaptive thinking|\bthinking\b)"
)
_NOT_TAKEN = (
    r"(?:not support|unsupported|does not (?:support|allow)|not allowed|unknown|invalid|is not (?:available|valid)|only works|"
    r"must be|one of)"
)
_EFFORT = pattern(rf"{_LEVEL}.{{0,100}}{_NOT_TAKEN}", rf"{_NOT_TAKEN}.{{0,60}}{_LEVEL}", r"only works in thinking mode")
_ROLES = pattern(
    r"roles? must alternate|alternate between|conversation roles",
    r"(?:first|last) message must|must (?:start|begin|end) with (?:a |an )?(?:user|assistant)",
    r"turn comes immediately after|(?:assistant )?(?:message )?prefill|multiturn requests alternate",
)
_IMAGES = pattern(
    r"\bimages?(?:_url)?\b.{0,100}(?:exceed|too (?:large|big|many|small)|dimension|not (?:be )?(?:process|decod|support)"
    r"|unsupported|(?:not|in) ?valid|corrupt)",
    r"(?:could not|unable to|cannot|failed to) (?:process|decode|read|load|download) (?:the |an )?(?:input |provided )?image",
    r"(?:unsupported|invalid|too many) (?:input )?images?\b",
)
_REFUSED = pattern(r"(?:blocked|rejected|flagged|filtered) (?:by|as a result of) (?:the |our )?(?:content|safety)")
_KEY = pattern(r"api[ _-]?key (?:is )?(?:not valid|invalid)|(?:invalid|incorrect|expired) api[ _-]?key")
_RATE = pattern(r"rate[ _-]?limit|too many requests")
_NO_MODEL = pattern(r"model\b.*\b(?:not found|does not exist|not exist|is not supported|unknown)|unknown model")

OF_THE_REQUEST: tuple[tuple[re.Pattern[str], FaultCode], ...] = (
    (_SIGNATURE, "signature"),
    (_ROLES, "role_order"),
    (_IMAGES, "image_rejected"),
    (_EFFORT, "effort"),
)
"""What in a request was refused; the first match counts. The words may be those of a vendor further behind."""

OF_THE_ANSWER: tuple[tuple[re.Pattern[str], FaultCode], ...] = (
    (_REFUSED, "refused"),
    (BILLING, "billing"),
    (_KEY, "auth"),
    (_RATE, "rate_limit"),
    (OVERLOADED, "overloaded"),
    (_NO_MODEL, "model_not_found"),
)
"""Why there is no answer, by the vendor's own words."""


def first(table: tuple[tuple[re.Pattern[str], FaultCode], ...], text: str) -> FaultCode | None:
    return next((code for found, code in table if found.search(text)), None)
