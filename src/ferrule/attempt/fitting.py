"""Whether a request fits the model's window: one estimator an endpoint, corrected by every report, the journal's included."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from ferrule.context.estimate import Estimator
from ferrule.context.preflight import CALIBRATED, UNCALIBRATED, Plan, excess, plan, prompt_budget
from ferrule.providers.base import Endpoint
from ferrule.store.folds import Conversation
from ferrule.types.fault import Fault
from ferrule.types.messages import Assistant, Message
from ferrule.types.request import Request
from ferrule.types.usage import Usage

RESERVE = 16_384
"""Tokens kept free for an answer, as OpenClaw does; less where the model can't say as much."""

LEAST_ANSWER = 1_024
SMALLEST_WINDOW = 1_024
"""A provider that names a smaller one was misread."""


@dataclass
class Fitting:
    """Lives as long as its task. `windows` are those that providers named when they refused a request as too long."""

    estimators: dict[str, Estimator] = field(default_factory=dict)
    windows: dict[str, int] = field(default_factory=dict)

    def window(self, endpoint: Endpoint) -> int | None:
        """In tokens; what is configured or in the catalog, else what the provider said; None where nobody knows."""
        return endpoint.profile.window or self.windows.get(endpoint.name)

    def learn(self, fault: Fault, endpoint: Endpoint) -> None:
        if fault.window is not None and fault.window >= SMALLEST_WINDOW:
            self.windows[endpoint.name] = fault.window

    def plan(self, request: Request, conversation: Conversation, endpoint: Endpoint) -> Plan:
        """What is to be done before `request` is sent."""
        estimator = self._of(endpoint, request, conversation)
        return plan(request, conversation, estimator, self.window(endpoint), reserve(endpoint))

    def limited(self, request: Request, planned: Plan, endpoint: Endpoint) -> Request:
        """The request with an answer no longer than what the window has left: some providers refuse a larger sum."""
        window = self.window(endpoint)
        if window is None or request.max_output is None:
            return request
        left = max(LEAST_ANSWER, window - int(planned.after * self._margin(endpoint)))
        return replace(request, max_output=left) if left < request.max_output else request

    def fits(self, tokens: int, endpoint: Endpoint) -> bool:
        """Whether preflight lets a request pass that it estimates so large, and has nothing to cut in."""
        window = self.window(endpoint)
        return window is None or excess(tokens * self._margin(endpoint), prompt_budget(window, reserve(endpoint))) == 0

    def _margin(self, endpoint: Endpoint) -> float:
        known = self.estimators.get(endpoint.name)
        return CALIBRATED if known is not None and known.calibrated else UNCALIBRATED

    def observe(self, request: Request, usage: Usage, endpoint: Endpoint) -> None:
        self.estimators.setdefault(endpoint.name, Estimator()).observe(request, usage)

    def _of(self, endpoint: Endpoint, request: Request, conversation: Conversation) -> Estimator:
        """A session that goes on is calibrated by what was reported for its last answer."""
        known = self.estimators.get(endpoint.name)
        if known is None:
            known = self.estimators[endpoint.name] = Estimator()
            asked = _before_last_answer(request.messages, endpoint)
            if asked is not None and conversation.last_usage is not None:
                known.observe(replace(request, messages=asked), conversation.last_usage)
        return known


def reserve(endpoint: Endpoint) -> int:
    most = endpoint.profile.max_output
    return RESERVE if most is None else min(RESERVE, most)


def _before_last_answer(messages: Sequence[Message], endpoint: Endpoint) -> tuple[Message, ...] | None:
    """What was sent for the last answer, if this model gave it."""
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if isinstance(message, Assistant):
            return tuple(messages[:at]) if message.model == endpoint.name else None
    return None
