"""From what a vendor answered, or what the network did, to a fault. Typed fields decide first, the status next, text last; what a
model wrote is never looked at.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ferrule.types.fault import Fault, FaultCode
from ferrule.types.json import BadJson, integer, items, loads, member, mend, string

from . import wording

DETAIL_LIMIT = 600
SHORT_WAIT = 60.0
"""Seconds: a limit that ends so soon is not one by the day."""

BY_TYPE: dict[str, FaultCode] = {
    # OpenAI and servers that copy it: `error.code` and `error.type`
    "invalid_api_key": "auth",
    "account_deactivated": "auth_permanent",
    "organization_deactivated": "auth_permanent",
    "api_key_revoked": "auth_permanent",
    "insufficient_quota": "billing",
    "billing_hard_limit_reached": "billing",
    "billing_not_active": "billing",
    "rate_limit_exceeded": "rate_limit",
    "tokens": "rate_limit",
    "requests": "rate_limit",
    "too_many_requests": "rate_limit",
    "usage_limit_reached": "quota",
    "slow_down": "overloaded",
    "engine_overloaded": "overloaded",
    "server_is_overloaded": "overloaded",
    "server_error": "server_error",
    "internal_server_error": "server_error",
    "model_not_found": "model_not_found",
    "context_length_exceeded": "context_overflow",
    "context_window_exceeded": "context_overflow",
    "exceed_context_size_error": "context_overflow",
    "content_filter": "refused",
    "content_policy_violation": "refused",
    "image_content_policy_violation": "refused",
    "invalid_prompt": "refused",
    "invalid_encrypted_content": "signature",
    "invalid_image": "image_rejected",
    "invalid_image_format": "image_rejected",
    "invalid_base64_image": "image_rejected",
    "image_too_large": "image_rejected",
    "image_too_small": "image_rejected",
    "image_parse_error": "image_rejected",
    "image_file_too_large": "image_rejected",
    "unsupported_image_media_type": "image_rejected",
    # Anthropic: `error.type`
    "authentication_error": "auth",
    "permission_error": "auth",
    "billing_error": "billing",
    "rate_limit_error": "rate_limit",
    "overloaded_error": "overloaded",
    "api_error": "server_error",
    "timeout_error": "timeout",
    "not_found_error": "model_not_found",
    "request_too_large": "context_overflow",
    # Google: `error.status`
    "UNAUTHENTICATED": "auth",
    "PERMISSION_DENIED": "auth",
    "RESOURCE_EXHAUSTED": "rate_limit",
    "UNAVAILABLE": "overloaded",
    "INTERNAL": "server_error",
    "DEADLINE_EXCEEDED": "timeout",
    "CANCELLED": "server_error",
    "NOT_FOUND": "model_not_found",
}

BY_STATUS: dict[int, FaultCode] = {
    401: "auth",
    402: "billing",
    403: "auth",
    404: "model_not_found",
    408: "timeout",
    410: "timeout",
    413: "context_overflow",
    425: "rate_limit",
    429: "rate_limit",
    499: "timeout",
    500: "server_error",
    502: "server_error",
    503: "overloaded",
    504: "timeout",
    524: "timeout",
    529: "overloaded",
}

BY_EXCEPTION: dict[str, FaultCode] = {
    # httpx2's classes by name, so that this table needs no import of it; the nearest class of the method resolution order decides
    "ConnectTimeout": "timeout",
    "PoolTimeout": "timeout",
    "TimeoutException": "timeout",
    "NetworkError": "connection",
    "ProxyError": "connection",
    "RemoteProtocolError": "connection",
    "LocalProtocolError": "bad_request",
    "ProtocolError": "connection",
    "UnsupportedProtocol": "bad_request",
    "InvalidURL": "bad_request",
    "CookieConflict": "bad_response",
    "DecodingError": "bad_response",
    "SSEError": "bad_response",
    "TooManyRedirects": "bad_response",
    "HTTPStatusError": "bad_response",
    "StreamError": "cut",
    "TransportError": "connection",
    "RequestError": "connection",
    "HTTPError": "connection",
    "OSError": "connection",
    "UnicodeEncodeError": "bad_request",
}

_OBSERVED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"prompt is too long:? *(\d+) tokens",
        r"(\d+) *\+ *(\d+) *>",
        r"input token count \(?(\d+)",
        r"request \(?(\d+) tokens\)? exceeds",
        r"request contains (\d+)",
        r"resulted in (\d+) tokens",
        r"requested (?:about )?(\d+) tokens",
        r"(\d+) tokens (?:from|in) the (?:input|messages|prompt)",
        r"input \(?(\d+) tokens",
    )
)
_WINDOW = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"maximum (?:context|prompt) length (?:is|of) (\d+)",
        r"> *(\d+)",
        r"maximum number of tokens allowed \(?(\d+)",
        r"(?:available )?context (?:size|window|length)s? (?:is |of )?\(?(\d+) tokens",
        r"limit (?:is|of) (\d+) tokens",
    )
)
_WAIT_TEXT = re.compile(r"(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|[hms])\s*)+)", re.IGNORECASE)
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|[hms])", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def status_fault(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """The fault of an answer whose status is not 200. `headers` has lower-case names."""
    value, _ = loads(body)
    wait = retry_after(headers)
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        text = body.decode(errors="replace") if isinstance(value, BadJson) else ""
        return _fault(status, (), "" if text.lstrip().startswith("<") else text, None, wait)
    return _object_fault(value, status, wait)


def error_fault(value: Any, status: int | None = None) -> Fault:
    """The fault of an error object inside a stream: the object itself or one that holds it as `error`."""
    return _object_fault(value, status, None)


def network_fault(error: Exception, streaming: bool) -> Fault | None:
    """The fault of an exception of httpx2 or the system; None for any other. `streaming`: the answer had begun."""
    if isinstance(error, ExceptionGroup):
        return network_fault(error.exceptions[0], streaming)
    for kind in type(error).__mro__:
        code = BY_EXCEPTION.get(kind.__name__)
        if code is None:
            continue
        if streaming:
            code = {"connection": "cut", "timeout": "idle_timeout"}.get(code, code)  # type: ignore[assignment]
        return Fault(code, shown(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__))
    return None


def shown(text: str) -> str:
    """The provider's words on one line, cut to a readable length."""
    line = " ".join(mend(text).split())
    return line if len(line) <= DETAIL_LIMIT else line[:DETAIL_LIMIT] + "…"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by `retry-after-ms` or `retry-after` (seconds or a date)."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,12}(?:\.\d+)?", value):
            return float(value) * unit
        if value and name == "retry-after":
            return _until(value)
    return None


