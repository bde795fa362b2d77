"""Why a model call failed, as a value, and one table that says what each cause means.

A fault is expected: it travels in events and records. Exceptions are in `errors`.
"""

from typing import Literal, NamedTuple

from msgspec import Struct

from .outcome import Outcome

FaultCode = Literal[
    "auth",
    "billing",
    "rate_limit",
    "overloaded",
    "server_error",
    "timeout",
    "idle_timeout",
    "connection",
    "cut",
    "bad_response",
    "model_not_found",
    "bad_request",
    "context_overflow",
    "refused",
    "cancelled",
]


class Meaning(NamedTuple):
    """What follows from a fault: may the same request be sent again, how does a run end that cannot go on, what to say."""

    retryable: bool
    outcome: Outcome
    sentence: str


MEANINGS: dict[FaultCode, Meaning] = {
    "auth": Meaning(False, Outcome.FAILED, "The provider did not accept the key."),
    "billing": Meaning(False, Outcome.FAILED, "The provider says that the account cannot pay for this request."),
    "rate_limit": Meaning(True, Outcome.UNAVAILABLE, "The provider limits how often it may be asked."),
    "overloaded": Meaning(True, Outcome.UNAVAILABLE, "The provider is overloaded."),
    "server_error": Meaning(True, Outcome.UNAVAILABLE, "The provider failed on its side."),
    "timeout": Meaning(True, Outcome.UNAVAILABLE, "The provider did not answer in time."),
    "idle_timeout": Meaning(True, Outcome.UNAVAILABLE, "The provider stopped sending in the middle of its answer."),
    "connection": Meaning(True, Outcome.UNAVAILABLE, "The connection to the provider failed."),
    "cut": Meaning(True, Outcome.UNAVAILABLE, "The answer ended before it was complete."),
    "bad_response": Meaning(True, Outcome.UNAVAILABLE, "The provider's answer could not be understood."),
    "model_not_found": Meaning(False, Outcome.FAILED, "The provider does not know this model."),
    "bad_request": Meaning(False, Outcome.FAILED, "The provider refused the request as invalid."),
    "context_overflow": Meaning(False, Outcome.LIMIT, "The conversation no longer fits the model's context window."),
    "refused": Meaning(False, Outcome.REFUSED, "The model or the provider refused to answer."),
    "cancelled": Meaning(False, Outcome.INTERRUPTED, "The call was cancelled."),
}


class Fault(Struct, frozen=True):
    """One failed model call. `detail` is the provider's own words, cut to a readable length; `retry_after` in seconds."""

    code: FaultCode
    detail: str = ""
    status: int | None = None
    retry_after: float | None = None
    observed_tokens: int | None = None

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
