"""The faults that a script may inject into a model call, as data, and the `Fault` that each becomes."""

from time import time
from typing import Any, Literal

from msgspec import Struct

from ferrule.types.fault import Fault, FaultCode

Says = Literal[
    "auth",
    "billing",
    "rate_limit",
    "overloaded",
    "server_error",
    "timeout",
    "idle_timeout",
    "model_not_found",
    "bad_request",
    "signature",
    "effort",
    "quota",
    "context_overflow",
    "refused",
]
At = Literal["headers", "start", "middle", "end"] | int


class Http(Struct, frozen=True, tag_field="kind", tag="http", forbid_unknown_fields=True):
    """An HTTP error instead of an answer. Without `body` it is the vendor's own, in the words of `says`."""

    status: int
    headers: dict[str, str] = {}
    body: str | dict[str, Any] | None = None
    says: Says | None = None
    tokens: int | None = None


class Reset(Struct, frozen=True, tag_field="kind", tag="reset", forbid_unknown_fields=True):
    """The connection is reset: before the headers, or somewhere in the answer."""

    at: At = "headers"
    bytes: int | None = None


class Cut(Struct, frozen=True, tag_field="kind", tag="cut", forbid_unknown_fields=True):
    """The answer ends too early. `clean`: the body ends in good order; `drop`: the connection is closed in the middle of it."""

    at: At = "middle"
    bytes: int | None = None
    how: Literal["clean", "drop"] = "clean"


class Stall(Struct, frozen=True, tag_field="kind", tag="stall", forbid_unknown_fields=True):
    """Nothing comes for some seconds; then the answer goes on."""

    seconds: float
    at: At = "middle"
    bytes: int | None = None


class StreamError(Struct, frozen=True, tag_field="kind", tag="error", forbid_unknown_fields=True):
    """The vendor's error object in the middle of an answer that began with status 200."""

    at: At = "middle"
    bytes: int | None = None
    says: Says = "overloaded"
    message: str | None = None


Placed = Reset | Cut | Stall | StreamError
AnyFault = Http | Placed

STATUS_SAYS: dict[int, Says] = {
    400: "bad_request",
    401: "auth",
    402: "billing",
    403: "auth",
    404: "model_not_found",
    408: "timeout",
    413: "context_overflow",
    429: "rate_limit",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}


def said(fault: Http | StreamError) -> Says:
    """What the vendor complains about: as the script says, or what the status means."""
    if fault.says is not None:
        return fault.says
    assert isinstance(fault, Http)
    return STATUS_SAYS.get(fault.status, "server_error" if fault.status >= 500 else "bad_request")


def as_fault(fault: Http | Reset | Cut | StreamError) -> Fault:
    """What a provider reports for this fault. A connection that fails before the headers is `connection`, later it is `cut`."""
    match fault:
        case Http():
            return Fault(said(fault), _words(fault), fault.status, _retry_after(fault.headers), fault.tokens)
        case StreamError():
            return Fault(fault.says, fault.message or f"scripted error in the stream: {fault.says}")
        case Reset() | Cut():
            code: FaultCode = "connection" if fault.at == "headers" and fault.bytes is None else "cut"
            return Fault(code, f"scripted {'reset' if isinstance(fault, Reset) else 'cut'} of the connection")


def _words(fault: Http) -> str:
    match fault.body:
        case None:
            return f"scripted error: {said(fault)}"
        case str(text):
            return text[:500]
        case body:
            error = body.get("error")
            message = error.get("message") if isinstance(error, dict) else error
            return str(message or body)[:500]


def _retry_after(headers: dict[str, str]) -> float | None:
    lower = {name.lower(): value for name, value in headers.items()}
    try:
        if "retry-after-ms" in lower:
            return float(lower["retry-after-ms"]) / 1000
        if "retry-after" not in lower:
            return None
        value = lower["retry-after"]
        if value.replace(".", "", 1).isdigit():
            return float(value)
        from email.utils import parsedate_to_datetime

        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except ValueError:
        return None
