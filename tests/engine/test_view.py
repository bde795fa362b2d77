from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.attempt.view import View
from ferrule.context.pairing import repair
from ferrule.context.portable import portable
from ferrule.providers.base import Endpoint
from ferrule.types.messages import Assistant, Message, Opaque, Results, Text, ToolCall, ToolResult, User
from tests.context.test_pairing import MESSAGE

ENDPOINT = Endpoint("openai", "m", "http://127.0.0.1:1")
FOREIGN = Assistant((Text("said", Opaque("google", "other", "{}")),), "end", "google/other")


def whole(messages: list[Message]) -> tuple[tuple[Message, ...], object]:
    view, repairs = repair(portable(tuple(messages), ENDPOINT.dialect, ENDPOINT.model))
    return tuple(view), repairs


@given(st.lists(st.one_of(MESSAGE, st.just(FOREIGN)), max_size=12), st.data())
@settings(max_examples=300)
def test_a_conversation_looked_at_while_it_grows_gives_what_looking_at_all_of_it_gives(history, data):
    view, grown = View(), []
    for message in history:
        grown.append(message)
        if data.draw(st.booleans()):
            assert view.of(grown, frozenset(), ENDPOINT) == whole(grown)
    if grown:
        place = data.draw(st.integers(0, len(grown) - 1))
        grown[place] = data.draw(MESSAGE)
        assert view.of(grown, frozenset(), ENDPOINT) == whole(grown)
        del grown[place:]
        assert view.of(grown, frozenset(), ENDPOINT) == whole(grown)


def test_turns_that_need_no_change_are_sent_as_they_are():
    view, grown = View(), [User((Text("go"),))]
    for number in range(50):
        call = ToolCall(f"c{number}", "read_file", "{}")
        grown += [Assistant((call,), "calls", "openai/m"), Results((ToolResult(call.id, call.name, "ok", (Text("x"),)),))]
        messages, repairs = view.of(grown, frozenset(), ENDPOINT)
        assert (messages, bool(repairs)) == (tuple(grown), False)
