"""Whom to ask when a model call failed: the decision table of OpenClaw, as data. Pure."""

from collections.abc import Callable
from typing import Literal, NamedTuple

from msgspec import Struct

from ferrule.types.fault import FaultCode

Reason = Literal["failover", "timeout", "format", "refusal", "abort"]
Stage = Literal["prompt", "assistant"]
Move = Literal["surface", "rotate", "fallback", "continue"]
"""`rotate`: another key of the same model; `fallback`: another model; `surface`: stay, and tell if it can't go on."""

REASONS: dict[FaultCode, Reason] = {
    "auth": "failover",
    "auth_permanent": "failover",
    "billing": "failover",
    "rate_limit": "failover",
    "quota": "failover",
    "overloaded": "failover",
    "server_error": "failover",
    "bad_response": "failover",
    "repetition": "failover",
    "model_not_found": "failover",
    "timeout": "timeout",
    "first_event_timeout": "timeout",
    "idle_timeout": "timeout",
    "total_timeout": "timeout",
    "connection": "timeout",
    "cut": "timeout",
    "bad_request": "format",
    "signature": "format",
    "effort": "format",
    "role_order": "format",
    "image_rejected": "format",
    "context_overflow": "format",
    "refused": "refusal",
    "cancelled": "abort",
}

PATIENCE: dict[FaultCode, int] = {"connection": 1, "cut": 1, "server_error": 1, "bad_response": 1, "repetition": 1}
"""How often the same candidate is asked again although another one is left: what is mostly over in a moment."""
MOMENT = 2.0
"""Seconds: who asks for a longer pause is not waited for while another one is left."""


class Situation(Struct, frozen=True):
    """`assistant`: the answer had begun. `ours`: the time that ran out was the run's own. `visible`: text of it was shown."""

    stage: Stage
    reason: Reason | None
    ours: bool = False
    visible: bool = False
    key_left: bool = False
    model_left: bool = False


class Row(NamedTuple):
    when: str
    holds: Callable[[Situation], bool]
    move: Move


PROMPT = (
    Row("stopped from outside", lambda s: s.reason == "abort", "surface"),
    Row("our own time is up", lambda s: s.ours, "surface"),
    Row("a failure of this key, and one is left", lambda s: s.reason == "failover" and s.key_left, "rotate"),
    Row("a model is left", lambda s: s.reason is not None and s.model_left, "fallback"),
    Row("nobody is left", lambda s: True, "surface"),
)
ASSISTANT = (
    Row("stopped from outside", lambda s: s.reason == "abort", "surface"),
    Row("our own time is up", lambda s: s.ours, "surface"),
    Row("the same bytes would be refused again", lambda s: s.reason == "format", "surface"),
    Row("refused after something was said", lambda s: s.reason == "refusal" and s.visible, "surface"),
    Row("refused, and a model is left", lambda s: s.reason == "refusal" and s.model_left, "fallback"),
    Row("refused", lambda s: s.reason == "refusal", "surface"),
    Row("failed, and a key is left", lambda s: s.reason is not None and s.key_left, "rotate"),
    Row("failed, and a model is left", lambda s: s.reason is not None and s.model_left, "fallback"),
    Row("failed, and nobody is left", lambda s: s.reason is not None, "surface"),
    Row("an answer", lambda s: True, "continue"),
)


def decide(situation: Situation) -> Move:
    """The first row that holds. In the prompt stage a refusal never rotates and a refused form is not sent again as it was."""
    table = PROMPT if situation.stage == "prompt" else ASSISTANT
    return next(row.move for row in table if row.holds(situation))
