from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.attempt.filters.catalog import FILTERS
from ferrule.providers.base import Endpoint
from ferrule.stream.chain import Chain
from ferrule.stream.filter import Sending
from ferrule.types.messages import Assistant, Message, Opaque, Results, Text, ToolCall, ToolResult, User
from tests.context.test_pairing import MESSAGE

ENDPOINT = Endpoint("openai", "m", "http://127.0.0.1:1")
FOREIGN = Assistant((Text("said", Opaque("google", "other", "{}")),), "end", "google/other")


def whole(messages: list[Message]) -> tuple[Message, ...]:
    return Chain(FILTERS, ENDPOINT).messages(messages, Sending())[0]


@given(st.lists(st.one_of(MESSAGE, st.just(FOREIGN)), max_size=12), st.data())
@settings(max_examples=300)
def test_a_conversation_looked_at_while_it_grows_gives_what_looking_at_all_of_it_gives(history, data):
    chain, grown = Chain(FILTERS, ENDPOINT), []
    for message in history:
        grown.append(message)
        if data.draw(st.booleans()):
            assert chain.messages(grown, Sending())[0] == whole(grown)
    if grown:
        place = data.draw(st.integers(0, len(grown) - 1))
        grown[place] = data.draw(MESSAGE)
        assert chain.messages(grown, Sending())[0] == whole(grown)
        del grown[place:]
        assert chain.messages(grown, Sending())[0] == whole(grown)


def test_turns_that_need_no_change_are_sent_as_they_are():
    chain, grown = Chain(FILTERS, ENDPOINT), [User((Text("go"),))]
    for number in range(50):
        call = ToolCall(f"c{number}", "read_file", "{}")
        grown += [Assistant((call,), "calls", "openai/m"), Results((ToolResult(call.id, call.name, "ok", (Text("x"),)),))]
        messages, reports = chain.messages(grown, Sending())
        assert (messages, reports) == (tuple(grown), ())
        assert all(sent is said for sent, said in zip(messages, grown, strict=True))


def test_a_repair_is_told_once_and_what_was_made_for_it_stays_the_same_object():
    chain = Chain(FILTERS, ENDPOINT)
    grown: list[Message] = [
        User((Text("go"),)),
        Assistant((ToolCall("a", "read_file", "{}"),), "calls", "openai/m"),
        User((Text("hm"),)),
    ]
    first, reports = chain.messages(grown, Sending())
    assert [(report.by, report.what) for report in reports] == [("pairing", ("added a result for call a",))]
    grown += [Assistant((Text("so"),), "end", "openai/m"), User((Text("and"),))]
    second, reports = chain.messages(grown, Sending())
    assert reports == ()
    assert all(one is other for one, other in zip(first, second[: len(first)], strict=True))
