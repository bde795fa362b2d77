"""What every request goes through before it is sent."""

from dataclasses import dataclass, field
from typing import Any

from ferrule.attempt.filters.chains import Chains
from ferrule.attempt.model_call import build_request
from ferrule.context.shrink import Shrinking
from ferrule.providers.base import Endpoint, Profile
from ferrule.types.messages import Assistant, Message, Opaque, Reasoning, Results, Text, ToolCall, ToolResult, User
from ferrule.types.request import ToolSchema


@dataclass(frozen=True)
class Stored:
    """What the journal of a session holds, as far as a request needs it."""

    messages: tuple[Message, ...]
    open_calls: tuple[Any, ...] = ()
    cuts: tuple[Any, ...] = ()
    compacted: None = None
    stripped: int = 0
    session: str = "20260101-000000-abcd"

    @property
    def conversation(self) -> "Stored":
        return self

    @property
    def journal(self) -> "Stored":
        return self


ENDPOINT = Endpoint("anthropic", "m", "http://127.0.0.1", profile=Profile(max_output=500))


@dataclass(frozen=True)
class Half:
    """The part of a set-up that a request is made of."""

    log: Stored
    system: tuple[str, ...] = ("You are Ferrule.",)
    schemas: tuple[ToolSchema, ...] = (ToolSchema("read_file", "Read.", '{"type":"object"}'),)
    effort: str | None = "low"
    endpoint: Endpoint = ENDPOINT
    chains: Chains = field(default_factory=Chains)
    shrinking: Shrinking = field(default_factory=Shrinking)

    @property
    def provider(self) -> "Half":
        return self


def test_a_history_with_a_hole_is_repaired_in_the_view_and_reported_and_the_history_itself_stays() -> None:
    calls = (ToolCall("call_00001", "read_file", "{}"), ToolCall("call_00002", "read_file", "{}"))
    stray = ToolResult("call_00009", "read_file", "ok", (Text("of no call"),))
    found = ToolResult("call_00002", "read_file", "ok", (Text("found"),))
    stored = Stored((User((Text("go"),)), Assistant(calls, "calls", "anthropic/m"), Results((stray, found))))
    before = stored.messages

    request, repairs = build_request(Half(stored))  # type: ignore[arg-type]

    (results,) = [message for message in request.messages if isinstance(message, Results)]
    assert [(part.call_id, part.kind) for part in results.parts] == [("call_00001", "interrupted"), ("call_00002", "ok")]
    assert [(report.by, len(report.what)) for report in repairs] == [("pairing", 2)]
    assert stored.messages is before


def test_a_sound_history_is_sent_as_it_is_with_the_models_own_limits_and_without_other_models_data() -> None:
    secret = Reasoning("I think.", Opaque("google", "g", '{"signature":"x"}'))
    stored = Stored((User((Text("go"),)), Assistant((secret, Text("So.")), "end", "google/g"), User((Text("on"),))))

    request, repairs = build_request(Half(stored))  # type: ignore[arg-type]

    assert repairs == ()
    assert request.messages[1] == Assistant((Reasoning("I think."), Text("So.")), "end", "google/g")
    assert (request.max_output, request.effort, request.cache_key) == (500, "low", stored.session)
    assert (request.system, [tool.name for tool in request.tools]) == (("You are Ferrule.",), ["read_file"])
