"""What a task knows of the window and of the size of its requests before it has asked anybody."""

import pytest
from msgspec.structs import replace

from ferrule.attempt.fitting import Fitting
from ferrule.context.estimate import Estimator
from ferrule.providers.base import Endpoint, Profile
from ferrule.types.fault import Fault
from ferrule.types.messages import Assistant, Text
from ferrule.types.records import AssistantSaid
from ferrule.types.request import Request
from ferrule.types.usage import Usage
from tests.context.counting import thirds
from tests.context.talking import Talk

ENDPOINT = Endpoint("openai", "m", "http://127.0.0.1:1/v1", profile=Profile(window=100_000, max_output=4_000))
DENSE = 1.6
"""How many tokens this provider counts for one that is estimated without a report."""


def resumed(model: str) -> tuple[Talk, int]:
    """A session whose last answer `model` gave, and what was reported for its request."""
    talk = Talk()
    talk.says("go")
    talk.turn("".join(thirds("python")))
    asked = Request(("Be brief.",), tuple(talk.conversation.messages))
    reported = int(Estimator().estimate(asked) * DENSE)
    said = Assistant((Text("I looked."),), "end", model)
    talk.add(AssistantSaid(said, Usage(input=reported, output=9), 1.0))
    talk.says("go on")
    return talk, reported


def test_a_session_that_goes_on_is_calibrated_by_what_was_reported_for_its_last_answer() -> None:
    talk, reported = resumed("openai/m")
    request = Request(("Be brief.",), tuple(talk.conversation.messages))
    planned = Fitting().plan(request, talk.conversation, ENDPOINT)
    assert planned.estimate == pytest.approx(reported, rel=0.02)
    assert planned.estimate > reported


def test_what_another_model_reported_calibrates_nothing() -> None:
    talk, reported = resumed("anthropic/c")
    request = Request(("Be brief.",), tuple(talk.conversation.messages))
    planned = Fitting().plan(request, talk.conversation, ENDPOINT)
    assert planned.estimate == Estimator().estimate(request) < reported


@pytest.mark.parametrize(
    ("configured", "named", "window"), [(None, 32_768, 32_768), (8_000, 32_768, 8_000), (None, 12, None), (None, None, None)]
)
def test_a_window_that_is_not_configured_is_what_the_provider_named_unless_that_was_misread(
    configured: int | None, named: int | None, window: int | None
) -> None:
    endpoint = replace(ENDPOINT, profile=Profile(window=configured))
    fitting = Fitting()
    fitting.learn(Fault("context_overflow", window=named), endpoint)
    assert fitting.window(endpoint) == window


def test_what_preflight_lets_pass_fits_and_one_token_more_does_not() -> None:
    fitting = Fitting()
    most = int((100_000 - 4_000) / 1.2)
    assert (fitting.fits(most, ENDPOINT), fitting.fits(most + 1, ENDPOINT)) == (True, False)
    assert fitting.fits(10**9, replace(ENDPOINT, profile=Profile()))
