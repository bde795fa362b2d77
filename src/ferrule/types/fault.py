"""Why a model call failed, as a value, and one table that says what each cause means.

A fault is expected: it travels in events and records. Exceptions are in `errors`.
"""

from typing import Literal, NamedTuple

from msgspec import Struct

from .outcome import Outcome

FaultCode = Literal[
    "auth",
    "auth_permanent",
    "billing",
    "rate_limit",
    "quota",
    "overloaded",
    "server_error",
    "timeout",
    "first_event_timeout",
    "idle_timeout",
    "total_timeout",
    "connection",
    "cut",
    "bad_response",
    "repetition",
    "model_not_found",
    "bad_request",
    "signature",
    "effort",
    "role_order",
    "image_rejected",
    "context_overflow",
    "refused",
    "cancelled",
]


class Meaning(NamedTuple):
    """What follows from a fault: may the same request succeed later, how does a run end that cannot go on, what to say."""

    retryable: bool
    outcome: Outcome
    sentence: str


MEANINGS: dict[FaultCode, Meaning] = {
    "auth": Meaning(False, Outcome.FAILED, "The provider did not accept the key."),
    "auth_permanent": Meaning(False, Outcome.FAILED, "The provider says that the key or its account was closed."),
    "billing": Meaning(False, Outcome.FAILED, "The provider says that the account cannot pay for this request."),
    "rate_limit": Meaning(True, Outcome.UNAVAILABLE, "The provider limits how often it may be asked."),
    "quota": Meaning(True, Outcome.UNAVAILABLE, "What the account may use in a day, week or month is used up."),
    "overloaded": Meaning(True, Outcome.UNAVAILABLE, "The provider is overloaded."),
    "server_error": Meaning(True, Outcome.UNAVAILABLE, "The provider failed on its side."),
    "timeout": Meaning(True, Outcome.UNAVAILABLE, "The provider did not answer in time."),
    "first_event_timeout": Meaning(True, Outcome.UNAVAILABLE, "The provider accepted the request and then said nothing in time."),
    "idle_timeout": Meaning(True, Outcome.UNAVAILABLE, "The provider stopped sending in the middle of its answer."),
    "total_timeout": Meaning(True, Outcome.UNAVAILABLE, "The answer was not complete in the time that one may take."),
    "connection": Meaning(True, Outcome.UNAVAILABLE, "The connection to the provider failed."),
    "cut": Meaning(True, Outcome.UNAVAILABLE, "The answer ended before it was complete."),
    "bad_response": Meaning(True, Outcome.UNAVAILABLE, "The provider's answer could not be understood."),
    "repetition": Meaning(True, Outcome.STUCK, "The model said the same passage over and over."),
    "model_not_found": Meaning(False, Outcome.FAILED, "The provider does not know this model."),
    "bad_request": Meaning(False, Outcome.FAILED, "The provider refused the request as invalid."),
    "signature": Meaning(False, Outcome.FAILED, "The provider does not take back what the model thought earlier."),
    "effort": Meaning(False, Outcome.FAILED, "The model does not know this effort; choose another one with --effort."),
    "role_order": Meaning(False, Outcome.FAILED, "The provider refused the order of the messages."),
    "image_rejected": Meaning(False, Outcome.FAILED, "The provider refused an image; a smaller one may be taken."),
    "context_overflow": Meaning(False, Outcome.LIMIT, "The conversation no longer fits the model's context window."),
    "refused": Meaning(False, Outcome.REFUSED, "The model or the provider refused to answer."),
    "cancelled": Meaning(False, Outcome.INTERRUPTED, "The call was cancelled."),
}


TIMEOUTS: frozenset[FaultCode] = frozenset({"timeout", "first_event_timeout", "idle_timeout", "total_timeout"})
"""The kinds of silence: no answer, no first event, nothing more, not complete."""


class Fault(Struct, frozen=True):
    """One failed model call. `detail` is the provider's own words, cut to a readable length; `retry_after` in seconds.

    Of an overflow, where the provider says it: `observed_tokens` the request had, and `window` holds.
    """

    code: FaultCode
    detail: str = ""
    status: int | None = None
    retry_after: float | None = None
    observed_tokens: int | None = None
    window: int | None = None

    @property
    def retryable(self) -> bool:
        return MEANINGS[self.code].retryable

    @property
    def outcome(self) -> Outcome:
        return MEANINGS[self.code].outcome

    @property
    def sentence(self) -> str:
        said = f" It said: {self.detail}" if self.detail else ""
        status = f" (HTTP {self.status})" if self.status else ""
        return f"{MEANINGS[self.code].sentence}{status}{said}"
