import pytest

from ferrule.context.portable import portable
from ferrule.types.messages import Assistant, Opaque, Reasoning, Results, Text, ToolCall, ToolResult, User

ASKED = User((Text("Do it."),))
ANSWERED = Results((ToolResult("call_00001", "read_file", "ok", (Text("1"),)),))


def answer(opaque: Opaque | None) -> Assistant:
    parts = (Reasoning("I think.", opaque), Text("So.", opaque), ToolCall("call_00001", "read_file", "{}", opaque=opaque))
    return Assistant(parts, "calls", "openai-responses/m")


@pytest.mark.parametrize("made", [("anthropic", "m"), ("openai-responses", "other")])
def test_opaque_data_of_another_dialect_or_model_is_left_out_and_the_words_stay(made: tuple[str, str]) -> None:
    history = (ASKED, answer(Opaque(*made, "{}")), ANSWERED)
    assert portable(history, "openai-responses", "m") == (ASKED, answer(None), ANSWERED)


def test_own_opaque_data_stays_and_nothing_is_copied() -> None:
    history = (ASKED, answer(Opaque("openai-responses", "m", "{}")), ANSWERED)
    assert portable(history, "openai-responses", "m") is history


def test_reasoning_that_is_only_opaque_data_of_another_model_goes() -> None:
    hidden = Assistant((Reasoning("", Opaque("anthropic", "m", "{}")), Text("So.")), "end", "anthropic/m")
    assert portable((ASKED, hidden), "google", "m") == (ASKED, Assistant((Text("So."),), "end", "anthropic/m"))


@pytest.mark.parametrize("made", [None, Opaque("google", "m", "{}"), Opaque("anthropic", "m", "{}")])
def test_an_answer_of_nothing_but_reasoning_goes_back_to_nobody(made: Opaque | None) -> None:
    thought = Assistant((Reasoning("I think.", made),), "end", "google/m")
    reminded = User((Text("Go on."),))
    assert portable((ASKED, thought, reminded), "google", "m") == (ASKED, reminded)