def _until(date: str) -> float | None:
    import time
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _object_fault(value: Any, status: int | None, wait: float | None) -> Fault:
    error = member(value, "error")
    if not isinstance(error, dict):
        text = error if isinstance(error, str) else string(value, "message") or string(value, "detail")
        error = {
            "message": text,
            "type": string(value, "type"),
            "code": member(value, "code"),
            "details": member(value, "detail"),
        }
    types = tuple(wording.types_in(error))
    text = string(error, "message") or string(error, "metadata", "raw") or ", ".join(types)
    number = status or integer(error, "code") or integer(error, "status")
    number = number if number and 100 <= number < 600 else None
    wait = wait if wait is not None else _body_wait(error, text)
    fault = _fault(number, types, text, integer(error, "n_prompt_tokens"), wait, wording.joined(error))
    window = integer(error, "n_ctx")
    return replace(fault, window=window) if window and fault.code == "context_overflow" else fault


def _body_wait(error: Any, text: str) -> float | None:
    for detail in items(error, "details"):
        if string(detail, "@type").endswith("RetryInfo"):
            return _span(string(detail, "retryDelay"))
    found = _WAIT_TEXT.search(text)
    return _span(found[1]) if found else None


def _span(text: str) -> float | None:
    parts = _SPAN.findall(text)
    return sum(float(amount) * _SECONDS[unit.lower()] for amount, unit in parts) if parts else None


def _fault(
    status: int | None, types: tuple[str, ...], text: str, tokens: int | None, wait: float | None, behind: str = ""
) -> Fault:
    """`behind`: all words of the error, those of a vendor that stands behind this one included."""
    behind = behind or text
    code = _code(status, types, text, behind, returns=wait is not None)
    if code == "rate_limit" and _long(behind, wait):
        code = "quota"
    if code == "auth" and wording.CLOSED.search(text):
        code = "auth_permanent"
    overflow = code == "context_overflow"
    observed = (tokens or _number(_OBSERVED, behind)) if overflow else None
    window = _number(_WINDOW, behind) if overflow else None
    detail = text if wording.first(wording.OF_THE_REQUEST, text) or code not in PASSED_ON else behind.replace("\n", ": ")
    return Fault(code, shown(detail), status, wait, observed, window)


PASSED_ON = frozenset(code for _, code in wording.OF_THE_REQUEST)


def _long(text: str, wait: float | None) -> bool:
    """A limit by the day, week or month. A provider may word both kinds; then its waiting time, else the shorter one counts."""
    if "PerDay" in text:
        return True
    short = wording.SHORT_LIMIT.search(text) is not None or (wait is not None and wait <= SHORT_WAIT)
    return wording.LONG_LIMIT.search(text) is not None and not short


def _code(status: int | None, types: tuple[str, ...], text: str, behind: str, returns: bool) -> FaultCode:
    """`returns`: the provider says when to ask again. Google words its limits by the minute like an account that cannot pay."""
    typed = next((BY_TYPE[kind] for kind in types if kind in BY_TYPE), None)
    if typed == "auth" and wording.BILLING.search(text):
        return "billing"
    if typed == "rate_limit" and not returns and wording.BILLING.search(text) and not wording.PERIODIC.search(text):
        return "billing"
    if typed is not None:
        return typed
    if _overflows(behind) and status in (None, 400, 404, 413, 422, 500):
        return "context_overflow"
    if status == 413:
        return "rate_limit" if wording.NOT_OVERFLOW.search(text) else "context_overflow"
    if status in (None, 400, 422, 500) and (part := wording.first(wording.OF_THE_REQUEST, behind)):
        return part
    if status in (400, 422, 404) or (status is None and text):
        other: FaultCode = "model_not_found" if status == 404 else "server_error" if status is None else "bad_request"
        return wording.first(wording.OF_THE_ANSWER, text) or other
    if status == 402 and wording.PERIODIC.search(text):
        return "rate_limit"
    if status in (401, 403, 429) and not returns and wording.BILLING.search(text) and not wording.PERIODIC.search(text):
        return "billing"
    if status in (499, 500, 502, 503, 504) and wording.OVERLOADED.search(text):
        return "overloaded"
    return _by_status(status)


def _overflows(text: str) -> bool:
    return bool(wording.OVERFLOW.search(text)) and not wording.NOT_OVERFLOW.search(text)


def _by_status(status: int | None) -> FaultCode:
    if status is None:
        return "server_error"
    if status in BY_STATUS:
        return BY_STATUS[status]
    if status >= 500:
        return "server_error"
    return "bad_request" if status >= 400 else "bad_response"


def _number(patterns: Sequence[re.Pattern[str]], text: str) -> int | None:
    """What the first pattern that is found says; several numbers in it are parts of a sum."""
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    found = next((found for pattern in patterns if (found := pattern.search(plain))), None)
    return None if found is None else sum(int(group) for group in found.groups())
